// Lab 07, task `overlapped`: buckets of gradients are summed while backward goes on.
//
// Run: ./ridge check 07 --task overlapped
#include "ddp.hpp"

// TASK(overlapped)
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

void overlapped(Model& model, const float* weights, const Batch& batch, long long all_tokens, std::size_t bucket_bytes,
                float* gradients, ncclComm_t comm, cudaStream_t stream) {
  static thread_local Lane lane(comm);  // one for each rank, also where ranks are threads
  const std::size_t n = model.elements();
  cudaMemsetAsync(gradients, 0, n * sizeof(float), stream);
  model.forward(weights, batch, 1.0f / static_cast<float>(all_tokens));

  std::size_t begin = 0;  // of the bucket that is being filled
  model.backward(weights, batch, gradients, [&](Range finished) {
    const std::size_t end = finished.end;
    if ((end - begin) * sizeof(float) < bucket_bytes && end < n) return;
    cudaEventRecord(lane.ready, stream);
    cudaStreamWaitEvent(lane.messages, lane.ready);
    ncclAllReduce(gradients + begin, gradients + begin, end - begin, ncclFloat, ncclSum, lane.beside, lane.messages);
    begin = end;
  });
  cudaEventRecord(lane.done, lane.messages);
  cudaStreamWaitEvent(stream, lane.done);
}
// END(overlapped)
