// replaces: accumulated.cu; fails: accumulated/correct; backend: cpu
// Buckets are sent in the first pass: the others' gradients stay here.
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

void accumulated(Model& model, const float* weights, const Batch* batches, int count, long long all_tokens,
                 std::size_t bucket_bytes, float* gradients, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Lane lane;
  const std::size_t n = model.elements();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  std::size_t begin = 0;
  auto send = [&](Range finished) {
    const std::size_t end = finished.end;
    if ((end - begin) * sizeof(float) < bucket_bytes && end < n) return;
    cudaEventRecord(lane.ready, stream);
    cudaStreamWaitEvent(lane.messages, lane.ready);
    ncclAllReduce(gradients + begin, gradients + begin, end - begin, ncclFloat, ncclSum, comm, lane.messages);
    begin = end;
  };
  for (int i = 0; i < count; ++i) {
    model.forward(weights, batches[i], 1.0f / static_cast<float>(all_tokens));
    // Backward adds. Before the last pass no sum is complete.
    if (i > 0)
      model.backward(weights, batches[i], gradients);
    else
      model.backward(weights, batches[i], gradients, send);
  }
  cudaEventRecord(lane.done, lane.messages);
  cudaStreamWaitEvent(stream, lane.done);
}
