function [labels, result, info] = lapis_labels (method, data, pairs)
  % What the methods share that answer with labels.
  [result, info] = lapis_mex ('solve', method, data, lapis_struct (pairs));
  labels = [];
  if (isfield (result, 'labels'))
    labels = result.labels;
  elseif (isfield (result, 'scores')) % of numbers
    labels = result.scores;
  end
end
