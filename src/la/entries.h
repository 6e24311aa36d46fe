/* entries.h - the entries of the table (backend.h) that compute, once for all
 * who stand before or behind another machine: strict.c, device.c,
 * tests/la/through.h.
 *
 * Who includes this, any number of times, has defined LA_ENTRY(name, (its
 * parameters after la *h), (the arguments of a call on another handle h), (the
 * arrays among them, NULL too)) and, where it uses the arguments, what stands
 * there for an array, ON(A), a penalty, PHI(phi), and the record of l1_alm,
 * ALM(p). */
LA_ENTRY(gemm,
         (la_trans ta, la_trans tb, double alpha, const la_array *A,
          const la_array *B, double beta, la_array *C),
         (ta, tb, alpha, ON(A), ON(B), beta, ON(C)), (A, B, C))
LA_ENTRY(gemv,
         (la_trans t, double alpha, const la_array *A, const la_array *x,
          double beta, la_array *y),
         (t, alpha, ON(A), ON(x), beta, ON(y)), (A, x, y))
LA_ENTRY(symv,
         (double alpha, const la_array *A, const la_array *x, double beta,
          la_array *y),
         (alpha, ON(A), ON(x), beta, ON(y)), (A, x, y))
LA_ENTRY(syrk, (la_trans t, const la_array *A, la_array *C), (t, ON(A), ON(C)),
         (A, C))
LA_ENTRY(eigh,
         (la_array * C, double above, double *values, la_array *Q,
          int64_t *count),
         (ON(C), above, values, ON(Q), count), (C, Q))
LA_ENTRY(svd, (la_array * A, la_array *U, double *s, la_array *Vt),
         (ON(A), ON(U), s, ON(Vt)), (A, U, Vt))
LA_ENTRY(qr, (la_array * A, la_array *R), (ON(A), ON(R)), (A, R))
LA_ENTRY(potrf, (la_array * A), (ON(A)), (A))
LA_ENTRY(potrs, (const la_array *L, la_array *B), (ON(L), ON(B)), (L, B))
LA_ENTRY(trsm, (const la_array *L, la_array *B), (ON(L), ON(B)), (L, B))
LA_ENTRY(potri, (la_array * L), (ON(L)), (L))
LA_ENTRY(gram_times,
         (la_trans t, const la_array *A, const la_array *X, la_array *Y),
         (t, ON(A), ON(X), ON(Y)), (A, X, Y))
LA_ENTRY(axpby, (double alpha, const la_array *A, double beta, la_array *B),
         (alpha, ON(A), beta, ON(B)), (A, B))
LA_ENTRY(axpby_cols,
         (const double *f, const int64_t *w, const la_array *A, double beta,
          la_array *B),
         (f, w, ON(A), beta, ON(B)), (A, B))
LA_ENTRY(scale_rows, (const double *f, la_array *A), (f, ON(A)), (A))
LA_ENTRY(add_to_cols, (const double *f, la_array *A), (f, ON(A)), (A))
LA_ENTRY(fill, (double value, la_array *A), (value, ON(A)), (A))
LA_ENTRY(add_diagonal, (double f, la_array *A), (f, ON(A)), (A))
LA_ENTRY(dot, (const la_array *A, const la_array *B, double *out),
         (ON(A), ON(B), out), (A, B))
LA_ENTRY(dot_cols, (const la_array *A, const la_array *B, double *out),
         (ON(A), ON(B), out), (A, B))
LA_ENTRY(reflect,
         (const la_penalty *phi, double rho, const la_array *A,
          const la_array *V, la_array *B, la_array *W, double sums[4]),
         (PHI(phi), rho, ON(A), ON(V), ON(B), ON(W), sums),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, A, V, B, W))
LA_ENTRY(prox,
         (const la_penalty *phi, double rho, const la_array *V, la_array *B),
         (PHI(phi), rho, ON(V), ON(B)),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, V, B))
LA_ENTRY(loss, (const la_penalty *phi, const la_array *Z, double *out),
         (PHI(phi), ON(Z), out),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, Z))
LA_ENTRY(gradient_step,
         (const la_penalty *phi, double tau, const la_array *Z, la_array *A),
         (PHI(phi), tau, ON(Z), ON(A)),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, Z, A))
LA_ENTRY(project, (const la_penalty *phi, la_array *Z), (PHI(phi), ON(Z)),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, Z))
LA_ENTRY(clamp, (const la_penalty *phi, la_array *G), (PHI(phi), ON(G)),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, G))
LA_ENTRY(conjugate,
         (const la_penalty *phi, double scale, const la_array *G, double *out),
         (PHI(phi), scale, ON(G), out),
         (&phi->Z0, phi->times.data != NULL ? &phi->times : NULL, G))
LA_ENTRY(l1_step,
         (const la_l1 *p, const la_array *X, const la_array *A, la_array *S,
          la_array *W, double sums[6]),
         (p, ON(X), ON(A), ON(S), ON(W), sums), (X, A, S, W))
LA_ENTRY(l1_dual, (double t, const la_array *X, const la_array *S, la_array *C),
         (t, ON(X), ON(S), ON(C)), (X, S, C))
LA_ENTRY(l1_sums,
         (const la_array *X, const la_array *A, const la_array *C,
          double sums[2]),
         (ON(X), ON(A), ON(C), sums), (X, A, C))
LA_ENTRY(l1_alm, (const la_alm *p, double sums[3]), (ALM(p), sums),
         (p->X, p->D, p->F, p->B, p->G1, p->G2, p->Z))
