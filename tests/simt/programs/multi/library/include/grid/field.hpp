// A field on a grid of nx x ny points that owns device memory.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#ifndef GRID_REAL
#error "-DGRID_REAL=float or double"
#endif

namespace grid {

using Real = GRID_REAL;

struct Extent {
  int nx, ny;
  __host__ __device__ int size() const { return nx * ny; }
  __host__ __device__ int at(int x, int y) const { return y * nx + x; }
};

class Field {
 public:
  Field(Extent extent, const std::vector<Real>& values);
  Field(Field&& other) noexcept : extent_(other.extent_), data_(std::exchange(other.data_, nullptr)) {}
  Field(const Field&) = delete;
  Field& operator=(const Field&) = delete;
  ~Field();

  Extent extent() const { return extent_; }
  Real* data() const { return data_; }
  std::vector<Real> values() const;
  friend void swap(Field& a, Field& b) { std::swap(a.data_, b.data_); }

 private:
  Extent extent_;
  Real* data_;
};

void heat_step(const Field& from, Field& to, Real rate);
Real max_difference(const Field& a, const Field& b);

}  // namespace grid
