function [labels, result, info] = lapis_misvm (X, Y, group, varargin)
  % [labels, result, info] = lapis_misvm (X, Y, group, NAME, VALUE, ...)
  %
  % Multiple-instance SVM+ [SVMP16]: group (n x 1) says which bag a row of X (n x d)
  % is of, Y (n x 1) holds the label of its bag, -1 or 1; a bag is positive where
  % one of its rows is.  'P', MATRIX (n x p) gives privileged features.
  %
  % labels  n x 1: what the rows themselves were found to be
  % info    status, iterations, objective, seconds, ...
  % result  has these fields:
  %  scores              n: f of each instance
  %  labels              n: of each instance; a bag is positive where one of
  %                      its instances is
  %  bags                B: the group of each of the B bags
  %  bag_scores          B: the largest f in it
  %  bag_labels          B: whether that is above the threshold, or 0
  %  used                n, where Y has gaps: 1 for samples with all their
  %                      targets, which are learnt from, else 0
  %  threshold           1, with --threshold auto: of bag_scores, found on
  %                      held-out bags
  %  weights             1 x (d + 1), with --kernel linear: w, the offset last
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
  %
  % Settings are those of "lapis fit misvm --help", with _ for -.  'model', FILE
  % writes a model for lapis_predict.
  lapis_needs (nargin, 3, 'lapis_misvm (X, Y, group, ...)');
  settings = lapis_struct (varargin);
  data = struct ('X', lapis_full (X, 'X'), 'Y', lapis_full (Y, 'Y', rows (X)), ...
                 'group', lapis_full (group, 'group', rows (X)));
  if (isfield (settings, 'P'))
    data.P = lapis_full (settings.P, 'P', rows (X));
    settings = rmfield (settings, 'P');
  end
  [result, info] = lapis_mex ('solve', 'misvm', data, settings);
  labels = result.labels;
end
