// cuFFT's functions (include/cufft.h). What they return was read from an H100 with cuFFT 12.0, but that cufftPlan2d
// takes ny = 0 there.
#include "cufft.h"

#include <algorithm>
#include <cstdio>
#include <limits>
#include <map>
#include <utility>

#include "cufft/plan.hpp"
#include "device/memory.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"

namespace ridge::simt::fft {

namespace {

std::map<cufftHandle, Plan>& plans() {
  static auto* all = new std::map<cufftHandle, Plan>;
  return *all;
}

bool known(cufftType t) {
  return t == CUFFT_C2C || t == CUFFT_R2C || t == CUFFT_C2R || t == CUFFT_Z2Z || t == CUFFT_D2Z || t == CUFFT_Z2D;
}

cufftResult fill(Plan& plan, Shape shape) {
  if (plan.made) return CUFFT_INVALID_PLAN;
  if (!known(shape.type)) return CUFFT_INVALID_TYPE;
  if (shape.batch < 1) return CUFFT_INVALID_SIZE;
  std::int64_t all = shape.batch;
  for (const int n : shape.n) {
    if (n < 1) return CUFFT_INVALID_SIZE;
    all *= n + 2;  // rows may be padded
    if (all > std::numeric_limits<int>::max()) return CUFFT_INVALID_SIZE;
  }
  plan.shape = std::move(shape);
  plan.made = true;
  return CUFFT_SUCCESS;
}

cufftResult create(cufftHandle* handle, const Shape* shape) {
  if (handle == nullptr) return CUFFT_INVALID_VALUE;
  std::lock_guard lock(plans_mutex());
  Plan plan;
  *handle = 0;
  if (shape != nullptr)
    if (const cufftResult r = fill(plan, *shape); r != CUFFT_SUCCESS) return r;
  static cufftHandle next = 1;
  *handle = next++;
  plans().emplace(*handle, std::move(plan));
  return CUFFT_SUCCESS;
}

template <class Int>
bool many(Shape& shape, int rank, const Int* n, const Int* in, Int in_stride, Int in_distance, const Int* out,
          Int out_stride, Int out_distance, cufftType type, Int batch) {
  if (rank < 1 || rank > 3 || n == nullptr) return false;
  const auto to_int = [](Int v) { return static_cast<int>(v); };
  for (int d = 0; d < rank; ++d) shape.n.push_back(to_int(n[d]));
  shape.type = type;
  shape.batch = to_int(batch);
  shape.layouts_given = in != nullptr && out != nullptr;  // else all of the layout is ignored
  if (!shape.layouts_given) return true;
  for (int d = 0; d < rank; ++d) {
    if (d > 0 && (in[d] < 1 || out[d] < 1)) return false;
    shape.in.embed.push_back(to_int(in[d]));
    shape.out.embed.push_back(to_int(out[d]));
  }
  shape.in.stride = to_int(in_stride), shape.in.distance = to_int(in_distance);
  shape.out.stride = to_int(out_stride), shape.out.distance = to_int(out_distance);
  return in_stride > 0 && out_stride > 0 && in_distance >= 0 && out_distance >= 0;
}

// Whether device memory holds what a transform reads or writes; says why not.
bool holds(const void* p, std::int64_t bytes, const char* what) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  const ridge::simt::Allocation* a = ridge::simt::DeviceMemory::instance().find(address);
  const auto left = a == nullptr ? 0 : static_cast<std::int64_t>(a->begin + a->bytes - address);
  if (a != nullptr && left >= bytes) return true;
  if (a == nullptr)
    std::fprintf(stderr, "ridge: cuFFT: its %s is not memory of the device (cudaMalloc)\n", what);
  else
    std::fprintf(stderr,
                 "ridge: cuFFT: its %s of %lld bytes is larger than the allocation, which has %lld from there\n", what,
                 static_cast<long long>(bytes), static_cast<long long>(left));
  return false;
}

struct Job {
  std::shared_ptr<const Transform> transform;
  void *in, *out;
  Shape shape;
  Callbacks callbacks;
  bool with_callbacks;
};

void run(void* job) {
  const Job& j = *static_cast<Job*>(job);
  if (j.with_callbacks)
    run_with_callbacks(j.shape, *j.transform, j.callbacks, j.in, j.out);
  else
    j.transform->run(j.in, j.out);
}

}  // namespace

std::mutex& plans_mutex() {
  static std::mutex mutex;
  return mutex;
}

Plan* find(cufftHandle handle) {
  const auto at = plans().find(handle);
  return at == plans().end() ? nullptr : &at->second;
}

cufftResult make(cufftHandle handle, Shape shape, size_t* work_sizes) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (work_sizes == nullptr) return CUFFT_INVALID_VALUE;
  for (std::size_t i = 0; i < std::max<std::size_t>(1, plan->devices.size()); ++i) work_sizes[i] = 0;
  return fill(*plan, std::move(shape));
}

cufftResult execute(cufftHandle handle, cufftType type, void* in, void* out, int direction) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr || !plan->made) return CUFFT_INVALID_PLAN;
  if (!plan->devices.empty()) return CUFFT_INVALID_PLAN;  // cufftXtExecDescriptor runs it
  const bool in_place = in == out;
  if (plan->shape.type != type || in == nullptr || out == nullptr) return CUFFT_INVALID_VALUE;
  if (direction != CUFFT_FORWARD && direction != CUFFT_INVERSE) return CUFFT_INVALID_VALUE;
  const Shape shape = with_layouts(plan->shape, in_place);
  const std::int64_t written = bytes(shape, false);
  if (!holds(in, bytes(shape, true), "input") || !holds(out, written, "output")) return CUFFT_INVALID_VALUE;
  const bool with_callbacks = load_callback(shape, plan->callbacks) || store_callback(shape, plan->callbacks);
  std::shared_ptr<const Transform> transform;
  if (with_callbacks) {
    transform = Transform::make(shape, direction, false);
  } else {
    auto& kept = plan->transforms[(direction == CUFFT_INVERSE ? 2u : 0u) + (in_place ? 1u : 0u)];
    if (kept == nullptr) kept = Transform::make(shape, direction, in_place);
    transform = kept;
  }
  if (transform == nullptr) return CUFFT_EXEC_FAILED;
  Job job{transform, in, out, shape, plan->callbacks, with_callbacks};
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (plan->stream != nullptr) cudaStreamIsCapturing(plan->stream, &capture);
  if (capture == cudaStreamCaptureStatusActive)  // the graph keeps it
    return cudaLaunchHostFunc(plan->stream, run, new Job(job)) == cudaSuccess ? CUFFT_SUCCESS : CUFFT_EXEC_FAILED;
  if (cudaStreamSynchronize(plan->stream) != cudaSuccess) return CUFFT_EXEC_FAILED;
  ridge::simt::Trace::unsupported("a call of cuFFT");
  run(&job);
  ridge::simt::Sanitizer::written(reinterpret_cast<std::uintptr_t>(out), static_cast<std::size_t>(written));
  return CUFFT_SUCCESS;
}

cufftResult estimate(const Shape& shape, size_t* work_size) {
  Plan plan;
  if (work_size == nullptr) return CUFFT_INVALID_VALUE;
  *work_size = 0;
  return fill(plan, shape);
}

bool shape_of_many(Shape& shape, int rank, const long long* n, const long long* in, long long in_stride,
                   long long in_distance, const long long* out, long long out_stride, long long out_distance,
                   cufftType type, long long batch) {
  return many(shape, rank, n, in, in_stride, in_distance, out, out_stride, out_distance, type, batch);
}

}  // namespace ridge::simt::fft

using namespace ridge::simt::fft;

namespace {

Shape shape_of(std::vector<int> n, cufftType type, int batch) {
  Shape s;
  s.n = std::move(n);
  s.type = type;
  s.batch = batch;
  return s;
}

cufftResult on_plan(cufftHandle handle) {
  std::lock_guard lock(plans_mutex());
  return find(handle) == nullptr ? CUFFT_INVALID_PLAN : CUFFT_SUCCESS;
}

}  // namespace

extern "C" {

cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch) {
  const Shape shape = shape_of({nx}, type, batch);
  return create(plan, &shape);
}
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type) {
  const Shape shape = shape_of({nx, ny}, type, 1);
  return create(plan, &shape);
}
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type) {
  const Shape shape = shape_of({nx, ny, nz}, type, 1);
  return create(plan, &shape);
}
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                          int ostride, int odist, cufftType type, int batch) {
  Shape shape;
  if (!many(shape, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)) return CUFFT_INVALID_VALUE;
  return create(plan, &shape);
}
cufftResult cufftCreate(cufftHandle* plan) { return create(plan, nullptr); }
cufftResult cufftMakePlan1d(cufftHandle plan, int nx, cufftType type, int batch, size_t* work_size) {
  return make(plan, shape_of({nx}, type, batch), work_size);
}
cufftResult cufftMakePlan2d(cufftHandle plan, int nx, int ny, cufftType type, size_t* work_size) {
  return make(plan, shape_of({nx, ny}, type, 1), work_size);
}
cufftResult cufftMakePlan3d(cufftHandle plan, int nx, int ny, int nz, cufftType type, size_t* work_size) {
  return make(plan, shape_of({nx, ny, nz}, type, 1), work_size);
}
cufftResult cufftMakePlanMany(cufftHandle plan, int rank, int* n, int* inembed, int istride, int idist, int* onembed,
                              int ostride, int odist, cufftType type, int batch, size_t* work_size) {
  Shape shape;
  if (!many(shape, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)) return CUFFT_INVALID_VALUE;
  return make(plan, std::move(shape), work_size);
}
cufftResult cufftMakePlanMany64(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, long long int* onembed,
                                long long int ostride, long long int odist, cufftType type, long long int batch,
                                size_t* work_size) {
  Shape shape;
  if (!many(shape, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch)) return CUFFT_INVALID_VALUE;
  return make(plan, std::move(shape), work_size);
}
cufftResult cufftEstimate1d(int nx, cufftType type, int batch, size_t* work_size) {
  return estimate(shape_of({nx}, type, batch), work_size);
}
cufftResult cufftEstimate2d(int nx, int ny, cufftType type, size_t* work_size) {
  return estimate(shape_of({nx, ny}, type, 1), work_size);
}
cufftResult cufftEstimate3d(int nx, int ny, int nz, cufftType type, size_t* work_size) {
  return estimate(shape_of({nx, ny, nz}, type, 1), work_size);
}
cufftResult cufftGetSize(cufftHandle plan, size_t* work_size) {
  if (work_size != nullptr) *work_size = 0;
  return on_plan(plan);
}
cufftResult cufftSetWorkArea(cufftHandle plan, void*) { return on_plan(plan); }
cufftResult cufftSetAutoAllocation(cufftHandle plan, int) { return on_plan(plan); }
cufftResult cufftSetStream(cufftHandle handle, cudaStream_t stream) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  plan->stream = stream;
  return CUFFT_SUCCESS;
}

cufftResult cufftExecC2C(cufftHandle plan, cufftComplex* in, cufftComplex* out, int direction) {
  return execute(plan, CUFFT_C2C, in, out, direction);
}
cufftResult cufftExecR2C(cufftHandle plan, cufftReal* in, cufftComplex* out) {
  return execute(plan, CUFFT_R2C, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecC2R(cufftHandle plan, cufftComplex* in, cufftReal* out) {
  return execute(plan, CUFFT_C2R, in, out, CUFFT_INVERSE);
}
cufftResult cufftExecZ2Z(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleComplex* out, int direction) {
  return execute(plan, CUFFT_Z2Z, in, out, direction);
}
cufftResult cufftExecD2Z(cufftHandle plan, cufftDoubleReal* in, cufftDoubleComplex* out) {
  return execute(plan, CUFFT_D2Z, in, out, CUFFT_FORWARD);
}
cufftResult cufftExecZ2D(cufftHandle plan, cufftDoubleComplex* in, cufftDoubleReal* out) {
  return execute(plan, CUFFT_Z2D, in, out, CUFFT_INVERSE);
}

cufftResult cufftDestroy(cufftHandle plan) {
  std::lock_guard lock(plans_mutex());
  return plans().erase(plan) != 0 ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}
cufftResult cufftGetVersion(int* version) {
  if (version == nullptr) return CUFFT_INVALID_VALUE;
  *version = CUFFT_VERSION;
  return CUFFT_SUCCESS;
}
cufftResult cufftGetProperty(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUFFT_INVALID_VALUE;
  *value = type == MAJOR_VERSION ? CUFFT_VER_MAJOR : type == MINOR_VERSION ? CUFFT_VER_MINOR : CUFFT_VER_PATCH;
  return CUFFT_SUCCESS;
}
}
