// Style: the host's copies to page-locked buffers are cudaLaunchHostFunc callbacks in two streams.
#include <cstring>

#include "streams.hpp"

namespace {

constexpr std::size_t kPiece = 1 << 18;  // floats

// in, out: n floats
__global__ void scale_piece(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * in[i] + 1;
}

struct Fill {
  float* to;
  const float* from;
  std::size_t bytes;
};
void CUDART_CB fill(void* data) {
  const Fill* f = static_cast<const Fill*>(data);
  std::memcpy(f->to, f->from, f->bytes);
  delete f;
}

struct Lane {
  cudaStream_t stream;
  cudaEvent_t done;
  float* buffer;
};

}  // namespace

void upload(const float* in, float* out, std::size_t n, void* workspace, std::size_t, cudaStream_t stream) {
  static Lane lanes[2];
  static cudaEvent_t begin = nullptr;
  if (begin == nullptr) {
    cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
    for (Lane& lane : lanes) {
      cudaStreamCreateWithFlags(&lane.stream, cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&lane.done, cudaEventDisableTiming);
      cudaMallocHost(&lane.buffer, kPiece * sizeof(float));
    }
  }
  float* staged = static_cast<float*>(workspace);
  cudaEventRecord(begin, stream);
  for (Lane& lane : lanes) cudaStreamWaitEvent(lane.stream, begin, 0);
  int turn = 0;
  for (std::size_t first = 0; first < n; first += kPiece, turn ^= 1) {
    const std::size_t count = n - first < kPiece ? n - first : kPiece;
    const Lane& lane = lanes[turn];
    cudaLaunchHostFunc(lane.stream, fill, new Fill{lane.buffer, in + first, count * sizeof(float)});
    cudaMemcpyAsync(staged + first, lane.buffer, count * sizeof(float), cudaMemcpyHostToDevice, lane.stream);
    scale_piece<<<static_cast<unsigned>((count + 255) / 256), 256, 0, lane.stream>>>(staged + first, out + first,
                                                                                     count);
  }
  for (Lane& lane : lanes) {
    cudaEventRecord(lane.done, lane.stream);
    cudaStreamWaitEvent(stream, lane.done, 0);
  }
}
