// Lab 07, task `accumulated`: a batch in micro-batches, and one communication for all of them.
//
// Run: ./ridge check 07 --task accumulated
#include "ddp.hpp"

// TASK(accumulated)
namespace {

// A stream for the all-reduces, and the two events between it and the task's stream.
struct Lane {
  ncclComm_t beside;
  cudaStream_t messages;
  cudaEvent_t ready, done;
  explicit Lane(ncclComm_t comm) {
    // Each block of NCCL's takes a multiprocessor from the kernels beside it.
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.maxCTAs = 16;
    config.cgaClusterSize = 1;
    int rank = 0;
    ncclCommUserRank(comm, &rank);
    ncclCommSplit(comm, 0, rank, &beside, &config);
    cudaStreamCreateWithFlags(&messages, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  }
};

}  // namespace

void accumulated(Model& model, const float* weights, const Batch* batches, int count, long long all_tokens,
                 std::size_t bucket_bytes, float* gradients, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Lane lane(comm);
  const std::size_t n = model.elements();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  std::size_t begin = 0;
  auto send = [&](Range finished) {
    const std::size_t end = finished.end;
    if ((end - begin) * sizeof(float) < bucket_bytes && end < n) return;
    cudaEventRecord(lane.ready, stream);
    cudaStreamWaitEvent(lane.messages, lane.ready);
    ncclAllReduce(gradients + begin, gradients + begin, end - begin, ncclFloat, ncclSum, lane.beside, lane.messages);
    begin = end;
  };
  for (int i = 0; i < count; ++i) {
    model.forward(weights, batches[i], 1.0f / static_cast<float>(all_tokens));
    // Backward adds. Before the last pass no sum is complete.
    if (i + 1 < count)
      model.backward(weights, batches[i], gradients);
    else
      model.backward(weights, batches[i], gradients, send);
  }
  cudaEventRecord(lane.done, lane.messages);
  cudaStreamWaitEvent(stream, lane.done);
}
// END(accumulated)
