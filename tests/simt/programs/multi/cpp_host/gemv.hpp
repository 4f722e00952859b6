// No CUDA in sight: what a C++ program of its own compiler sees.
#pragma once
#include <vector>

class Gemv {
 public:
  Gemv(const std::vector<float>& matrix, int rows, int columns);
  ~Gemv();
  Gemv(const Gemv&) = delete;
  Gemv& operator=(const Gemv&) = delete;
  std::vector<float> operator()(const std::vector<float>& x) const;

 private:
  int rows_, columns_;
  float *matrix_, *x_, *y_;
};

extern "C" void reference_gemv(const float* matrix, const float* x, double* y, int rows, int columns);
