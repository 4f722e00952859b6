// Surface objects: bytes by coordinates, the modes at the boundary, layers; then the array is read through a texture.
#include <cstdio>
#include <vector>

#define CHECK(call)                                                  \
  do {                                                               \
    cudaError_t e = (call);                                          \
    if (e != cudaSuccess) {                                          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
      return 1;                                                      \
    }                                                                \
  } while (0)

constexpr int kWidth = 45, kHeight = 23, kLayers = 3;

// s: (kHeight, kWidth) of float2.
__global__ void fill(cudaSurfaceObject_t s) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  // The grid is larger than the surface: what is outside is not written.
  surf2Dwrite(make_float2(x + 0.5f, y * 100.0f), s, x * (int)sizeof(float2), y, cudaBoundaryModeZero);
}
// Mirrors `from` into `to`, and adds the neighbour on the left: 0 outside.
__global__ void mirror(cudaSurfaceObject_t from, cudaSurfaceObject_t to) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= kWidth || y >= kHeight) return;
  float2 v = surf2Dread<float2>(from, x * 8, y), left;
  surf2Dread(&left, from, (x - 1) * 8, y, cudaBoundaryModeZero);
  v.x += left.x;
  surf2Dwrite(v, to, (kWidth - 1 - x) * 8, y);
}
__global__ void number_layers(cudaSurfaceObject_t s) {
  const int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  surf2DLayeredwrite((unsigned char)(x + y * 3 + z * 50), s, x, y, z);
}
__global__ void clamped(cudaSurfaceObject_t s, unsigned char* out) {
  out[threadIdx.x] = surf2DLayeredread<unsigned char>(s, (int)threadIdx.x - 5, 40, 1, cudaBoundaryModeClamp);
}
__global__ void through_texture(cudaTextureObject_t t, float2* out) {
  const int x = threadIdx.x, y = blockIdx.x;
  out[y * kWidth + x] = tex2D<float2>(t, x + 0.5f, y + 0.5f);
}

static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

int main() {
  const cudaChannelFormatDesc pairs = cudaCreateChannelDesc<float2>();
  const cudaChannelFormatDesc bytes = cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
  cudaArray_t first, second, layers;
  CHECK(cudaMallocArray(&first, &pairs, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMallocArray(&second, &pairs, kWidth, kHeight, cudaArraySurfaceLoadStore));
  CHECK(cudaMalloc3DArray(&layers, &bytes, make_cudaExtent(kWidth, kHeight, kLayers),
                          cudaArrayLayered | cudaArraySurfaceLoadStore));
  const cudaResourceDesc a = of(first), b = of(second), c = of(layers);
  cudaSurfaceObject_t from, to, numbers, refused;
  CHECK(cudaCreateSurfaceObject(&from, &a));
  CHECK(cudaCreateSurfaceObject(&to, &b));
  CHECK(cudaCreateSurfaceObject(&numbers, &c));
  cudaResourceDesc memory = {};
  memory.resType = cudaResourceTypeLinear;
  if (cudaCreateSurfaceObject(&refused, &memory) == cudaSuccess) {
    std::printf("a surface needs an array\n");
    return 1;
  }
  cudaGetLastError();

  const dim3 block(16, 8), grid((kWidth + 15) / 16, (kHeight + 7) / 8);
  fill<<<grid, block>>>(from);
  mirror<<<grid, block>>>(from, to);
  number_layers<<<dim3(kHeight, kLayers), kWidth>>>(numbers);
  unsigned char* row;
  float2* out;
  CHECK(cudaMalloc(&row, 64));
  CHECK(cudaMalloc(&out, kWidth * kHeight * sizeof(float2)));
  clamped<<<1, 64>>>(numbers, row);
  cudaTextureDesc desc = {};
  desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &b, &desc, nullptr));
  through_texture<<<kHeight, kWidth>>>(t, out);

  std::vector<float2> got(kWidth * kHeight), copied(kWidth * kHeight);
  std::vector<unsigned char> got_row(64);
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(float2), cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(got_row.data(), row, 64, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy2DFromArray(copied.data(), kWidth * 8, second, 0, 0, kWidth * 8, kHeight, cudaMemcpyDeviceToHost));
  int wrong = 0;
  for (int y = 0; y < kHeight; ++y)
    for (int x = 0; x < kWidth; ++x) {
      const int source = kWidth - 1 - x;
      const float want = source + 0.5f + (source > 0 ? source - 0.5f : 0);
      const int i = y * kWidth + x;
      if ((got[i].x != want || got[i].y != y * 100.0f || copied[i].x != want || copied[i].y != got[i].y) && wrong++ < 5)
        std::printf("(%d, %d): %g, %g, not %g\n", x, y, got[i].x, copied[i].x, want);
    }
  for (int i = 0; i < 64; ++i) {
    const int x = i - 5 < 0 ? 0 : i - 5 >= kWidth ? kWidth - 1 : i - 5;
    const unsigned char want = (unsigned char)(x + (kHeight - 1) * 3 + 50);
    if (got_row[i] != want && wrong++ < 5) std::printf("byte %d: %d, not %d\n", i, got_row[i], want);
  }
  CHECK(cudaDestroyTextureObject(t));
  for (cudaSurfaceObject_t s : {from, to, numbers}) CHECK(cudaDestroySurfaceObject(s));
  for (cudaArray_t array : {first, second, layers}) CHECK(cudaFreeArray(array));
  CHECK(cudaFree(row));
  CHECK(cudaFree(out));
  std::printf(wrong == 0 ? "ok\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
