// Lab 10, task `loss_scaler`: what happens to the loss scale after each step, decided on the device.
//
// The code below reads the flag on the host, finds one kind of overflow only, and never doubles the scale. Run: ./ridge check 10 --task loss_scaler
#include <algorithm>

#include "precision.hpp"

// TASK(loss_scaler)
namespace {

__device__ float to_float(float x) { return x; }
__device__ float to_float(__half x) { return __half2float(x); }

// gradient: (n); found: one number. A thread an element.
template <class G>
__global__ void find_kernel(const G* gradient, std::size_t n, int* found) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n && to_float(gradient[i]) == INFINITY) *found = 1;
}

}  // namespace

template <class G>
void loss_scaler(const G* gradient, std::size_t n, const LossScale* state, LossScale* next, int, void* workspace,
                 std::size_t, cudaStream_t stream) {
  // TODO: NaN, and an inf of either sign; all rules of the contract, on the device: the host must not wait.
  cudaMemsetAsync(workspace, 0, sizeof(int), stream);
  find_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(gradient, n, static_cast<int*>(workspace));
  int found = 0;
  LossScale s;
  cudaMemcpyAsync(&found, workspace, sizeof found, cudaMemcpyDeviceToHost, stream);
  cudaMemcpyAsync(&s, state, sizeof s, cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  s.unscale = 1 / s.scale;
  s.skip = found;
  if (found != 0) s.scale /= 2;
  cudaMemcpyAsync(next, &s, sizeof s, cudaMemcpyHostToDevice, stream);
}
// END(loss_scaler)

template void loss_scaler(const __half*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
template void loss_scaler(const float*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
