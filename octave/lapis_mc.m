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
  % result  scores (n x K), low_rank and sparse (n x d), history, ...
  % info    status, iterations, objective, dual, gap, seconds, ...
  %
  % Settings are those of "lapis fit mc --help", with _ for -, say
  %   lapis_mc (X, Y, 'variant', 'pos', 'mu_rel', 0.01)
  % and 'model', FILE writes a model for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_mc (X, Y, ...), Y may be []');
  X = lapis_features (X);
  data = struct ('X', X, 'Y', lapis_full (Y, 'Y', rows (X)));
  [labels, result, info] = lapis_labels ('mc', data, varargin);
end
