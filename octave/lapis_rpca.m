function [low_rank, result, info] = lapis_rpca (X, varargin)
  % [low_rank, result, info] = lapis_rpca (X, NAME, VALUE, ...)
  %
  % Robust PCA [RR16]: X (n x d) apart into a part of low rank and sparse errors.
  % A row is a sample; NaN is not observed.
  %
  % low_rank  n x d: X without its errors, filled where it was not observed
  % info      status, iterations, objective, dual, gap, seconds, ...
  % result    has these fields:
  %  low_rank            n x d: D, the clean part, also where nothing was
  %                      observed
  %  sparse              n x d: X - low_rank where X was observed, 0 elsewhere
  %  filled              n x d, with --refill: X, with what was covered taken
  %                      from low_rank
  %  dual                n x d, with --certificate: the multiplier that proves
  %                      the gap
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit rpca --help", with _ for -.  'model', FILE
  % writes a model for lapis_predict.
  lapis_needs (nargin, 1, 'lapis_rpca (X, ...)');
  data = struct ('X', lapis_full (X, 'X'));
  [result, info] = lapis_mex ('solve', 'rpca', data, lapis_struct (varargin));
  low_rank = result.low_rank;
end
