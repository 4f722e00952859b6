// A 3D stencil on pitched volumes: cudaMalloc3D, cudaMemcpy3D of an inner box, and ranges for the profiler.
#include <nvtx3/nvToolsExt.h>

#include "../sample.hpp"

__global__ void smooth(cudaPitchedPtr in, cudaPitchedPtr out, int nx, int ny, int nz) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= nx || y >= ny) return;
  auto row = [](const cudaPitchedPtr& p, int j, int k, int rows) {
    return reinterpret_cast<float*>(static_cast<char*>(p.ptr) + (static_cast<size_t>(k) * rows + j) * p.pitch);
  };
  for (int z = 0; z < nz; ++z) {
    const float* own = row(in, y, z, ny);
    float v = own[x];
    if (x > 0 && y > 0 && z > 0 && x < nx - 1 && y < ny - 1 && z < nz - 1)
      v = (own[x - 1] + own[x + 1] + row(in, y - 1, z, ny)[x] + row(in, y + 1, z, ny)[x] + row(in, y, z - 1, ny)[x] +
           row(in, y, z + 1, ny)[x]) /
          6;
    row(out, y, z, ny)[x] = v;
  }
}

int main() {
  const int nx = 21, ny = 13, nz = 9;
  Random random(6);
  std::vector<float> in = random.floats(nx * ny * nz), got(in.size()), want = in;
  auto at = [&](const std::vector<float>& v, int x, int y, int z) { return v[(z * ny + y) * nx + x]; };
  for (int z = 1; z < nz - 1; ++z)
    for (int y = 1; y < ny - 1; ++y)
      for (int x = 1; x < nx - 1; ++x)
        want[(z * ny + y) * nx + x] = (at(in, x - 1, y, z) + at(in, x + 1, y, z) + at(in, x, y - 1, z) +
                                       at(in, x, y + 1, z) + at(in, x, y, z - 1) + at(in, x, y, z + 1)) /
                                      6;

  nvtxRangePushA("upload");
  const cudaExtent extent = make_cudaExtent(nx * sizeof(float), ny, nz);
  cudaPitchedPtr a, b;
  CUDA_CHECK(cudaMalloc3D(&a, extent));
  CUDA_CHECK(cudaMalloc3D(&b, extent));
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(in.data(), nx * sizeof(float), nx, ny);
  copy.dstPtr = a;
  copy.extent = extent;
  copy.kind = cudaMemcpyHostToDevice;
  CUDA_CHECK(cudaMemcpy3D(&copy));
  nvtxRangePop();
  nvtxMarkA("compute");
  smooth<<<dim3((nx + 7) / 8, (ny + 7) / 8), dim3(8, 8)>>>(a, b, nx, ny, nz);
  copy = {};
  copy.srcPtr = b;
  copy.dstPtr = make_cudaPitchedPtr(got.data(), nx * sizeof(float), nx, ny);
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToHost;
  CUDA_CHECK(cudaMemcpy3D(&copy));
  expect_close(got, want, 1e-6, "volume");
  // One inner box alone.
  std::vector<float> box(4 * 3 * 2);
  copy.srcPos = make_cudaPos(5 * sizeof(float), 6, 2);
  copy.dstPtr = make_cudaPitchedPtr(box.data(), 4 * sizeof(float), 4, 3);
  copy.extent = make_cudaExtent(4 * sizeof(float), 3, 2);
  CUDA_CHECK(cudaMemcpy3D(&copy));
  expect(box[0] == got[(2 * ny + 6) * nx + 5] && box[23] == got[(3 * ny + 8) * nx + 8], "inner box");
  CUDA_CHECK(cudaFree(a.ptr));
  CUDA_CHECK(cudaFree(b.ptr));
  std::puts("ok");
}
