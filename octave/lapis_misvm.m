function [labels, result, info] = lapis_misvm (X, Y, group, varargin)
  % [labels, result, info] = lapis_misvm (X, Y, group, NAME, VALUE, ...)
  %
  % Multiple-instance SVM+ [SVMP16]: group (n x 1) says which bag a row of X (n x d)
  % is of, Y (n x 1) holds the label of its bag, -1 or 1; a bag is positive where
  % one of its rows is.  'P', MATRIX (n x p) gives privileged features.
  %
  % labels  n x 1: what the rows themselves were found to be
  % result  scores, bags, bag_scores, weights (linear kernel), ...
  % info    status, iterations, objective, seconds, ...
  %
  % Settings are those of "lapis fit misvm --help", with _ for -.  'model', FILE
  % writes a model for lapis_predict.
  lapis_needs (nargin, 3, 'lapis_misvm (X, Y, group, ...)');
  settings = lapis_struct (varargin);
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)), ...
                 'group', lapis_full (group, 'group', rows (X)));
  if (isfield (settings, 'P'))
    data.P = lapis_full (settings.P, 'P', rows (X));
    settings = rmfield (settings, 'P');
  end
  [result, info] = lapis_mex ('solve', 'misvm', data, settings);
  labels = result.labels;
end
