# Processor seconds of a threshold by irlba, told the rank, and how far it is from
# A.bin, for bench/compare:
#   Rscript bench/rivals/compare_irlba.R FOLDER ROWS COLS RANK T TOL
library(irlba)
args <- commandArgs(TRUE)
rows <- as.integer(args[2])
cols <- as.integer(args[3])
read <- function(name) matrix(
  readBin(file.path(args[1], name), "double", rows * cols), rows, cols)
W <- read("W.bin")
set.seed(1)
t <- system.time({
  s <- irlba(W, nv = as.integer(args[4]), tol = as.numeric(args[6]))
  A <- s$u %*% (pmax(s$d - as.numeric(args[5]), 0) * t(s$v))
})
B <- read("A.bin")
cat(t[["user.self"]] + t[["sys.self"]], sqrt(sum((A - B)^2) / sum(B^2)), "\n")
