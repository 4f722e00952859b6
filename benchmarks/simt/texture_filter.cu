// Linear filters of textures beside the emulator's rounding of their weights (runtime/simt/src/kernel/textures.cpp).
//
//   nvcc -std=c++17 -arch=native benchmarks/simt/texture_filter.cu -o filter && ./filter
//
// prints one line of JSON for each number of dimensions: the points, how many results are equal within 1e-6, the largest difference.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

// out: (n). The texture at n points (x, y, z).
__global__ void read(cudaTextureObject_t t, int dimensions, const float* x, const float* y, const float* z,
                     float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = dimensions == 1   ? tex1D<float>(t, x[i])
           : dimensions == 2 ? tex2D<float>(t, x[i], y[i])
                             : tex3D<float>(t, x[i], y[i], z[i]);
}

static int share(int whole, int part) { return (whole * part + 128) / 256; }

int main() {
  const int n = 16384;
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(-1, 1);
  cudaDeviceProp properties;
  int driver = 0;
  cudaGetDeviceProperties(&properties, 0);
  cudaDriverGetVersion(&driver);
  for (int dimensions = 1; dimensions <= 3; ++dimensions) {
    const int size[3] = {16, dimensions > 1 ? 9 : 1, dimensions > 2 ? 5 : 1};
    std::vector<float> texels(size[0] * size[1] * size[2]), at[3], got(n);
    for (float& v : texels) v = uniform(random);
    const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    cudaMalloc3DArray(&array, &format,
                      make_cudaExtent(size[0], dimensions > 1 ? size[1] : 0, dimensions > 2 ? size[2] : 0));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(texels.data(), size[0] * 4, size[0], size[1]);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(size[0], size[1], size[2]);
    copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    cudaTextureDesc desc = {};
    desc.filterMode = cudaFilterModeLinear;
    for (cudaTextureAddressMode& m : desc.addressMode) m = cudaAddressModeClamp;
    cudaTextureObject_t texture;
    cudaCreateTextureObject(&texture, &resource, &desc, nullptr);
    float *on[3], *out;
    for (int d = 0; d < 3; ++d) {
      for (int i = 0; i < n; ++i) at[d].push_back((uniform(random) + 1) * size[d] / 2);
      cudaMalloc(&on[d], n * 4);
      cudaMemcpy(on[d], at[d].data(), n * 4, cudaMemcpyHostToDevice);
    }
    cudaMalloc(&out, n * 4);
    read<<<n / 256, 256>>>(texture, dimensions, on[0], on[1], on[2], out);
    const cudaError_t error = cudaMemcpy(got.data(), out, n * 4, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
      std::printf("%s\n", cudaGetErrorString(error));
      return 1;
    }
    int equal = 0;
    double largest = 0;
    for (int i = 0; i < n; ++i) {
      int low[3] = {0, 0, 0}, part[3] = {0, 0, 0}, weights[8] = {};
      for (int d = 0; d < dimensions; ++d) {
        const double whole = std::floor(at[d][i] - 0.5);
        low[d] = (int)whole, part[d] = (int)((at[d][i] - 0.5 - whole) * 256 + 0.5);
      }
      const int x = part[0], y = part[1], both = share(x, y);
      weights[3] = both, weights[1] = x - both, weights[2] = y - both, weights[0] = 256 - x - y + both;
      for (int far = 0; dimensions == 3 && far < 2; ++far) {
        const int plane = far ? part[2] : 256 - part[2], right = share(plane, x), left = plane - right;
        weights[4 * far + 3] = share(right, y), weights[4 * far + 1] = right - weights[4 * far + 3];
        weights[4 * far + 2] = share(left, y), weights[4 * far] = left - weights[4 * far + 2];
      }
      double sum = 0;
      for (int corner = 0; corner < 1 << dimensions; ++corner) {
        int p[3];
        for (int d = 0; d < 3; ++d) p[d] = std::min(std::max(low[d] + (corner >> d & 1), 0), size[d] - 1);
        sum += weights[corner] / 256.0 * texels[(p[2] * size[1] + p[1]) * size[0] + p[0]];
      }
      const double difference = std::fabs(sum - got[i]);
      equal += difference < 1e-6;
      largest = std::max(largest, difference);
    }
    std::printf(
        "{\"device\": \"%s\", \"cuda\": %d, \"dimensions\": %d, \"points\": %d, \"equal\": %d, \"largest\": %g}\n",
        properties.name, driver, dimensions, n, equal, largest);
    cudaDestroyTextureObject(texture);
    cudaFreeArray(array);
  }
}
