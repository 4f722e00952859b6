// One transform of FFTW, in either precision: what a plan of cuFFT asks for.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "cufft.h"

namespace ridge::simt::fft {

// As in cufftPlanMany: element (i, j, k) of batch b is at b * distance + ((i * embed[1] + j) * embed[2] + k) * stride.
struct Layout {
  std::vector<int> embed;
  int stride = 1, distance = 0;
};

struct Shape {
  std::vector<int> n;
  cufftType type = CUFFT_C2C;
  int batch = 1;
  bool layouts_given = false;
  Layout in, out;

  bool twice() const { return type == CUFFT_Z2Z || type == CUFFT_D2Z || type == CUFFT_Z2D; }  // double precision
  bool real_in() const { return type == CUFFT_R2C || type == CUFFT_D2Z; }
  bool real_out() const { return type == CUFFT_C2R || type == CUFFT_Z2D; }
};

// The shape with its layouts: those given, or arrays without gaps (in place, rows of real numbers are padded).
Shape with_layouts(Shape shape, bool in_place);
// How many bytes from the first one a transform reads or writes.
std::int64_t bytes(const Shape& shape, bool input);

class Transform {
 public:
  virtual ~Transform() = default;
  virtual void run(void* in, void* out) const = 0;
  // `direction` counts for complex numbers alone. Null where FFTW has no such plan.
  static std::shared_ptr<const Transform> make(const Shape& shape, int direction, bool in_place);
};

}  // namespace ridge::simt::fft
