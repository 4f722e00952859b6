// Lab 17, task `prefetch`: read, decode, upload, and train, all at once.
// Run: ./ridge check 17 --task prefetch
#include "prefetch.hpp"

// batch, state: words numbers. As prefetch.hpp says.
__global__ void train_step(const std::uint32_t* batch, std::uint32_t* state, int words) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < words) state[i] = state[i] * 1664525u + batch[i] + 1013904223u;
}

// TASK(prefetch)
namespace {

// A slot's event is recorded after the copy out of its decoded buffer. Kept: events are made once.
struct Copied {
  cudaEvent_t event[kSlots];
  Copied() {
    for (cudaEvent_t& e : event) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }
};

}  // namespace

void train(const Feed& feed, const Slots& slots, std::uint32_t* state, cudaStream_t stream) {
  static const Copied copied;
  constexpr int depth = kSlots - 2;  // reads in flight; the other two slots are decoded
  const int cores = files::storage().cores;
  const int fd = files::open(feed.path, files::kDirect);
  files::Ring ring(depth);
  Decoder decoder;
  std::vector<int> parts[kSlots];
  // Batch b is decoded: on to the device.
  const auto finish = [&](int b) {
    const int slot = b % kSlots;
    for (int part : parts[slot]) decoder.wait(part);
    cudaMemcpyAsync(slots.on_device[slot], slots.decoded[slot], feed.bytes(), cudaMemcpyHostToDevice, stream);
    cudaEventRecord(copied.event[slot], stream);
    train_step<<<(feed.words + 255) / 256, 256, 0, stream>>>(slots.on_device[slot], state, feed.words);
  };
  int asked = 0;
  for (int b = 0; b < feed.batches; ++b) {
    for (; asked < feed.batches && asked < b + depth; ++asked)
      ring.read(fd, slots.encoded[asked % kSlots], feed.bytes(), asked * feed.bytes(), asked);
    ring.wait();
    const int slot = b % kSlots;
    if (b >= kSlots) cudaEventSynchronize(copied.event[slot]);
    parts[slot].clear();
    for (int core = 0; core < cores; ++core) {
      const int first = static_cast<int>(1LL * feed.words * core / cores);
      const int end = static_cast<int>(1LL * feed.words * (core + 1) / cores);
      if (end > first)
        parts[slot].push_back(decoder.start(core, slots.encoded[slot], slots.decoded[slot], first, end - first));
    }
    if (b > 0) finish(b - 1);
  }
  if (feed.batches > 0) finish(feed.batches - 1);
  files::close(fd);
}
// END(prefetch)
