function A = lapis_full (A)
  % lapis_full (A): a full real matrix of doubles, which the gateway takes.
  A = full (double (A));
end
