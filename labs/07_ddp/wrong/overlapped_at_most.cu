// replaces: overlapped.cu; fails: overlapped/traffic; backend: cpu
// A bucket of exactly bucket_bytes is complete.
#include "ddp.hpp"

namespace {

// A stream for messages, and the two arrows between it and the task's.
struct Lane {
  cudaStream_t messages;
  cudaEvent_t ready, done;
  Lane() {
    cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

void overlapped(Model& model, const float* weights, const Batch& batch, long long all_tokens, std::size_t bucket_bytes,
                float* gradients, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Lane lane;  // one for each rank, also where ranks are threads
  const std::size_t n = model.elements();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  model.forward(weights, batch, 1.0f / static_cast<float>(all_tokens));

  std::size_t begin = 0;  // of the bucket that is being filled
  model.backward(weights, batch, gradients, [&](Range finished) {
    const std::size_t end = finished.end;
    if ((end - begin) * sizeof(float) <= bucket_bytes && end < n) return;
    cudaEventRecord(lane.ready, stream);
    cudaStreamWaitEvent(lane.messages, lane.ready);
    ncclAllReduce(gradients + begin, gradients + begin, end - begin, ncclFloat, ncclSum, comm, lane.messages);
    begin = end;
  });
  cudaEventRecord(lane.done, lane.messages);
  cudaStreamWaitEvent(stream, lane.done);
}
