function [data, pairs] = lapis_groups (data, pairs)
  % [data, pairs] = lapis_groups (DATA, {NAME, VALUE, ...}): 'group' among the
  % pairs becomes a member of the data, whose each row of X is.
  names = pairs(1:2:end);
  at = 2 * find (cellfun (@ischar, names) & strcmp (names, 'group')) - 1;
  if (isempty (at) || at(end) == numel (pairs))
    return
  end
  data.group = lapis_full (pairs{at(end) + 1}(:), 'group', size (data.X, 1));
  pairs([at, at + 1]) = [];
end
