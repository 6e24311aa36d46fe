function A = lapis_full (A, name, rows)
  % lapis_full (A, NAME, ROWS): a full real matrix of doubles, which the gateway
  % takes; NAME is what the caller calls it, ROWS how many it must have.
  lapis_check (A, name);
  A = full (double (A));
  if (nargin > 2 && ~ isempty (A) && size (A, 1) ~= rows)
    if (isvector (A) && numel (A) == rows)
      error ('lapis:shape', '%s is a row; a column, %s'', is wanted', name, name);
    end
    error ('lapis:shape', '%s has %d rows, X has %d; a row a sample is wanted in both', ...
           name, size (A, 1), rows);
  end
end
