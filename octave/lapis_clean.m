function [low_rank, result, info] = lapis_clean (X, dictionary, varargin)
  % [low_rank, result, info] = lapis_clean (X, dictionary, NAME, VALUE, ...)
  %
  % Cleaning by clean samples [RR16]: removes from X (n x d) what does not fit the
  % rows of dictionary (m x d), a sample at a time.  NaN is not observed.
  %
  % low_rank  n x d: the samples without their errors
  % result    sparse (n x d), coefficients (n x m), weight, history, ...
  % info      status, iterations, objective, dual, gap, seconds, ...
  %
  % Settings are those of "lapis fit clean --help", with _ for -.  'model', FILE
  % writes a model for lapis_predict.
  lapis_needs (nargin, 2, 'lapis_clean (X, dictionary, ...)');
  settings = lapis_struct (varargin);
  settings.dictionary = lapis_full (dictionary, 'dictionary');
  if (columns (dictionary) ~= columns (X))
    error ('lapis:shape', 'dictionary has %d columns, X has %d', ...
           columns (dictionary), columns (X));
  end
  data = struct ('X', lapis_full (X, 'X'));
  [result, info] = lapis_mex ('solve', 'clean', data, settings);
  low_rank = result.low_rank;
end
