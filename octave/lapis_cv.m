function [best, points] = lapis_cv (method, data, varargin)
  % [best, points] = lapis_cv (METHOD, DATA, NAME, VALUE, ...)
  %
  % Chooses settings of a method ('mc', 'svmplus', ...) by cross-validation, as
  % "lapis cv" does, with the same folds and numbers.  DATA is a struct with X
  % and what the method takes: Y, P, group, weight, xy; a row is a sample.
  %
  % A VALUE that is a row of numbers, or a cell of texts, is tried entry by entry;
  % any other stays as it is.  Beside settings there are 'folds' (5), 'metric'
  % ('auroc'), 'by_group', 'pooled', 'map', 'map_priv', 'seed' and 'threads'.
  %
  % best    the values that did best, by name, with mean and deviation
  % points  all that was tried: a struct array of the same shape
  %
  %   best = lapis_cv ('svmplus', struct ('X', X, 'Y', y), 'C', [0.1 1 10])
  lapis_needs (nargin, 2, 'lapis_cv (METHOD, DATA, ...)');
  if (~ isstruct (data) || ~ isfield (data, 'X'))
    error ('lapis:usage', 'DATA is a struct with X, Y, ...: struct (''X'', X, ''Y'', Y)');
  end
  for name = fieldnames (data)'
    data.(name{1}) = lapis_full (data.(name{1}), name{1}, rows (data.X));
  end
  [settings, options, names] = apart (lapis_struct (varargin));
  found = lapis_mex ('cv', method, data, settings, options);
  points = struct ([]);
  for i = 1:numel (found.mean)
    for k = 1:numel (names)
      points(i).(names{k}) = number_of (found.value{i, k});
    end
    points(i).mean = found.mean(i);
    points(i).deviation = found.deviation(i);
  end
  if (found.best == 0)
    error ('lapis:failed', 'cv: no point could be scored; see the warnings');
  end
  best = points(found.best);
end

function [settings, options, names] = apart (given)
  % What is fixed, what says how to judge, and what is tried.
  options = struct ();
  options.grid = {};
  settings = struct ();
  names = {};
  for name = fieldnames (given)'
    value = given.(name{1});
    if (any (strcmp (name{1}, {'folds', 'metric', 'by_group', 'pooled', 'map', ...
                               'map_priv'})))
      options.(name{1}) = value;
    elseif (iscellstr (value) || (isnumeric (value) && numel (value) > 1))
      names{end + 1} = name{1};
      options.grid{end + 1} = [strrep(name{1}, '_', '-') '=' texts_of(value)];
    else
      settings.(name{1}) = value;
    end
  end
end

function text = texts_of (value)
  if (isnumeric (value))
    value = arrayfun (@(v) sprintf ('%.17g', v), value(:)', 'UniformOutput', false);
  end
  text = strjoin (value, ',');
end

function value = number_of (text)
  value = str2double (text);
  if (isnan (value))
    value = text;
  end
end
