// Every other form of the functions of textures and surfaces: one dimension, levels (a texture has one), layers of rows, copies of
// arrays, and what an object says of itself.
#include <cmath>
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

constexpr int kWidth = 40, kHeight = 12, kDepth = 3;

// row: (kWidth), plane: (kHeight, kWidth), cube: (kDepth, kHeight, kWidth); the value of an element is its index.
__global__ void read(cudaTextureObject_t row, cudaTextureObject_t rows, cudaTextureObject_t plane,
                     cudaTextureObject_t layers, cudaTextureObject_t cube, float* out) {
  const float x = threadIdx.x + 0.5f, y = 3.5f, z = 1.5f;
  const float2 d2 = make_float2(0, 0);
  const float4 d4 = make_float4(0, 0, 0, 0);
  float one, two, fetched_like;
  tex1D(&one, row, x);
  tex2D(&two, plane, x, y);
  tex3D(&fetched_like, cube, x, y, z);
  const float values[] = {tex1D<float>(row, x),
                          tex1DLod<float>(row, x, 0),
                          tex1DGrad<float>(row, x, 0, 0),
                          one,
                          tex1DLayered<float>(rows, x, 2),
                          tex1DLayeredLod<float>(rows, x, 2, 0),
                          tex1DLayeredGrad<float>(rows, x, 2, 0, 0),
                          two,
                          tex2DLod<float>(plane, x, y, 0),
                          tex2DGrad<float>(plane, x, y, d2, d2),
                          tex2DLayeredLod<float>(layers, x, y, 1, 0),
                          tex2DLayeredGrad<float>(layers, x, y, 1, d2, d2),
                          fetched_like,
                          tex3DLod<float>(cube, x, y, z, 0),
                          tex3DGrad<float>(cube, x, y, z, d4, d4)};
  for (int i = 0; i < 15; ++i) out[threadIdx.x * 15 + i] = values[i];
}
// Doubles what is there.
__global__ void write(cudaSurfaceObject_t row, cudaSurfaceObject_t rows, cudaSurfaceObject_t cube) {
  const int x = threadIdx.x * 4;
  surf1Dwrite(2 * surf1Dread<float>(row, x), row, x);
  surf1DLayeredwrite(2 * surf1DLayeredread<float>(rows, x, 2), rows, x, 2);
  surf3Dwrite(2 * surf3Dread<float>(cube, x, 3, 1), cube, x, 3, 1);
}

static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

int main() {
  std::vector<float> numbers(kWidth * kHeight * kDepth);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = (float)i;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  const unsigned flags = cudaArraySurfaceLoadStore;
  cudaArray_t row, rows, plane, layers, cube, copy;
  CHECK(cudaMallocArray(&row, &format, kWidth, 0, flags));
  CHECK(cudaMalloc3DArray(&rows, &format, make_cudaExtent(kWidth, 0, kDepth), cudaArrayLayered | flags));
  CHECK(cudaMallocArray(&plane, &format, kWidth, kHeight));
  CHECK(cudaMallocArray(&copy, &format, kWidth, kHeight));
  CHECK(cudaMalloc3DArray(&layers, &format, make_cudaExtent(kWidth, kHeight, kDepth), cudaArrayLayered));
  CHECK(cudaMalloc3DArray(&cube, &format, make_cudaExtent(kWidth, kHeight, kDepth), flags));
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemcpy2DToArray(row, 0, 0, numbers.data(), kWidth * 4, kWidth * 4, 1, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy2DToArrayAsync(plane, 0, 0, numbers.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice,
                                 stream));
  CHECK(cudaMemcpy2DArrayToArray(copy, 0, 0, plane, 0, 0, kWidth * 4, kHeight));
  cudaMemcpy3DParms p = {};
  p.kind = cudaMemcpyHostToDevice;
  for (cudaArray_t to : {rows, layers, cube}) {
    const int height = to == rows ? 1 : kHeight;
    p.srcPtr = make_cudaPitchedPtr(numbers.data(), kWidth * 4, kWidth, height);
    p.dstArray = to;
    p.extent = make_cudaExtent(kWidth, height, kDepth);
    CHECK(cudaMemcpy3DAsync(&p, stream));
  }
  CHECK(cudaStreamSynchronize(stream));

  cudaTextureDesc desc = {};
  for (cudaTextureAddressMode& m : desc.addressMode) m = cudaAddressModeClamp;
  const cudaArray_t arrays[] = {row, rows, copy, layers, cube};
  cudaTextureObject_t textures[5];
  for (int i = 0; i < 5; ++i) {
    const cudaResourceDesc resource = of(arrays[i]);
    CHECK(cudaCreateTextureObject(&textures[i], &resource, &desc, nullptr));
  }
  cudaResourceDesc said;
  cudaTextureDesc how;
  cudaChannelFormatDesc seen;
  CHECK(cudaGetTextureObjectResourceDesc(&said, textures[4]));
  CHECK(cudaGetTextureObjectTextureDesc(&how, textures[4]));
  CHECK(cudaGetChannelDesc(&seen, cube));
  int wrong = said.res.array.array != cube || how.addressMode[2] != cudaAddressModeClamp || seen.x != 32;
  const cudaChannelFormatDesc half = cudaCreateChannelDescHalf(), halves = cudaCreateChannelDescHalf2();
  wrong += half.x != 16 || half.y != 0 || halves.y != 16 || cudaCreateChannelDescHalf1().x != 16 ||
           cudaCreateChannelDescHalf4().w != 16 || half.f != cudaChannelFormatKindFloat;

  float* out;
  CHECK(cudaMalloc(&out, kWidth * 15 * sizeof(float)));
  read<<<1, kWidth>>>(textures[0], textures[1], textures[2], textures[3], textures[4], out);
  std::vector<float> got(kWidth * 15);
  CHECK(cudaMemcpy(got.data(), out, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (int x = 0; x < kWidth; ++x)
    for (int i = 0; i < 15; ++i) {
      const int slice = kWidth * kHeight;
      const int want = x + (i < 4 ? 0 : i < 7 ? 2 * kWidth : i < 10 ? 3 * kWidth : slice + 3 * kWidth);
      if (got[x * 15 + i] != (float)want && wrong++ < 5)
        std::printf("form %d at %d: %g, not %d\n", i, x, got[x * 15 + i], want);
    }

  cudaSurfaceObject_t surfaces[3];
  const cudaArray_t written[] = {row, rows, cube};
  for (int i = 0; i < 3; ++i) {
    const cudaResourceDesc resource = of(written[i]);
    CHECK(cudaCreateSurfaceObject(&surfaces[i], &resource));
  }
  CHECK(cudaGetSurfaceObjectResourceDesc(&said, surfaces[0]));
  wrong += said.res.array.array != row;
  write<<<1, kWidth>>>(surfaces[0], surfaces[1], surfaces[2]);
  std::vector<float> line(kWidth);
  CHECK(cudaMemcpy2DFromArrayAsync(line.data(), kWidth * 4, row, 0, 0, kWidth * 4, 1, cudaMemcpyDeviceToHost, 0));
  CHECK(cudaDeviceSynchronize());
  for (int x = 0; x < kWidth; ++x)
    if (line[x] != 2.0f * x && wrong++ < 5) std::printf("row %d: %g\n", x, line[x]);
  std::vector<float> back(numbers.size());
  cudaMemcpy3DParms out_of = {};
  out_of.srcArray = cube;
  out_of.dstPtr = make_cudaPitchedPtr(back.data(), kWidth * 4, kWidth, kHeight);
  out_of.extent = make_cudaExtent(kWidth, kHeight, kDepth);
  out_of.kind = cudaMemcpyDeviceToHost;
  CHECK(cudaMemcpy3D(&out_of));
  for (std::size_t i = 0; i < back.size(); ++i) {
    const bool doubled = i / (kWidth * kHeight) == 1 && i / kWidth % kHeight == 3;
    if (back[i] != (doubled ? 2 : 1) * numbers[i] && wrong++ < 5) std::printf("element %zu: %g\n", i, back[i]);
  }
  // A row of an array ends where its texels do, though its memory is longer.
  out_of.srcPos = make_cudaPos(1, 0, 0);
  wrong += cudaMemcpy3D(&out_of) != cudaErrorInvalidValue;
  wrong += cudaMemcpy2DFromArray(line.data(), kWidth * 4, row, 4, 0, kWidth * 4, 1, cudaMemcpyDeviceToHost) !=
           cudaErrorInvalidValue;
  cudaGetLastError();
  for (cudaTextureObject_t t : textures) CHECK(cudaDestroyTextureObject(t));
  for (cudaSurfaceObject_t s : surfaces) CHECK(cudaDestroySurfaceObject(s));
  for (cudaArray_t a : {row, rows, plane, layers, cube, copy}) CHECK(cudaFreeArray(a));
  CHECK(cudaFree(out));
  CHECK(cudaStreamDestroy(stream));
  std::printf(wrong == 0 ? "ok\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
