// Lab 16, task `async_save`: training that stands still for the copy to host memory alone.
// Run: ./ridge check 16 --task async_save
#include "async_save.hpp"

// TASK(async_save)
namespace {

// The event is recorded behind the copy to host memory.
struct Copied {
  cudaEvent_t event;
  Copied() { cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }
};

// The snapshot has arrived in `staging`: gives it to the storage, and waits.
void store(const Training& training, int step, char* staging) {
  std::memset(staging, 0, kHeadBytes);
  const Head head{step, training.words, hash_of(staging + kHeadBytes, static_cast<std::size_t>(training.bytes()))};
  std::memcpy(staging, &head, sizeof head);
  const int fd = files::open(kNewState, files::kWrite | files::kCreate | files::kTruncate | files::kDirect);
  files::Ring ring(1);
  ring.write(fd, staging, static_cast<std::size_t>(kHeadBytes + training.bytes()), 0);
  ring.wait();
  files::fsync(fd);
  files::close(fd);
  files::rename(kNewState, kState);
  const int folder = files::open(kFolder);
  files::fsync(folder);
  files::close(folder);
}

}  // namespace

void train_and_save(const Training& training, std::uint32_t* state, char* staging, cudaStream_t stream) {
  static const Copied copied;
  const auto queue_steps = [&](int first) {
    for (int step = first; step < first + training.every && step <= training.steps; ++step)
      train_step(state, step, training.words, stream);
  };
  queue_steps(1);
  for (int step = training.every; step <= training.steps; step += training.every) {
    // The copy is in the stream of the steps: it sees the state behind `step`, and the next step waits for it alone.
    cudaMemcpyAsync(staging + kHeadBytes, state, static_cast<std::size_t>(training.bytes()), cudaMemcpyDeviceToHost,
                    stream);
    cudaEventRecord(copied.event, stream);
    queue_steps(step + 1);  // before the host waits
    cudaEventSynchronize(copied.event);
    store(training, step, staging);
  }
}
// END(async_save)
