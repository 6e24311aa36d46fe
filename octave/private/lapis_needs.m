function lapis_needs (given, least, usage)
  % lapis_needs (NARGIN, LEAST, USAGE): too few arguments are an error that shows
  % how the function is called.
  if (given < least)
    error ('lapis:usage', 'too few arguments: %s', usage);
  end
end
