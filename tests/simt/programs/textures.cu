// Texture objects: address modes, filters, formats, layers and gathers, against the same in double precision on the host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#define CHECK(call)                                                  \
  do {                                                               \
    cudaError_t e = (call);                                          \
    if (e != cudaSuccess) {                                          \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); \
      return 1;                                                      \
    }                                                                \
  } while (0)

constexpr int kWidth = 37, kHeight = 19, kDepth = 5, kPoints = 1021;

// out: (n). The texture at n points (x, y, z).
__global__ void read_2d(cudaTextureObject_t t, const float* x, const float* y, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float>(t, x[i], y[i]);
}
__global__ void read_3d(cudaTextureObject_t t, const float* x, const float* y, const float* z, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tex3D(&out[i], t, x[i], y[i], z[i]);
}
__global__ void read_layer(cudaTextureObject_t t, const float* x, const float* y, const float* z, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2DLayered<float>(t, x[i], y[i], (int)z[i]);
}
__global__ void read_bytes(cudaTextureObject_t t, const float* x, const float* y, uchar4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<uchar4>(t, x[i], y[i]);
}
__global__ void read_normalized(cudaTextureObject_t t, const float* x, const float* y, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2D<float4>(t, x[i], y[i]);
}
__global__ void fetch(cudaTextureObject_t t, int2* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<int2>(t, i - 3);
}
__global__ void gather(cudaTextureObject_t t, const float* x, const float* y, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex2Dgather<float4>(t, x[i], y[i], 0);
}

static int place(long i, int size, cudaTextureAddressMode mode, bool normalized) {
  if (!normalized && mode != cudaAddressModeBorder) mode = cudaAddressModeClamp;
  if (i >= 0 && i < size) return (int)i;
  if (mode == cudaAddressModeBorder) return -1;
  if (mode == cudaAddressModeClamp) return i < 0 ? 0 : size - 1;
  const long whole = i >= 0 ? i / size : -((-i + size - 1) / size), in = i - whole * size;
  return (int)(mode == cudaAddressModeMirror && whole % 2 != 0 ? size - 1 - in : in);
}

struct Reference {
  const float* data;
  int size[3];
  cudaTextureDesc desc;
  int axes;
  double texel(const long* at) const {
    std::size_t index = 0, stride = 1;
    for (int d = 0; d < axes; ++d) {
      const int p = place(at[d], size[d], desc.addressMode[d], desc.normalizedCoords != 0);
      if (p < 0) return desc.borderColor[0];
      index += p * stride, stride *= size[d];
    }
    return data[index];
  }
  double operator()(const float* point) const {
    double at[3];
    long low[3];
    for (int d = 0; d < axes; ++d) {
      at[d] = desc.normalizedCoords ? (double)point[d] * size[d] : point[d];
      if (desc.filterMode == cudaFilterModeLinear) at[d] -= 0.5;
      low[d] = (long)std::floor(at[d]);
    }
    if (desc.filterMode == cudaFilterModePoint) return texel(low);
    double sum = 0;
    for (int corner = 0; corner < 1 << axes; ++corner) {
      double w = 1;
      long p[3];
      for (int d = 0; d < axes; ++d) {
        const bool far = corner >> d & 1;
        const double part = at[d] - low[d];
        w *= far ? part : 1 - part;
        p[d] = low[d] + far;
      }
      sum += w * texel(p);
    }
    return sum;
  }
};

template <class T>
static T* device(const std::vector<T>& v) {
  T* p = nullptr;
  cudaMalloc(&p, v.size() * sizeof(T));
  cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
static std::vector<T> host(const T* p, std::size_t n) {
  std::vector<T> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  return v;
}

static cudaResourceDesc of(cudaArray_t a) {
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}

int main() {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> cube(kWidth * kHeight * kDepth);
  for (float& v : cube) v = value(random);

  cudaArray_t plane, volume, layers;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  CHECK(cudaMallocArray(&plane, &format, kWidth, kHeight, cudaArrayTextureGather));
  CHECK(cudaMemcpy2DToArray(plane, 0, 0, cube.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  CHECK(cudaMalloc3DArray(&volume, &format, make_cudaExtent(kWidth, kHeight, kDepth)));
  CHECK(cudaMalloc3DArray(&layers, &format, make_cudaExtent(kWidth, kHeight, kDepth), cudaArrayLayered));
  for (cudaArray_t to : {volume, layers}) {
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(cube.data(), kWidth * 4, kWidth, kHeight);
    p.dstArray = to;
    p.extent = make_cudaExtent(kWidth, kHeight, kDepth);
    p.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&p));
  }
  cudaExtent extent;
  cudaChannelFormatDesc seen;
  CHECK(cudaArrayGetInfo(&seen, &extent, nullptr, volume));
  if (extent.width != kWidth || extent.depth != kDepth || seen.x != 32 || seen.f != cudaChannelFormatKindFloat) {
    std::printf("cudaArrayGetInfo\n");
    return 1;
  }

  float* out;
  CHECK(cudaMalloc(&out, kPoints * 4));
  int wrong = 0;
  for (int normalized : {0, 1})
    for (cudaTextureFilterMode filter : {cudaFilterModePoint, cudaFilterModeLinear})
      for (cudaTextureAddressMode mode :
           {cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder}) {
        std::vector<float> at[3];
        const int size[3] = {kWidth, kHeight, kDepth};
        float* on[3];
        for (int d = 0; d < 3; ++d) {
          // Between the eighths of a texel, so that rounding decides nothing.
          for (int i = 0; i < kPoints; ++i) {
            const int eighth = (int)(random() % (size[d] * 24)) - size[d] * 8;
            const float texel = eighth / 8.0f + 1 / 16.0f;
            at[d].push_back(normalized ? texel / size[d] : texel);
          }
          on[d] = device(at[d]);
        }
        cudaTextureDesc desc = {};
        for (cudaTextureAddressMode& m : desc.addressMode) m = mode;
        desc.filterMode = filter;
        desc.readMode = cudaReadModeElementType;
        desc.normalizedCoords = normalized;
        desc.borderColor[0] = 0.25f;
        for (int what = 0; what < 3; ++what) {
          const cudaResourceDesc resource = of(what == 0 ? plane : what == 1 ? volume : layers);
          cudaTextureObject_t t = 0;
          CHECK(cudaCreateTextureObject(&t, &resource, &desc, nullptr));
          std::vector<float> layer(kPoints);
          for (int i = 0; i < kPoints; ++i) layer[i] = (float)(i % (kDepth + 2) - 1);
          float* on_layer = device(layer);
          const int blocks = (kPoints + 127) / 128;
          if (what == 0) read_2d<<<blocks, 128>>>(t, on[0], on[1], out, kPoints);
          if (what == 1) read_3d<<<blocks, 128>>>(t, on[0], on[1], on[2], out, kPoints);
          if (what == 2) read_layer<<<blocks, 128>>>(t, on[0], on[1], on_layer, out, kPoints);
          const std::vector<float> got = host(out, kPoints);
          for (int i = 0; i < kPoints; ++i) {
            // Layers have no sign: -1 is beyond the last one, too.
            const int l = what == 2 ? (int)std::min((unsigned)(int)layer[i], kDepth - 1u) : 0;
            const Reference reference = {
                cube.data() + l * kWidth * kHeight, {kWidth, kHeight, kDepth}, desc, what == 1 ? 3 : 2};
            const float point[3] = {at[0][i], at[1][i], at[2][i]};
            const double want = reference(point);
            // Weights have eight bits; float coordinates far outside have fewer.
            if (!(std::fabs(got[i] - want) <= (filter == cudaFilterModeLinear ? 0.03 : 0)) && wrong++ < 5)
              std::printf("texture %d, normalized %d, filter %d, mode %d at (%g, %g, %g): %g, not %g\n", what,
                          normalized, filter, mode, point[0], point[1], point[2], got[i], want);
          }
          CHECK(cudaDestroyTextureObject(t));
          CHECK(cudaFree(on_layer));
        }
        for (float* p : on) CHECK(cudaFree(p));
      }

  // Bytes, as they are and as parts of 1, from pitched memory.
  std::vector<uchar4> pixels(kWidth * kHeight);
  for (uchar4& p : pixels) p = make_uchar4(random() % 256, random() % 256, random() % 256, random() % 256);
  uchar4* rows;
  std::size_t pitch;
  CHECK(cudaMallocPitch(&rows, &pitch, kWidth * sizeof(uchar4), kHeight));
  CHECK(cudaMemcpy2D(rows, pitch, pixels.data(), kWidth * 4, kWidth * 4, kHeight, cudaMemcpyHostToDevice));
  cudaResourceDesc pitched = {};
  pitched.resType = cudaResourceTypePitch2D;
  pitched.res.pitch2D.devPtr = rows;
  pitched.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
  pitched.res.pitch2D.width = kWidth;
  pitched.res.pitch2D.height = kHeight;
  pitched.res.pitch2D.pitchInBytes = pitch;
  std::vector<float> x, y;
  for (int i = 0; i < kPoints; ++i) x.push_back(i % kWidth + 0.5f), y.push_back(i / kWidth % kHeight + 0.5f);
  float *on_x = device(x), *on_y = device(y);
  cudaTextureDesc plain = {};
  plain.addressMode[0] = plain.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t bytes, parts;
  CHECK(cudaCreateTextureObject(&bytes, &pitched, &plain, nullptr));
  plain.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&parts, &pitched, &plain, nullptr));
  uchar4* four;
  float4* four_parts;
  CHECK(cudaMalloc(&four, kPoints * sizeof(uchar4)));
  CHECK(cudaMalloc(&four_parts, kPoints * sizeof(float4)));
  read_bytes<<<8, 128>>>(bytes, on_x, on_y, four, kPoints);
  read_normalized<<<8, 128>>>(parts, on_x, on_y, four_parts, kPoints);
  const std::vector<uchar4> got = host(four, kPoints);
  const std::vector<float4> got_parts = host(four_parts, kPoints);
  for (int i = 0; i < kPoints; ++i) {
    const uchar4 want = pixels[i % (kWidth * kHeight)];
    if ((got[i].x != want.x || got[i].w != want.w || std::fabs(got_parts[i].y * 255 - want.y) > 1e-3) && wrong++ < 5)
      std::printf("pixel %d\n", i);
  }

  // Pairs of integers in linear memory: outside there is 0.
  std::vector<int2> pairs(300);
  for (int2& p : pairs) p = make_int2((int)random(), (int)random());
  int2* on_pairs = device(pairs);
  cudaResourceDesc linear = {};
  linear.resType = cudaResourceTypeLinear;
  linear.res.linear.devPtr = on_pairs;
  linear.res.linear.desc = cudaCreateChannelDesc<int2>();
  linear.res.linear.sizeInBytes = pairs.size() * sizeof(int2);
  const cudaTextureDesc none = {};
  cudaTextureObject_t list;
  CHECK(cudaCreateTextureObject(&list, &linear, &none, nullptr));
  int2* fetched;
  CHECK(cudaMalloc(&fetched, 310 * sizeof(int2)));
  fetch<<<3, 128>>>(list, fetched, 310);
  const std::vector<int2> got_pairs = host(fetched, 310);
  for (int i = 0; i < 310; ++i) {
    const int at = i - 3;
    const int2 want = at < 0 || at >= 300 ? make_int2(0, 0) : pairs[at];
    if ((got_pairs[i].x != want.x || got_pairs[i].y != want.y) && wrong++ < 5) std::printf("pair %d\n", i);
  }

  // The four texels of a filter.
  const cudaResourceDesc resource = of(plane);
  cudaTextureDesc clamped = {};
  clamped.addressMode[0] = clamped.addressMode[1] = cudaAddressModeClamp;
  cudaTextureObject_t corners;
  CHECK(cudaCreateTextureObject(&corners, &resource, &clamped, nullptr));
  for (float& v : x) v += 0.4f;
  CHECK(cudaMemcpy(on_x, x.data(), kPoints * 4, cudaMemcpyHostToDevice));
  gather<<<8, 128>>>(corners, on_x, on_y, four_parts, kPoints);
  const std::vector<float4> got_corners = host(four_parts, kPoints);
  for (int i = 0; i < kPoints; ++i) {
    auto texel = [&](int dx, int dy) {
      const int column = std::min(i % kWidth + dx, kWidth - 1), row = std::min(i / kWidth % kHeight + dy, kHeight - 1);
      return cube[row * kWidth + column];
    };
    const float4 g = got_corners[i];
    if ((g.x != texel(0, 1) || g.y != texel(1, 1) || g.z != texel(1, 0) || g.w != texel(0, 0)) && wrong++ < 5)
      std::printf("gather %d\n", i);
  }
  for (cudaTextureObject_t t : {bytes, parts, list, corners}) CHECK(cudaDestroyTextureObject(t));
  for (cudaArray_t a : {plane, volume, layers}) CHECK(cudaFreeArray(a));
  CHECK(cudaFree(rows));
  std::printf(wrong == 0 ? "ok\n" : "%d wrong\n", wrong);
  return wrong != 0;
}
