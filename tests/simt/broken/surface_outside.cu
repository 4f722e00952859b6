// expects: outside of the surface at 5, cudaErrorLaunchFailure
// x of a surface is in bytes: the row of 8 floats has 32.
#include <cstdio>

__global__ void write(cudaSurfaceObject_t s) { surf1Dwrite(1.0f, s, 4 * (int)threadIdx.x); }

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 8, 0, cudaArraySurfaceLoadStore);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaSurfaceObject_t surface;
  cudaCreateSurfaceObject(&surface, &resource);
  write<<<1, 9>>>(surface);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
