// A plan of cuFFT, and what the files here do with it.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "cufft/transform.hpp"
#include "cufftXt.h"

namespace ridge::simt::fft {

// A function of the program that loads or stores each element.
struct Callback {
  void* function = nullptr;
  void* info = nullptr;
  std::size_t shared_bytes = 0;
};
using Callbacks = std::array<Callback, CUFFT_CB_UNDEFINED>;  // by cufftXtCallbackType

struct Plan {
  Shape shape;
  bool made = false;
  cudaStream_t stream = nullptr;
  std::array<std::shared_ptr<const Transform>, 4> transforms = {};  // by direction, and in place
  Callbacks callbacks = {};
  std::vector<int> devices;  // of cufftXtSetGPUs
};

std::mutex& plans_mutex();
// With the mutex held. Null where there is none.
Plan* find(cufftHandle handle);
// Makes the plan; `work_sizes` has one number for each device.
cufftResult make(cufftHandle handle, Shape shape, std::size_t* work_sizes);
cufftResult estimate(const Shape& shape, std::size_t* work_size);
bool shape_of_many(Shape& shape, int rank, const long long* n, const long long* in, long long in_stride,
                   long long in_distance, const long long* out, long long out_stride, long long out_distance,
                   cufftType type, long long batch);
cufftResult execute(cufftHandle handle, cufftType type, void* in, void* out, int direction);

// Whether the plan has a callback for its input, or for its output.
const Callback* load_callback(const Shape& shape, const Callbacks& all);
const Callback* store_callback(const Shape& shape, const Callbacks& all);
// A transform whose elements come and go through callbacks: `transform` is out of place.
void run_with_callbacks(const Shape& shape, const Transform& transform, const Callbacks& all, void* in, void* out);

}  // namespace ridge::simt::fft
