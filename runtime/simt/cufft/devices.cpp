// One transform over several devices: each has a part of the data. The parts are put together, transformed and divided
// again.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <vector>

#include "cufft/plan.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

namespace ridge::simt::fft {

namespace {

constexpr int kMostDevices = 16;

// The data as planes x rows x bytes: a dimension of 1 where there is none.
struct Grid {
  std::int64_t planes = 1, rows = 1, bytes = 0;
};

Grid grid_of(const Shape& s) {
  std::vector<std::int64_t> cells(s.n.begin(), s.n.end());
  if (s.real_in() || s.real_out()) cells.back() = cells.back() / 2 + 1;
  const std::int64_t cell = s.twice() ? 16 : 8;
  if (s.batch > 1)  // whole transforms, in either order
    return {s.batch, 1, cell * std::accumulate(cells.begin(), cells.end(), std::int64_t{1}, std::multiplies<>())};
  if (cells.size() == 1) return {cells[0], 1, cell};
  return {cells[0], cells[1], cell * (cells.size() == 3 ? cells[2] : 1)};
}

// Where part k of `count` of n begins; the first parts have one more.
std::int64_t begin_of(std::int64_t n, int k, int count) { return n / count * k + std::min<std::int64_t>(n % count, k); }

bool shuffles(const Grid& g) { return g.rows > 1; }

std::int64_t part_bytes(const Grid& g, int k, int count, bool shuffled) {
  const std::int64_t n = shuffled ? g.rows : g.planes;
  return (begin_of(n, k + 1, count) - begin_of(n, k, count)) * (shuffled ? g.planes : g.rows) * g.bytes;
}

// Between the whole in natural order and the devices' parts.
void copy(const Grid& g, const cudaXtDesc& parts, bool shuffled, char* whole, bool to_parts) {
  for (int k = 0; k < parts.nGPUs; ++k) {
    char* part = static_cast<char*>(parts.data[k]);
    const std::int64_t n = shuffled ? g.rows : g.planes;
    const std::int64_t first = begin_of(n, k, parts.nGPUs), last = begin_of(n, k + 1, parts.nGPUs);
    const std::int64_t row = g.rows * g.bytes;
    const std::int64_t piece = shuffled ? (last - first) * g.bytes : (last - first) * row;
    for (std::int64_t plane = 0; plane < (shuffled ? g.planes : 1); ++plane) {
      char* in_whole = whole + (shuffled ? plane * row + first * g.bytes : first * row);
      char* in_part = part + plane * piece;
      std::memcpy(to_parts ? in_part : in_whole, to_parts ? in_whole : in_part, static_cast<std::size_t>(piece));
    }
    if (to_parts) Sanitizer::written(reinterpret_cast<std::uintptr_t>(part), parts.size[k]);
  }
}

bool is_shuffled(const cudaLibXtDesc& d) {
  return d.subFormat == CUFFT_XT_FORMAT_INPLACE_SHUFFLED || d.subFormat == CUFFT_XT_FORMAT_OUTPUT;
}

bool sound(const cudaLibXtDesc* d) {
  return d != nullptr && d->library == LIB_FORMAT_CUFFT && d->descriptor != nullptr;
}

// Work of the plan's stream and of each device's default stream has ended.
bool wait(const Plan& plan) {
  int before = 0;
  cudaGetDevice(&before);
  bool good = cudaStreamSynchronize(plan.stream) == cudaSuccess;
  for (const int device : plan.devices)
    good = cudaSetDevice(device) == cudaSuccess && cudaStreamSynchronize(nullptr) == cudaSuccess && good;
  cudaSetDevice(before);
  return good;
}

cufftResult run(cufftHandle handle, const cudaLibXtDesc* in, cudaLibXtDesc* out, int direction,
                const cufftType* wanted) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr || !plan->made || plan->devices.empty()) return CUFFT_INVALID_PLAN;
  const Shape shape = with_layouts(plan->shape, true);
  if (!sound(in) || !sound(out) || (wanted != nullptr && *wanted != shape.type)) return CUFFT_INVALID_VALUE;
  if (in != out) {
    std::fputs("ridge: refused: cuFFT: a transform over several devices is in place\n", stderr);
    return CUFFT_NOT_SUPPORTED;
  }
  if (shape.real_in()) direction = CUFFT_FORWARD;
  if (shape.real_out()) direction = CUFFT_INVERSE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  auto& transform = plan->transforms[(direction == CUFFT_INVERSE ? 2u : 0u) + 1u];
  if (transform == nullptr) transform = Transform::make(shape, direction, true);
  if (transform == nullptr || !wait(*plan)) return CUFFT_EXEC_FAILED;
  Trace::unsupported("a call of cuFFT");
  const Grid grid = grid_of(shape);
  std::vector<cufftDoubleComplex> whole(
      static_cast<std::size_t>(grid.planes * grid.rows * grid.bytes) / sizeof(cufftDoubleComplex) + 1);
  const bool shuffled = is_shuffled(*out);
  copy(grid, *out->descriptor, shuffled && shuffles(grid), reinterpret_cast<char*>(whole.data()), false);
  transform->run(whole.data(), whole.data());
  copy(grid, *out->descriptor, !shuffled && shuffles(grid), reinterpret_cast<char*>(whole.data()), true);
  out->subFormat = shuffled ? CUFFT_XT_FORMAT_INPLACE : CUFFT_XT_FORMAT_INPLACE_SHUFFLED;
  return CUFFT_SUCCESS;
}

cufftResult run_typed(cufftHandle handle, const cudaLibXtDesc* in, cudaLibXtDesc* out, int direction,
                      cufftType wanted) {
  return run(handle, in, out, direction, &wanted);
}

}  // namespace

}  // namespace ridge::simt::fft

using namespace ridge::simt::fft;

extern "C" {

cufftResult cufftXtSetGPUs(cufftHandle handle, int count, int* devices) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr || plan->made || !plan->devices.empty()) return CUFFT_INVALID_PLAN;
  if (count < 1 || count > kMostDevices || devices == nullptr) return CUFFT_INVALID_VALUE;
  int there = 0;
  if (cudaGetDeviceCount(&there) != cudaSuccess) return CUFFT_INVALID_DEVICE;
  for (int i = 0; i < count; ++i)
    if (devices[i] < 0 || devices[i] >= there) {
      std::fprintf(stderr, "ridge: refused: cuFFT: there is no device %d: RIDGE_DEVICES says how many there are\n",
                   devices[i]);
      return CUFFT_INVALID_DEVICE;
    }
  plan->devices.assign(devices, devices + count);
  return CUFFT_SUCCESS;
}
cufftResult cufftXtMalloc(cufftHandle handle, cudaLibXtDesc** descriptor, cufftXtSubFormat format) {
  std::lock_guard lock(plans_mutex());
  const Plan* plan = find(handle);
  if (plan == nullptr || !plan->made || plan->devices.empty()) return CUFFT_INVALID_PLAN;
  if (descriptor == nullptr || format < CUFFT_XT_FORMAT_INPUT || format > CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED)
    return CUFFT_INVALID_VALUE;
  const Grid grid = grid_of(plan->shape);
  const int count = static_cast<int>(plan->devices.size());
  auto parts = std::make_unique<cudaXtDesc>();
  *parts = {};
  parts->nGPUs = count;
  int before = 0;
  cudaGetDevice(&before);
  cudaError_t error = cudaSuccess;
  for (int k = 0; k < count && error == cudaSuccess; ++k) {
    parts->GPUs[k] = plan->devices[static_cast<std::size_t>(k)];
    const std::int64_t bytes = std::max(part_bytes(grid, k, count, false),
                                        shuffles(grid) ? part_bytes(grid, k, count, true) : std::int64_t{0});
    parts->size[k] = static_cast<std::size_t>(std::max<std::int64_t>(1, bytes));
    cudaSetDevice(parts->GPUs[k]);
    error = cudaMalloc(&parts->data[k], parts->size[k]);
  }
  cudaSetDevice(before);
  if (error != cudaSuccess) {
    for (int k = 0; k < count; ++k) cudaFree(parts->data[k]);
    return CUFFT_ALLOC_FAILED;
  }
  *descriptor = new cudaLibXtDesc{0, parts.release(), LIB_FORMAT_CUFFT, format, nullptr};
  return CUFFT_SUCCESS;
}
cufftResult cufftXtFree(cudaLibXtDesc* d) {
  if (!sound(d)) return CUFFT_INVALID_VALUE;
  for (int k = 0; k < d->descriptor->nGPUs; ++k) cudaFree(d->descriptor->data[k]);
  delete d->descriptor;
  delete d;
  return CUFFT_SUCCESS;
}
cufftResult cufftXtMemcpy(cufftHandle handle, void* to, void* from, cufftXtCopyType type) {
  std::lock_guard lock(plans_mutex());
  const Plan* plan = find(handle);
  if (plan == nullptr || !plan->made || plan->devices.empty()) return CUFFT_INVALID_PLAN;
  if (to == nullptr || from == nullptr) return CUFFT_INVALID_VALUE;
  if (!wait(*plan)) return CUFFT_EXEC_FAILED;
  const Grid grid = grid_of(plan->shape);
  const auto *source = static_cast<const cudaLibXtDesc*>(from), *target = static_cast<const cudaLibXtDesc*>(to);
  const bool from_devices = type != CUFFT_COPY_HOST_TO_DEVICE, to_devices = type != CUFFT_COPY_DEVICE_TO_HOST;
  if (type < 0 || type >= CUFFT_COPY_UNDEFINED || (from_devices && !sound(source)) || (to_devices && !sound(target)))
    return CUFFT_INVALID_VALUE;
  std::vector<char> between;
  char* whole = static_cast<char*>(from_devices ? to : from);
  if (from_devices && to_devices) {
    between.resize(static_cast<std::size_t>(grid.planes * grid.rows * grid.bytes));
    whole = between.data();
  }
  if (from_devices) copy(grid, *source->descriptor, is_shuffled(*source) && shuffles(grid), whole, false);
  if (to_devices) copy(grid, *target->descriptor, is_shuffled(*target) && shuffles(grid), whole, true);
  return CUFFT_SUCCESS;
}

cufftResult cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return run(plan, in, out, direction, nullptr);
}
cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return run_typed(plan, in, out, direction, CUFFT_C2C);
}
cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out) {
  return run_typed(plan, in, out, CUFFT_FORWARD, CUFFT_R2C);
}
cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out) {
  return run_typed(plan, in, out, CUFFT_INVERSE, CUFFT_C2R);
}
cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction) {
  return run_typed(plan, in, out, direction, CUFFT_Z2Z);
}
cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out) {
  return run_typed(plan, in, out, CUFFT_FORWARD, CUFFT_D2Z);
}
cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out) {
  return run_typed(plan, in, out, CUFFT_INVERSE, CUFFT_Z2D);
}
}
