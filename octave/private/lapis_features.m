function A = lapis_features (A)
  % lapis_features (X): doubles, sparse where they were sparse.
  lapis_check (A, 'X');
  A = double (A);
end
