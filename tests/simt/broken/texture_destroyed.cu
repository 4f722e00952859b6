// expects: not a texture object at 5, cudaErrorLaunchFailure
// A kernel reads a texture object that has been destroyed.
#include <cstdio>

__global__ void read(cudaTextureObject_t t, float* out) { *out = tex1D<float>(t, 0.5f); }

int main() {
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  cudaArray_t array;
  cudaMallocArray(&array, &format, 8);
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc desc = {};
  cudaTextureObject_t texture;
  cudaCreateTextureObject(&texture, &resource, &desc, nullptr);
  cudaDestroyTextureObject(texture);
  float* out;
  cudaMalloc(&out, sizeof(float));
  read<<<1, 1>>>(texture, out);
  cudaError_t e = cudaDeviceSynchronize();
  std::puts(cudaGetErrorName(e));
  return e != cudaSuccess;
}
