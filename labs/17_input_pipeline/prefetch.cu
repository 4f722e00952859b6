// Lab 17, task `prefetch`: read, decode, upload, and train, all at once.
// Run: ./ridge check 17 --task prefetch
#include "prefetch.hpp"

// batch, state: words numbers. As prefetch.hpp says.
__global__ void train_step(const std::uint32_t* batch, std::uint32_t* state, int words) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < words) state[i] = state[i] * 1664525u + batch[i] + 1013904223u;
}

// TASK(prefetch)
void train(const Feed& feed, const Slots& slots, std::uint32_t* state, cudaStream_t stream) {
  // TODO: nothing overlaps here. Keep several reads in flight, let all cores decode, and upload while they do.
  const int fd = files::open(feed.path, files::kDirect);
  Decoder decoder;
  for (int b = 0; b < feed.batches; ++b) {
    files::pread(fd, slots.encoded[0], feed.bytes(), b * feed.bytes());
    decoder.wait(decoder.start(0, slots.encoded[0], slots.decoded[0], 0, feed.words));
    cudaMemcpyAsync(slots.on_device[0], slots.decoded[0], feed.bytes(), cudaMemcpyHostToDevice, stream);
    train_step<<<(feed.words + 255) / 256, 256, 0, stream>>>(slots.on_device[0], state, feed.words);
    cudaStreamSynchronize(stream);
  }
  files::close(fd);
}
// END(prefetch)
