# rsvd::rrpca on the problem of bench/rpca.c (Debian: r-cran-rsvd), to the same
# distance from the truth: the loosest tolerance of a list that reaches 1e-7.
#
#   bench/rpca ROWS COLS --save FOLDER
#   OMP_NUM_THREADS=1 Rscript bench/rivals/rpca_rsvd.R FOLDER ROWS COLS
library(rsvd)
args <- commandArgs(TRUE)
rows <- as.integer(args[2])
cols <- as.integer(args[3])
read <- function(name) {
  f <- file(file.path(args[1], name), "rb")
  on.exit(close(f))
  matrix(readBin(f, "double", rows * cols), rows, cols)
}
X <- read("X.bin")
L <- read("L.bin")
cat("| tol | steps | seconds | cpu seconds | distance |\n",
    "| --- | --- | --- | --- | --- |\n", sep = "")
for (tol in c(3e-6, 1e-6, 3e-7, 1e-7, 3e-8, 1e-8)) {
  seconds <- replicate(3, {
    set.seed(1)
    t <- system.time(o <<- rrpca(X, tol = tol, maxiter = 200))
    c(t[["elapsed"]], t[["user.self"]] + t[["sys.self"]])
  })
  distance <- sqrt(sum((o$L - L)^2) / sum(L^2))
  cat(sprintf("| %g | %d | %.2f | %.2f | %.1e |\n", tol, length(o$err),
              median(seconds[1, ]), median(seconds[2, ]), distance))
  if (distance <= 1e-7) break
}
cat(extSoftVersion()[["BLAS"]], "\n")
