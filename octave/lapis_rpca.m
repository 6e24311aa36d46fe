function [low_rank, result, info] = lapis_rpca (X, varargin)
  % [low_rank, result, info] = lapis_rpca (X, NAME, VALUE, ...)
  %
  % Robust PCA [RR16]: X (n x d) apart into a part of low rank and sparse errors.
  % A row is a sample; NaN is not observed.
  %
  % low_rank  n x d: X without its errors, filled where it was not observed
  % result    sparse (n x d: what was removed), low_rank, history, ...
  % info      status, iterations, objective, dual, gap, seconds, ...
  %
  % Settings are those of "lapis fit rpca --help", with _ for -.  'model', FILE
  % writes a model for lapis_predict.
  lapis_needs (nargin, 1, 'lapis_rpca (X, ...)');
  data = struct ('X', lapis_full (X, 'X'));
  [result, info] = lapis_mex ('solve', 'rpca', data, lapis_struct (varargin));
  low_rank = result.low_rank;
end
