function [labels, result, info] = lapis_predict (file, X, varargin)
  % [labels, result, info] = lapis_predict (FILE, X, NAME, VALUE, ...)
  %
  % Answers for new samples X (n x d) by a model file that 'model', FILE of
  % lapis_mc, lapis_rr and lapis_svmplus has written, or the command, or
  % Python.  A sparse X stays sparse, and what it leaves out means what it meant
  % in the fit (lapis_mc, 'absent').  labels is empty where the method has none;
  % result holds scores.
  lapis_needs (nargin, 2, 'lapis_predict (FILE, X, ...)');
  data = struct ('X', lapis_features (X));
  [result, info] = lapis_mex ('predict', file, data, ...
                              lapis_struct (varargin));
  labels = [];
  if (isfield (result, 'labels'))
    labels = result.labels;
  end
end
