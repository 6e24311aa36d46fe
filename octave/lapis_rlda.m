function [labels, result, info] = lapis_rlda (X, Y, varargin)
  % [labels, result, info] = lapis_rlda (X, Y, NAME, VALUE, ...)
  %
  % Robust discriminant analysis [RR16]: classes Y (n x 1) of features X (n x d)
  % that may be wrong or missing (NaN) in part.  A row is a sample; where Y is NaN
  % the class is asked.
  %
  % labels  n x 1: every class, the given ones included
  % info    status, iterations, objective, residual, seconds, ...
  % result  has these fields:
  %  scores              n x K: T [D; 1]; of two classes the second's less the
  %                      first's
  %  labels              n x c: what is decided by the scores, as Y is written
  %  classes             K, where a label has several classes: the value of Y
  %                      that each column of scores speaks for
  %  weights             classes x (d + 1): T, the offset last
  %  low_rank            n x d: D, the clean part of the samples
  %  sparse              n x d: X - low_rank where X was observed, 0 elsewhere
  %  filled              n x d, with --refill: X, with what was covered taken
  %                      from low_rank
  %  tried               candidates x 6, where lambda and gamma are left open:
  %                      lambda, gamma (0: from the data), mean share right of
  %                      each class on hidden samples (NaN: not asked), 1
  %                      where robust PCA comes first, the standard error, 1
  %                      where samples were brought to length 1
  %  scale               2 x d, where features were brought to one size: what
  %                      was taken off, and what the rest was divided by
  %  used                n, where Y has gaps: 1 for samples with all their
  %                      targets, which are learnt from, else 0
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit rlda --help", with _ for -.  'group', G (n x
  % 1) says which rows are of one person or image: folds keep those whole.
  % 'model', FILE writes a model for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_rlda (X, Y, ...)');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_members (data, varargin);
  [labels, result, info] = lapis_labels ('rlda', data, varargin);
end
