function lapis_check (A, name)
  % lapis_check (A, NAME): A is a real matrix, or an error says what it is.
  if (~ (isnumeric (A) || islogical (A)))
    error ('lapis:type', '%s is of class %s; a real matrix, a row a sample, is wanted', ...
           name, class (A));
  end
  if (~ isreal (A) || ndims (A) > 2)
    error ('lapis:type', '%s is complex or has more than two dimensions; a real matrix, a row a sample, is wanted', ...
           name);
  end
end
