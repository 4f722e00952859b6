// The iteration of conjugate gradients in the judge: exact, and as an honest program rounds it.
#pragma once
#include <vector>

#include "checks/compare.hpp"

namespace ridge::lab::science {

// After each iteration, from 0 on.
struct Solved {
  std::vector<double> rho;             // r.r
  std::vector<std::vector<double>> x;  // of the last ones, up to that of rho.back()

  // x after iteration k, which must be among them.
  const std::vector<double>& after(std::size_t k) const { return x[x.size() - (rho.size() - k)]; }
};

// The errors of the contract's arithmetic: vectors in fp32, dot products in double precision.
struct Rounding {
  double x = 0;             // root of the mean square, over the largest |x|
  std::vector<double> rho;  // after each iteration, relative, the largest up to it
};

// Inputs as those of the task `cg`: values, starts, columns, b.
// In double precision, until `most` iterations or two beyond the first with r.r <= tolerance^2 b.b.
Solved solve(ConstBuffers in, double tolerance, std::size_t most);
// Compares two iterations in fp32, whose sums over a row have different orders, with `exact`.
Rounding rounding_of(ConstBuffers in, const Solved& exact);

}  // namespace ridge::lab::science
