function [scores, result, info] = lapis_svmplus (X, Y, P, varargin)
  % [scores, result, info] = lapis_svmplus (X, Y, P, NAME, VALUE, ...)
  %
  % SVM+ [SVMP16]: a classifier of X (n x d) that learns from privileged
  % features P (n x p; [] for none), which exist at training time only.  A row
  % is a sample; Y (n x 1) holds the classes.
  %
  % scores  n x 1 or n x K: of the training samples
  % result  labels, weights (linear kernel: K x (d + 1), bias last), ...
  % info    status, iterations, objective, dual, gap, seconds, ...
  %
  % Settings are those of "lapis fit svmplus --help", with _ for -.  'group', G
  % (n x 1) says which rows are of one person or image: folds keep those whole.
  % 'model', FILE writes a model; lapis_predict (FILE, X) answers by it.
  lapis_needs (nargin, 3, 'lapis_svmplus (X, Y, P, ...), P may be []');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)), ...
                 'P', lapis_full (P, 'P', rows (X)));
  [data, varargin] = lapis_groups (data, varargin);
  [result, info] = lapis_mex ('solve', 'svmplus', data, ...
                              lapis_struct (varargin));
  scores = result.scores;
end
