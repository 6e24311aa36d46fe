function [weights, result, info] = lapis_rr (X, Y, varargin)
  % [weights, result, info] = lapis_rr (X, Y, NAME, VALUE, ...)
  %
  % Robust regression [RR16]: regresses Y (n x K) on features X (n x d) that
  % may be wrong or missing (NaN) in part.  A row is a sample.
  %
  % weights  K x (d + 1), bias last: Y is near [D, 1] * weights'
  % info     status, iterations, objective, residual, seconds, ...
  % result   has these fields:
  %  scores              n x c: T [D; 1], the targets of all samples
  %  weights             c x (d + 1): T, the offset last
  %  low_rank            n x d: D, the clean part of the samples
  %  sparse              n x d: X - low_rank where X was observed, 0 elsewhere
  %  filled              n x d, with --refill: X, with what was covered taken
  %                      from low_rank
  %  tried               candidates x 5, where lambda and gamma are left open:
  %                      lambda, gamma (0: from the data), R^2 on hidden
  %                      samples, 1 where robust PCA comes first, the standard
  %                      error
  %  scale               2 x d, where features were brought to one size: what
  %                      was taken off, and what the rest was divided by
  %  target_scale        2 x c, where targets were brought to one size: the
  %                      same of the targets
  %  dual                n x d, with --certificate and --fix-weights: the
  %                      multiplier that proves the gap
  %  used                n, where Y has gaps: 1 for samples with all their
  %                      targets, which are learnt from, else 0
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit rr --help", with _ for -; 'weight' and
  % 'fix_weights' take matrices.  'group', G (n x 1) says which rows are of one
  % person or image: folds keep those whole.  'model', FILE writes a model for
  % lapis_predict.
  lapis_needs (nargin, 2, 'lapis_rr (X, Y, ...)');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_members (data, varargin);
  [result, info] = lapis_mex ('solve', 'rr', data, lapis_struct (varargin));
  weights = result.weights;
end
