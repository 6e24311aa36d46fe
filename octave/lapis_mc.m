function [labels, result, info] = lapis_mc (X, Y, varargin)
  % [labels, result, info] = lapis_mc (X, Y, NAME, VALUE, ...)
  %
  % Matrix completion [MC11] [MC15]: fills in unknown labels and repairs the
  % features of a whole set of samples at once.  A row is a sample; NaN is
  % unknown, in X (n x d) and in Y (n x 1, or n x K of several labels).  Without
  % Y ([]) the features alone are completed, and labels is empty.
  %
  % A sparse X stays sparse.  What it leaves out is 0, or unknown where that is
  % said by 'absent', 'missing'; a 0 that was seen cannot stand in it, so write
  % such data as a full X with NaN.
  %
  % labels  n x 1 or n x K: every label, the known ones included
  % info    status, iterations, objective, dual, gap, seconds, ...
  % result  has these fields:
  %  scores              n x K, with Y: the labels of Z: above 0 says yes of
  %                      labels -1 and 1, above 0.5 of 0 and 1
  %  labels              n x c, with Y: what is decided by the scores, as Y is
  %                      written
  %  classes             K, with Y, where a label has several classes: the
  %                      value of Y that each column of scores speaks for
  %  probabilities       n x K, with Y, where settings were chosen: of yes, or
  %                      of each class
  %  low_rank            n x d, where it takes at most 1 GB, or dense is set:
  %                      the features of Z: X repaired and completed
  %  sparse              n x d, where low_rank is there: X - low_rank where X
  %                      was observed, 0 elsewhere
  %  class_features      K x d, with --class-features: the features of a
  %                      sample of only one class, for each class
  %  weights             K x (d + 1), with --solver bordered: the score of a
  %                      sample without a label is w'x + offset; the offset
  %                      last
  %  factors             n x r, with --solver factored: low_rank = factors
  %                      feature_factors', r the rank
  %  feature_factors     d x r, with --solver factored: the other factor of
  %                      low_rank
  %  label_factors       K x r, with --solver factored and Y: scores = factors
  %                      label_factors'
  %  singular_values     r, with --solver factored: of Z
  %  gap                 1, with --solver factored: relative, as it was proved
  %  proof               1, with --solver factored: how: random or exact
  %  dual_norm           1, with --solver bordered or factored or admm: |G|_2
  %                      / mu of the multiplier G, before it was scaled to at
  %                      most 1
  %  dual                n x (K + d + 1), with --certificate: the multiplier G
  %                      that proves the gap; those of class_features follow
  %                      the samples
  %  candidates          candidates x 2, where settings were chosen: method
  %                      and settings of what was compared, best first
  %  candidate_figures   candidates x 10, where candidates is there: log-loss
  %                      of hidden labels, its standard error, AUROC,
  %                      accuracy, from and to of the 95 % interval of that of
  %                      new samples, log-loss less the first one's, its
  %                      error; 1 where it has clearly learnt; accuracy of
  %                      always the commonest answer; of numbers squared
  %                      errors relative to the mean's in place of log-loss,
  %                      R^2 in that of AUROC
  %  chosen              1, where candidates is there: the row of the one that
  %                      answers, from 0
  %  choice              1, where candidates is there: the one that answers,
  %                      in words that candidates reads
  %  hidden              5, where candidates is there: labels hidden, folds,
  %                      what was hidden together (1 rows, 2 groups, 3 cells),
  %                      log-loss of guessing, candidates added at an end
  %  held_out            n x K, with --held-out, where labels were hidden:
  %                      probabilities of known labels, or known numbers, as
  %                      predicted while they were hidden; NaN where none is
  %                      known
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Where neither mu nor mu_rel is given, hidden labels choose the settings, as
  % lapis_auto does, and 'group', G (n x 1) keeps rows of one group together.
  % Settings are those of "lapis fit mc --help", with _ for -, say
  %   lapis_mc (X, Y, 'variant', 'pos', 'mu_rel', 0.01)
  % 'sample_weight', W (n x 1) multiplies the losses of labels, and 'model', FILE writes a model for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_mc (X, Y, ...), Y may be []');
  X = lapis_features (X);
  data = struct ('X', X, 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_members (data, varargin);
  [labels, result, info] = lapis_labels ('mc', data, varargin);
end
