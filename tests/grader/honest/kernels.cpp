#include "kernels.hpp"

namespace ridge::test {

namespace {

const std::string kCopy =
    "void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream)";
const std::string kTranspose =
    "void transpose(const float* in, float* out, int rows, int cols, void*, std::size_t, cudaStream_t stream)";
const std::string kAos =
    "void aos_to_soa(const Particle* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream)";

KernelForm copy(const std::string& name, const std::string& code, const std::string& launch, std::vector<int> blocks) {
  return {"01_coalescing", "coalescing.hpp", "copy", "copy.cu", name, kCopy, code, launch, "out", std::move(blocks)};
}
KernelForm transpose(const std::string& name, const std::string& code, const std::string& launch,
                     std::vector<int> blocks) {
  return {"01_coalescing", "coalescing.hpp", "transpose", "transpose.cu", name, kTranspose, code, launch,
          "out",           std::move(blocks)};
}
KernelForm judged(const std::string& task, const std::string& name, const std::string& signature,
                  const std::string& code, const std::string& launch, const std::string& output,
                  std::vector<int> blocks) {
  return {"90_judged", "judged.hpp", task, task + ".cu", name, signature, code, launch, output, std::move(blocks)};
}

std::vector<KernelForm> make() {
  std::vector<KernelForm> all;
  all.push_back(copy("an element a thread", R"(
__global__ void kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
)",
                     "kernel<<<static_cast<unsigned>((n + @B@ - 1) / @B@), @B@, 0, @S@>>>(in, out, n);",
                     {32, 64, 96, 128, 256, 512, 1024}));
  all.push_back(copy("grid-stride loop", R"(
__global__ void __launch_bounds__(@B@) kernel(const float* __restrict__ in, float* __restrict__ out, std::size_t n) {
  for (std::size_t i = std::size_t{blockIdx.x} * @B@ + threadIdx.x; i < n; i += std::size_t{gridDim.x} * @B@)
    out[i] = in[i];
}
)",
                     "kernel<<<std::max(1u, static_cast<unsigned>(n / 4 / @B@)), @B@, 0, @S@>>>(in, out, n);",
                     {64, 128, 192, 256, 640}));
  // The compiler would like to merge these loads, and to take the copies out of the loop.
  all.push_back(copy("the same vector loads in two branches, and a copy in a loop", R"(
__device__ void load(const float* from, float (&to)[4]) {
  const float4 four = *reinterpret_cast<const float4*>(from);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}
__device__ void store(float* to, const float (&from)[4]) {
  *reinterpret_cast<float4*>(to) = make_float4(from[0], from[1], from[2], from[3]);
}
__global__ void kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 4;
  float x[4];
  if (i + 8 <= n) {
    load(in + i, x);
    store(out + i, x);
    return;
  }
  if (i + 4 <= n) {
    load(in + i, x);
    const float4 old = make_float4(x[0], x[1], x[2], x[3]);
    for (int k = 0; k < 4; ++k) {
      const float4 mine = old;
      x[k] = k == 0 ? mine.x : k == 1 ? mine.y : k == 2 ? mine.z : mine.w;
    }
    store(out + i, x);
    return;
  }
  for (std::size_t k = i; k < n; ++k) out[k] = in[k];
}
)",
                     "kernel<<<static_cast<unsigned>((n + 4 * @B@ - 1) / (4 * @B@)), @B@, 0, @S@>>>(in, out, n);",
                     {64, 256}));
  all.push_back(copy("float4 and a tail", R"(
__global__ void kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * @B@ + threadIdx.x, whole = n / 4;
  if (i < whole) reinterpret_cast<float4*>(out)[i] = reinterpret_cast<const float4*>(in)[i];
  if (i < n % 4) out[whole * 4 + i] = in[whole * 4 + i];
}
)",
                     "kernel<<<static_cast<unsigned>(n / 4 / @B@ + 1), @B@, 0, @S@>>>(in, out, n);", {128, 256, 512}));
  all.push_back(copy("four a thread, unrolled", R"(
template <int kEach>
__global__ void kernel(const float* in, float* out, std::size_t n) {
  const std::size_t first = std::size_t{blockIdx.x} * @B@ * kEach + threadIdx.x;
  float kept[kEach];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (first + std::size_t(k) * @B@ < n) kept[k] = in[first + std::size_t(k) * @B@];
#pragma unroll
  for (int k = 0; k < kEach; ++k)
    if (first + std::size_t(k) * @B@ < n) out[first + std::size_t(k) * @B@] = kept[k];
}
)",
                     "kernel<4><<<static_cast<unsigned>((n + 4 * @B@ - 1) / (4 * @B@)), @B@, 0, @S@>>>(in, out, n);",
                     {64, 128, 256}));
  all.push_back(copy("cudaLaunchKernel", R"(
__global__ void kernel(const float* in, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}
)",
                     "std::size_t count = n;\n  void* arguments[] = {&in, &out, &count};\n"
                     "  cudaLaunchKernel(reinterpret_cast<const void*>(&kernel), "
                     "dim3(static_cast<unsigned>((n + @B@ - 1) / @B@)), dim3(@B@), arguments, 0, @S@);",
                     {128, 256}));
  const std::string tile = R"(
__global__ void kernel(const float* in, float* out, int rows, int cols) {
  __shared__ float tile[32][33];
  const int x = static_cast<int>(threadIdx.x), y0 = static_cast<int>(threadIdx.y);
  const int col0 = static_cast<int>(blockIdx.x) * 32, row0 = static_cast<int>(blockIdx.y) * 32;
  for (int y = y0; y < 32; y += @B@)
    if (row0 + y < rows && col0 + x < cols) tile[y][x] = in[std::size_t(row0 + y) * cols + col0 + x];
  SYNC;
  for (int y = y0; y < 32; y += @B@)
    if (col0 + y < cols && row0 + x < rows) out[std::size_t(col0 + y) * rows + row0 + x] = tile[x][y];
}
)";
  const std::string tile_launch =
      "kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, @B@), 0, @S@>>>(in, out, rows, cols);";
  auto with = [](std::string code, const std::string& from, const std::string& to) {
    for (std::size_t at; (at = code.find(from)) != std::string::npos;) code.replace(at, from.size(), to);
    return code;
  };
  all.push_back(transpose("tile", with(tile, "SYNC", "__syncthreads()"), tile_launch, {4, 8, 16, 32}));
  all.push_back(transpose("tile, cooperative groups",
                          "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n" +
                              with(tile, "SYNC", "cg::this_thread_block().sync()"),
                          tile_launch, {8, 16}));
  all.push_back(transpose("tile in dynamic shared memory",
                          with(with(with(with(tile, "SYNC", "__syncthreads()"), "__shared__ float tile[32][33];",
                                         "extern __shared__ float tile[];"),
                                    "tile[y][x]", "tile[y * 33 + x]"),
                               "tile[x][y]", "tile[x * 33 + y]"),
                          with(tile_launch, ", 0, @S@", ", 32 * 33 * sizeof(float), @S@"), {8, 32}));
  all.push_back({"01_coalescing",
                 "coalescing.hpp",
                 "aos_to_soa",
                 "aos_to_soa.cu",
                 "staged",
                 kAos,
                 R"(
__global__ void kernel(const Particle* in, float* out, std::size_t n) {
  __shared__ float staged[@B@ * 9];
  const std::size_t first = std::size_t{blockIdx.x} * @B@;
  const int count = static_cast<int>(n - first < @B@ ? n - first : @B@), t = static_cast<int>(threadIdx.x);
  const float* flat = reinterpret_cast<const float*>(in + first);
  for (int i = t; i < count * 8; i += @B@) staged[i / 8 * 9 + i % 8] = flat[i];
  __syncthreads();
  if (t < count)
    for (int f = 0; f < kFields; ++f) out[f * n + first + t] = staged[t * 9 + f];
}
)",
                 "kernel<<<static_cast<unsigned>((n + @B@ - 1) / @B@), @B@, 0, @S@>>>(in, out, n);",
                 "out",
                 {64, 128, 256, 512}});
  all.push_back(judged("scale", "an element a thread",
                       "void scale(const float* x, const float* a, float* y, std::size_t n, cudaStream_t stream)", R"(
__device__ __forceinline__ float value(float a, float x) { return fmaf(a, x, expf(x)); }
__global__ void kernel(const float* x, const float* a, float* y, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) y[i] = value(a[0], x[i]);
}
)",
                       "kernel<<<static_cast<unsigned>((n + @B@ - 1) / @B@), @B@, 0, @S@>>>(x, a, y, n);", "y",
                       {64, 128, 256, 512}));
  all.push_back(judged("sum", "tree", "void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream)", R"(
__global__ void kernel(const float* x, float* y, int cols) {
  __shared__ float partial[@B@];
  const float* row = x + std::size_t{blockIdx.x} * cols;
  float mine = 0;
  for (int c = static_cast<int>(threadIdx.x); c < cols; c += @B@) mine += row[c];
  partial[threadIdx.x] = mine;
  for (unsigned half = @B@ / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = partial[0];
}
)",
                       "kernel<<<rows, @B@, 0, @S@>>>(x, y, cols);", "y", {64, 128, 256, 512}));
  all.push_back(
      judged("sum", "shuffles", "void sum(const float* x, float* y, int rows, int cols, cudaStream_t stream)", R"(
__global__ void kernel(const float* x, float* y, int rows, int cols) {
  const int r = static_cast<int>(blockIdx.x * (@B@ / 32) + threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  if (r >= rows) return;
  float mine = 0;
  for (int c = lane; c < cols; c += 32) mine += x[std::size_t(r) * cols + c];
  for (int step = 16; step > 0; step /= 2) mine += __shfl_xor_sync(0xFFFFFFFFu, mine, step);
  if (lane == 0) y[r] = mine;
}
)",
             "kernel<<<(rows + @B@ / 32 - 1) / (@B@ / 32), @B@, 0, @S@>>>(x, y, rows, cols);", "y", {32, 128, 256}));
  all.push_back(judged("pick", "an element a thread",
                       "void pick(const float* table, const int* at, float* y, int size, int n, cudaStream_t stream)",
                       R"(
__global__ void kernel(const float* table, const int* at, float* y, int size, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const int from = at[i];
  y[i] = from >= 0 && from < size ? __ldg(table + from) : nanf("");
}
)",
                       "kernel<<<(n + @B@ - 1) / @B@, @B@, 0, @S@>>>(table, at, y, size, n);", "y", {32, 128, 256}));
  all.push_back(judged("order", "ballots", "void order(const int* key, int* out, int n, cudaStream_t stream)", R"(
// One warp: a ballot tells each lane how many before it are taken.
__global__ void kernel(const int* key, int* out, int n) {
  const int lane = static_cast<int>(threadIdx.x);
  int found = 0;
  for (int first = 0; first < n; first += 32) {
    const bool take = first + lane < n && key[first + lane] < 0;
    const unsigned who = __ballot_sync(0xFFFFFFFFu, take);
    if (take) out[found + __popc(who & ((1u << lane) - 1))] = first + lane;
    found += __popc(who);
  }
  for (int i = found + lane; i < n; i += 32) out[i] = 0;
}
)",
                       "kernel<<<1, 32, 0, @S@>>>(key, out, n);", "out", {32}));
  all.push_back(judged(
      "gemm", "tiles",
      "void gemm(const float* A, const float* B, float* C, int rows, int cols, int depth, cudaStream_t stream)", R"(
__global__ void kernel(const float* A, const float* B, float* C, int rows, int cols, int depth) {
  __shared__ float a[32][32], b[32][32];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int col = static_cast<int>(blockIdx.x) * 32 + x, row0 = static_cast<int>(blockIdx.y) * 32;
  float sum[32 / @B@] = {};
  for (int k0 = 0; k0 < depth; k0 += 32) {
    for (int r = y; r < 32; r += @B@) {
      a[r][x] = row0 + r < rows && k0 + x < depth ? A[std::size_t(row0 + r) * depth + k0 + x] : 0;
      b[r][x] = k0 + r < depth && col < cols ? B[std::size_t(k0 + r) * cols + col] : 0;
    }
    __syncthreads();
    for (int k = 0; k < 32; ++k)
      for (int i = 0; i < 32 / @B@; ++i) sum[i] += a[y + @B@ * i][k] * b[k][x];
    __syncthreads();
  }
  for (int i = 0; i < 32 / @B@; ++i)
    if (const int row = row0 + y + @B@ * i; row < rows && col < cols) C[std::size_t(row) * cols + col] = sum[i];
}
)",
      "kernel<<<dim3((cols + 31) / 32, (rows + 31) / 32), dim3(32, @B@), 0, @S@>>>(A, B, C, rows, cols, depth);", "C",
      {8, 16, 32}));
  return all;
}

}  // namespace

const std::vector<KernelForm>& kernel_forms() {
  static const std::vector<KernelForm> all = make();
  return all;
}

}  // namespace ridge::test
