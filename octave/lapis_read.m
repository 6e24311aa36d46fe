function arrays = lapis_read (file)
  % arrays = lapis_read (FILE): the arrays of a .npz, .npy, .mat or .h5 file,
  % a row a sample, as a struct; what the command has written, for one.
  lapis_needs (nargin, 1, 'lapis_read (FILE)');
  arrays = lapis_mex ('read', file);
end
