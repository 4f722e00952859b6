// The vendor's way to move the same bytes: every task is held against a device-to-device cudaMemcpy of its size.
#include "coalescing.hpp"

void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, n * sizeof(Particle), cudaMemcpyDeviceToDevice, stream);
}

void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream) {
  cudaMemcpyAsync(out, in, sizeof(float) * static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols),
                  cudaMemcpyDeviceToDevice, stream);
}

// As many bytes as the answer has: the table is at least that large where time is measured.
void gather(const float* in, const int*, float* out, int table, int rows, int width, void*, std::size_t,
            cudaStream_t stream) {
  cudaMemcpyAsync(
      out, in, sizeof(float) * static_cast<std::size_t>(rows < table ? rows : table) * static_cast<std::size_t>(width),
      cudaMemcpyDeviceToDevice, stream);
}
