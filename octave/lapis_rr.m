function [weights, result, info] = lapis_rr (X, Y, varargin)
  % [weights, result, info] = lapis_rr (X, Y, NAME, VALUE, ...)
  %
  % Robust regression [RR16]: regresses Y (n x K) on features X (n x d) that
  % may be wrong or missing (NaN) in part.  A row is a sample.
  %
  % weights  K x (d + 1), bias last: Y is near [D, 1] * weights'
  % result   low_rank (n x d: D), sparse (n x d: what was removed), scores, ...
  % info     status, iterations, objective, residual, seconds, ...
  %
  % Settings are those of "lapis fit rr --help", with _ for -; 'weight' and
  % 'fix_weights' take matrices.  'group', G (n x 1) says which rows are of one
  % person or image: folds keep those whole.  'model', FILE writes a model for
  % lapis_predict.
  lapis_needs (nargin, 2, 'lapis_rr (X, Y, ...)');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_groups (data, varargin);
  [result, info] = lapis_mex ('solve', 'rr', data, lapis_struct (varargin));
  weights = result.weights;
end
