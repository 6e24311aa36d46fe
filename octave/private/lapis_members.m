function [data, pairs] = lapis_members (data, pairs)
  % [data, pairs] = lapis_members (DATA, {NAME, VALUE, ...}): 'group' and
  % 'sample_weight' among the pairs become members of the data, whose each row
  % of X is and how many it counts.
  said = {'group', 'sample_weight'};
  member = {'group', 'weight'};
  for k = 1:2
    names = pairs(1:2:end);
    at = 2 * find (cellfun (@ischar, names) & strcmp (names, said{k})) - 1;
    if (isempty (at) || at(end) == numel (pairs))
      continue
    end
    data.(member{k}) = lapis_full (pairs{at(end) + 1}(:), said{k}, ...
                                   size (data.X, 1));
    pairs([at, at + 1]) = [];
  end
end
