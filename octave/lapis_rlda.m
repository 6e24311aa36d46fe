function [labels, result, info] = lapis_rlda (X, Y, varargin)
  % [labels, result, info] = lapis_rlda (X, Y, NAME, VALUE, ...)
  %
  % Robust discriminant analysis [RR16]: classes Y (n x 1) of features X (n x d)
  % that may be wrong or missing (NaN) in part.  A row is a sample; where Y is NaN
  % the class is asked.
  %
  % labels  n x 1: every class, the given ones included
  % result  scores, weights (K x (d + 1), bias last), low_rank, sparse, ...
  % info    status, iterations, objective, residual, seconds, ...
  %
  % Settings are those of "lapis fit rlda --help", with _ for -.  'group', G (n x
  % 1) says which rows are of one person or image: folds keep those whole.
  % 'model', FILE writes a model for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_rlda (X, Y, ...)');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_groups (data, varargin);
  [labels, result, info] = lapis_labels ('rlda', data, varargin);
end
