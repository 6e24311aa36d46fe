function [scores, result, info] = lapis_svmplus (X, Y, P, varargin)
  % [scores, result, info] = lapis_svmplus (X, Y, P, NAME, VALUE, ...)
  %
  % SVM+ [SVMP16]: a classifier of X (n x d) that learns from privileged
  % features P (n x p; [] for none), which exist at training time only.  A row
  % is a sample; Y (n x 1) holds the classes.
  %
  % scores  n x 1 or n x K: of the training samples
  % info    status, iterations, objective, dual, gap, seconds, ...
  % result  has these fields:
  %  scores              n x K: f(x), the decision: above 0 says the larger
  %                      value, or yes
  %  labels              n x c: what is decided by the scores, as Y is written
  %  classes             K, where a label has several classes: the value of Y
  %                      that each column of scores speaks for
  %  probabilities       n x K, with --probability: of each column of scores,
  %                      fitted to held-out samples; those of classes add up
  %                      to 1
  %  weights             K x (d + 1), with --kernel linear: w, the offset last
  %  alpha               n x K, with --certificate: the multipliers of the
  %                      margins
  %  zeta                n x K, with --certificate, where the formulation is
  %                      not l2: the multipliers of v'z >= 0
  %  weights_priv        K x (p + 1), with --certificate and P, where P is
  %                      used, kernels are linear and the formulation is not
  %                      l2: v of the slack v'z, the offset last
  %  scale               2 x d, with --certificate, where X was scaled: x' =
  %                      (x - row 1) row 2
  %  scale_priv          2 x p, with --certificate and P, where P is used and
  %                      was scaled: the same of P
  %  used                n, where Y has gaps: 1 for samples with all their
  %                      targets, which are learnt from, else 0
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit svmplus --help", with _ for -.  'group', G
  % (n x 1) says which rows are of one person or image: folds keep those whole;
  % 'sample_weight', W (n x 1) how many samples each counts as.
  % 'model', FILE writes a model; lapis_predict (FILE, X) answers by it.
  lapis_needs (nargin, 3, 'lapis_svmplus (X, Y, P, ...), P may be []');
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)), ...
                 'P', lapis_full (P, 'P', rows (X)));
  [data, varargin] = lapis_members (data, varargin);
  [result, info] = lapis_mex ('solve', 'svmplus', data, ...
                              lapis_struct (varargin));
  scores = result.scores;
end
