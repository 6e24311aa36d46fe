# Processor seconds of rsvd::rrpca and its distance from the truth, for
# bench/compare:  Rscript bench/rivals/compare_rsvd.R FOLDER ROWS COLS TOL
library(rsvd)
args <- commandArgs(TRUE)
rows <- as.integer(args[2])
cols <- as.integer(args[3])
read <- function(name) matrix(
  readBin(file.path(args[1], name), "double", rows * cols), rows, cols)
X <- read("X.bin")
L <- read("L.bin")
set.seed(1)
t <- system.time(o <- rrpca(X, tol = as.numeric(args[4]), maxiter = 200))
cat(t[["user.self"]] + t[["sys.self"]], sqrt(sum((o$L - L)^2) / sum(L^2)), "\n")
