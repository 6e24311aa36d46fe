function [low_rank, result, info] = lapis_clean (X, dictionary, varargin)
  % [low_rank, result, info] = lapis_clean (X, dictionary, NAME, VALUE, ...)
  %
  % Cleaning by clean samples [RR16]: removes from X (n x d) what does not fit the
  % rows of dictionary (m x d), a sample at a time.  NaN is not observed.
  %
  % low_rank  n x d: the samples without their errors
  % info      status, iterations, objective, dual, gap, seconds, ...
  % result    has these fields:
  %  low_rank            n x d: D Z, the cleaned samples
  %  sparse              n x d: X - low_rank where X was observed, 0 elsewhere
  %  coefficients        n x m: Z, of the m samples of the dictionary
  %  weight              1: w, the weight of the errors
  %  filled              n x d, with --refill: X, with what was covered taken
  %                      from low_rank
  %  dual                n x d, with --certificate: the multiplier that proves
  %                      the gap
  %  history             checks x columns: the course of the solve
  %  history_columns     columns: names of the columns of history
  %  notes               notes x 3, where something was remarked: of data and
  %                      answer: note or warning, a name, a sentence
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
