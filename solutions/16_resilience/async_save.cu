// Lab 16, task `async_save`: training that stalls for the copy to host memory alone.
// Run: ./ridge check 16 --task async_save
#include "async_save.hpp"

// TASK(async_save)
namespace {

// The event is recorded after the copy to host memory.
struct Copied {
  cudaEvent_t event;
  Copied() { cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }
};

// A pwrite may take a part of the bytes; the next one says why. Parts of a direct write are multiples of the alignment.
bool write_all(int fd, const char* data, long long bytes) {
  for (long long at = 0; at < bytes;) {
    const ssize_t n = files::pwrite(fd, data + at, static_cast<std::size_t>(bytes - at), at);
    if (n <= 0) return false;
    at += n;
  }
  return true;
}

bool sync_folder() {
  const int folder = files::open(kFolder);
  if (folder < 0) return false;
  const bool synced = files::fsync(folder) == 0;
  files::close(folder);
  return synced;
}

// The snapshot has arrived in `staging`: gives it to the storage, and waits. False: the checkpoint before is still there.
bool store(const Training& training, int step, char* staging) {
  std::memset(staging, 0, kHeadBytes);
  const Head head{step, training.words, hash_of(staging + kHeadBytes, static_cast<std::size_t>(training.bytes()))};
  std::memcpy(staging, &head, sizeof head);
  const int fd = files::open(kNewState, files::kWrite | files::kCreate | files::kTruncate | files::kDirect);
  if (fd < 0) return false;
  const bool durable = write_all(fd, staging, kHeadBytes + training.bytes()) && files::fsync(fd) == 0;
  return files::close(fd) == 0 && durable && files::rename(kNewState, kState) == 0 && sync_folder();
}

}  // namespace

bool train_and_save(const Training& training, std::uint32_t* state, char* staging, cudaStream_t stream) {
  static const Copied copied;
  const auto queue_steps = [&](int first) {
    for (int step = first; step < first + training.every && step <= training.steps; ++step)
      train_step(state, step, training.words, stream);
  };
  bool all_saved = true;
  queue_steps(1);
  for (int step = training.every; step <= training.steps; step += training.every) {
    // The copy is in the stream of the steps: it sees the state after `step`, and the next step waits for it alone.
    cudaMemcpyAsync(staging + kHeadBytes, state, static_cast<std::size_t>(training.bytes()), cudaMemcpyDeviceToHost,
                    stream);
    cudaEventRecord(copied.event, stream);
    queue_steps(step + 1);  // before the host waits
    cudaEventSynchronize(copied.event);
    all_saved = store(training, step, staging) && all_saved;
  }
  return all_saved;
}
// END(async_save)
