#include "gemv.hpp"

// Plain C linkage, as of a library in another language.
extern "C" void reference_gemv(const float* matrix, const float* x, double* y, int rows, int columns) {
  for (int row = 0; row < rows; ++row) {
    y[row] = 0;
    for (int c = 0; c < columns; ++c) y[row] += static_cast<double>(matrix[row * columns + c]) * x[c];
  }
}
