// A Julia set with cuComplex, written to a pitched image through a host-mapped buffer.
#include <cuComplex.h>

#include "../sample.hpp"

__host__ __device__ inline int iterations(float x, float y, int most) {
  cuFloatComplex z = make_cuFloatComplex(x, y);
  const cuFloatComplex c = make_cuFloatComplex(-0.5f, 0.25f);
  int i = 0;
  for (; i < most && cuCrealf(z) * cuCrealf(z) + cuCimagf(z) * cuCimagf(z) < 4.0f; ++i) z = cuCaddf(cuCmulf(z, z), c);
  return i;
}

__global__ void draw(unsigned char* image, size_t pitch, int width, int height, int most) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height)
    image[y * pitch + x] =
        static_cast<unsigned char>(iterations((x - width / 2) * 0.0625f, (y - height / 2) * 0.0625f, most));
}

int main() {
  const int width = 70, height = 50, most = 30;
  unsigned char *image = nullptr, *mapped = nullptr, *host = nullptr;
  size_t pitch = 0;
  CUDA_CHECK(cudaMallocPitch(&image, &pitch, width, height));
  CUDA_CHECK(cudaHostAlloc(&host, width * height, cudaHostAllocMapped));
  CUDA_CHECK(cudaHostGetDevicePointer(&mapped, host, 0));
  const dim3 block(16, 8), grid((width + 15) / 16, (height + 7) / 8);
  draw<<<grid, block>>>(image, pitch, width, height, most);
  draw<<<grid, block>>>(mapped, width, width, height, most);  // straight into the host's memory
  CUDA_CHECK(cudaDeviceSynchronize());
  std::vector<unsigned char> copied(width * height);
  CUDA_CHECK(cudaMemcpy2D(copied.data(), width, image, pitch, width, height, cudaMemcpyDeviceToHost));
  int wrong = 0, different = 0;
  for (int y = 0; y < height; ++y)
    for (int x = 0; x < width; ++x) {
      different += copied[y * width + x] != host[y * width + x];
      wrong += copied[y * width + x] != iterations((x - width / 2) * 0.0625f, (y - height / 2) * 0.0625f, most);
    }
  expect(different == 0, "both ways draw the same");
  expect(wrong <= width * height / 50, "the picture");  // points on the edge feel the last bit
  const cuDoubleComplex q = cuCdiv(make_cuDoubleComplex(1, 2), make_cuDoubleComplex(3, -4));
  expect(std::fabs(cuCreal(q) + 0.2) < 1e-15 && std::fabs(cuCimag(q) - 0.4) < 1e-15, "a quotient");
  CUDA_CHECK(cudaFree(image));
  CUDA_CHECK(cudaFreeHost(host));
  std::puts("ok");
}
