// Two- and three-dimensional copies and fills, pitches, and ranges.
#include <vector>

#include "check.hpp"

__global__ void transpose_bytes(unsigned char* p, size_t pitch, int rows, int columns) {
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) p[r * pitch + c] = static_cast<unsigned char>(p[r * pitch + c] + 1);
}

int main() {
  const size_t width = 100, height = 13;
  unsigned char* d;
  size_t pitch = 0;
  expect_error(cudaMallocPitch(&d, &pitch, width, height), cudaSuccess, "malloc pitch");
  expect(pitch >= width && pitch % 32 == 0, "a pitch of whole sectors");
  std::vector<unsigned char> in(width * height), out(width * height, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<unsigned char>(i * 7);

  expect_error(cudaMemset2D(d, pitch, 0xEE, width, height), cudaSuccess, "memset 2D");
  expect_error(cudaMemcpy2D(out.data(), width, d, pitch, width, height, cudaMemcpyDeviceToHost), cudaSuccess, "read");
  for (unsigned char v : out) expect(v == 0xEE, "memset 2D");

  expect_error(cudaMemcpy2D(d, pitch, in.data(), width, width, height, cudaMemcpyHostToDevice), cudaSuccess, "write");
  transpose_bytes<<<1, 1>>>(d, pitch, static_cast<int>(height), static_cast<int>(width));
  // A window of 10 x 5 at (3, 2), asynchronously into pinned memory.
  unsigned char* window;
  cudaMallocHost(&window, 50);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  expect_error(cudaMemcpy2DAsync(window, 10, d + 2 * pitch + 3, pitch, 10, 5, cudaMemcpyDeviceToHost, stream),
               cudaSuccess, "window");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "window");
  for (size_t r = 0; r < 5; ++r)
    for (size_t c = 0; c < 10; ++c)
      expect(window[r * 10 + c] == static_cast<unsigned char>(in[(r + 2) * width + c + 3] + 1), "window");

  expect_error(cudaMemcpy2D(d, width - 1, in.data(), width, width, height, cudaMemcpyHostToDevice),
               cudaErrorInvalidPitchValue, "rows wider than their pitch");
  expect_error(cudaMemcpy2D(d, pitch, in.data(), width, width, height + 1000, cudaMemcpyHostToDevice),
               cudaErrorInvalidValue, "more rows than there are");
  cudaGetLastError();

  // A box of 16 x 4 x 3 bytes inside of a larger volume.
  cudaPitchedPtr volume;
  expect_error(cudaMalloc3D(&volume, make_cudaExtent(32, 8, 6)), cudaSuccess, "malloc 3D");
  expect_error(cudaMemset3D(volume, 1, make_cudaExtent(32, 8, 6)), cudaSuccess, "memset 3D");
  std::vector<unsigned char> box(16 * 4 * 3), all(32 * 8 * 6);
  for (size_t i = 0; i < box.size(); ++i) box[i] = static_cast<unsigned char>(i + 2);
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr(box.data(), 16, 16, 4);
  p.dstPtr = volume;
  p.dstPos = make_cudaPos(8, 2, 1);
  p.extent = make_cudaExtent(16, 4, 3);
  p.kind = cudaMemcpyHostToDevice;
  expect_error(cudaMemcpy3D(&p), cudaSuccess, "box in");
  cudaMemcpy3DParms q = {};
  q.srcPtr = volume;
  q.dstPtr = make_cudaPitchedPtr(all.data(), 32, 32, 8);
  q.extent = make_cudaExtent(32, 8, 6);
  q.kind = cudaMemcpyDeviceToHost;
  expect_error(cudaMemcpy3D(&q), cudaSuccess, "volume out");
  for (size_t z = 0; z < 6; ++z)
    for (size_t y = 0; y < 8; ++y)
      for (size_t x = 0; x < 32; ++x) {
        bool inside = x >= 8 && x < 24 && y >= 2 && y < 6 && z >= 1 && z < 4;
        unsigned char wanted = inside ? box[((z - 1) * 4 + y - 2) * 16 + x - 8] : 1;
        expect(all[(z * 8 + y) * 32 + x] == wanted, "a box in a volume");
      }

  // Device to device, and the default direction.
  unsigned char *e, back[64];
  cudaMalloc(&e, 64);
  expect_error(cudaMemcpy(e, d, 64, cudaMemcpyDeviceToDevice), cudaSuccess, "on the device");
  expect_error(cudaMemcpy(back, e, 64, cudaMemcpyDefault), cudaSuccess, "default direction");
  for (int i = 0; i < 64; ++i) expect(back[i] == static_cast<unsigned char>(in[i] + 1), "default direction");
  expect_error(cudaFree(volume.ptr), cudaSuccess, "free");
  expect_error(cudaFree(d), cudaSuccess, "free");
  expect_error(cudaFree(e), cudaSuccess, "free");
  expect_error(cudaFreeHost(window), cudaSuccess, "free");
  std::puts("ok");
}
