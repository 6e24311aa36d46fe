function A = lapis_features (A)
  % lapis_features (A): doubles, sparse where they were sparse.
  A = double (A);
end
