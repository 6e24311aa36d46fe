function [labels, result, info] = lapis_auto (X, Y, varargin)
  % [labels, result, info] = lapis_auto (X, Y, NAME, VALUE, ...)
  %
  % Whichever method predicts hidden labels best: completion, logistic regression
  % or trees, or the mean of those that are near each other; of numbers ('targets',
  % 'numbers') robust regression, ridge regression or trees.  A row is a sample;
  % NaN is unknown, in X (n x d) and in Y (n x 1, or n x K of several labels).
  % Without Y ([]) the gaps of X are filled (completed), and labels is empty.
  %
  % labels  n x 1 or n x K: every label, the known ones included; of numbers what
  %         is predicted of all
  % info    status, seconds, ...
  % result  has these fields:
  %  scores              n x K, where there are targets: of the one that
  %                      answers; of a mean its probabilities; of numbers what
  %                      is predicted
  %  probabilities       n x K, where labels were hidden, and are not numbers:
  %                      of yes, or of each class
  %  labels              n x c, where targets are classes: what is decided by
  %                      the scores, as Y is written
  %  classes             K, where a label has several classes: the value of Y
  %                      that each column of scores speaks for
  %  low_rank            n x d, where mc, or rr, has a part in the answer:
  %                      features after the map, repaired and completed
  %  sparse              n x d, where low_rank is there: X - low_rank where X
  %                      was observed, 0 elsewhere
  %  class_features      K x d, with --class-features, where low_rank is
  %                      there: the features of a sample of only one class,
  %                      for each class
  %  instance_scores     n, with --bags, where misvm took part: of each
  %                      instance, by misvm: above 0 speaks for the larger
  %                      value
  %  instance_labels     n, with --bags, where misvm took part: what that
  %                      decides
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
  %  classes_kept        n x values, with --coverage, where labels were
  %                      hidden: 1 for classes in the set of a sample, else 0;
  %                      of several labels no and yes of each
  %  kept_values         values, with --coverage, where labels were hidden:
  %                      the value of Y of each column of classes_kept
  %  set_low             n x K, with --coverage, where labels were hidden: of
  %                      numbers the lower end of the interval
  %  set_high            n x K, with --coverage, where labels were hidden: of
  %                      numbers its upper end
  %  ask_index           asked, with --ask, where some samples have no label:
  %                      samples, from 0, whose labels would help most
  %  ask_margin          asked, where ask_index is there: how sure their
  %                      answers are, the least first: probability of the best
  %                      class less that of the next, of several labels the
  %                      mean of those not known
  %  importance          d x 3, with --importance, where labels were hidden:
  %                      how much more log-loss hidden labels have once the
  %                      values of the feature are shuffled, or R^2 that
  %                      hidden numbers lose, and its standard error; of names
  %                      that became features of 0 and 1, all of them
  %                      together; and whether the answer, number or
  %                      probability of yes, rises with the feature, up to 1,
  %                      or falls, down to -1
  %  outliers            outliers x 2, where targets are numbers, some far
  %                      from what all others say: their samples and targets,
  %                      from 0, the farthest first
  %  doubted             doubted x 3, with --doubted omit, where some known
  %                      labels are likelier wrong than right: known labels
  %                      that are left out, the most doubtful first: sample
  %                      and class that it rather is (of two classes, and of
  %                      several labels, the label), from 0, and the
  %                      probability that it is wrong
  %  completed           n x d, where gaps are filled: X
  %  fill_ways           ways, where gaps are filled: how
  %  fill_weights        d x ways, where gaps are filled: their weights in the
  %                      mean
  %  fill_error          d, where gaps are filled: root mean squared error of
  %                      hidden cells, in deviations; 1 where none was hidden
  %  history             checks x columns, where who answers, or its first
  %                      part, takes steps: the course of the solve
  %  history_columns     columns, where who answers, or its first part, takes
  %                      steps: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit auto --help", with _ for -.  'group', G (n x
  % 1) keeps rows of one group together while labels are hidden, 'sample_weight',
  % W (n x 1) multiplies the losses of labels, and 'model', FILE writes a model
  % for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_auto (X, Y, ...), Y may be []');
  X = lapis_features (X);
  data = struct ('X', X, 'Y', lapis_full (Y, 'Y', rows (X)));
  [data, varargin] = lapis_members (data, varargin);
  [labels, result, info] = lapis_labels ('auto', data, varargin);
end
