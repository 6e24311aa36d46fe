function s = lapis_struct (pairs)
  % lapis_struct ({NAME, VALUE, ...}): settings as a struct.
  if (mod (numel (pairs), 2) ~= 0 || ~ iscellstr (pairs(1:2:end)))
    error ('lapis:usage', 'settings are pairs of a name and a value');
  end
  s = struct ();
  for k = 1:2:numel (pairs)
    s.(strrep (pairs{k}, '-', '_')) = pairs{k + 1};
  end
end
