// Kernels of lab 18 in several variants, in turn with cuSPARSE and cuFFT.
//
//   nvcc -O3 -std=c++20 -gencode=arch=compute_90a,code=sm_90a benchmarks/science/science.cu -lcusparse -lcufft -o science
//   ./science out.json [spmv] [cg] [fft] [nbody]
#include <cufft.h>
#include <cusparse.h>

#include <cstring>

#include "cg.cuh"
#include "fft.cuh"
#include "matrices.hpp"
#include "nbody.cuh"
#include "spmv.cuh"

namespace {

FILE* json = nullptr;
bool first_group = true;

void must(cusparseStatus_t s, const char* what) {
  if (s == CUSPARSE_STATUS_SUCCESS) return;
  std::fprintf(stderr, "science: %s: %s\n", what, cusparseGetErrorString(s));
  std::exit(1);
}

int blocks_for(std::size_t n, int threads) { return static_cast<int>((n + threads - 1) / threads); }

// ---- SpMV --------------------------------------------------------------------------------------------------------------
template <int T, int U, bool kStream>
void add_rows(std::vector<Variant>& all, Matrix a, const float* x, float* y) {
  all.push_back({"rows T" + std::to_string(T) + " U" + std::to_string(U) + (kStream ? " stream" : ""),
                 [=] { rows_kernel<T, U, kStream><<<blocks_for(std::size_t(a.rows) * T, 256), 256>>>(a, x, y); }});
}
template <int B, int K, bool kProducts, int kBlocks>
void add_chunks(std::vector<Variant>& all, Matrix a, const float* x, float* y, int* first, float* carry) {
  const int chunks = (a.entries + K - 1) / K;
  all.push_back({std::string(kProducts ? "products" : "chunks") + " B" + std::to_string(B) + " K" + std::to_string(K) +
                     " x" + std::to_string(kBlocks),
                 [=] {
                   first_rows_kernel<K><<<blocks_for(a.rows, 256), 256>>>(a.starts, first, a.rows, chunks);
                   chunk_kernel<B, K, kProducts, kBlocks><<<chunks, B>>>(a, first, x, y, carry);
                   carry_kernel<K><<<blocks_for(chunks, 256), 256>>>(a.starts, first, carry, y, chunks);
                 }});
}
template <int B, int K, Hint hint, int kBlocks>
void add_products(std::vector<Variant>& all, Matrix a, const float* x, float* y, int* first, float* carry) {
  const int chunks = (a.entries + K - 1) / K;
  const char* hints[] = {"stream", "no allocate", "keep hubs"};
  all.push_back({std::string("in order B") + std::to_string(B) + " K" + std::to_string(K) + " x" +
                     std::to_string(kBlocks) + " " + hints[static_cast<int>(hint)],
                 [=] {
                   first_rows_kernel<K><<<blocks_for(a.rows, 256), 256>>>(a.starts, first, a.rows, chunks);
                   products_kernel<B, K, hint, kBlocks><<<chunks, B>>>(a, first, x, y, carry);
                   carry_kernel<K><<<blocks_for(chunks, 256), 256>>>(a.starts, first, carry, y, chunks);
                 }});
}
template <int B, int K, int kHot, int kBlocks>
void add_ahead(std::vector<Variant>& all, Matrix a, const float* x, float* y, int* first, float* carry, int sms) {
  const int chunks = (a.entries + K - 1) / K, bytes = (kHot + K) * 4;
  must(cudaFuncSetAttribute(ahead_kernel<B, K, kHot, kBlocks>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
       "ahead_kernel");
  all.push_back({std::string("ahead, hot ") + std::to_string(kHot) + " B" + std::to_string(B) + " K" +
                     std::to_string(K) + " x" + std::to_string(kBlocks),
                 [=] {
                   first_rows_kernel<K><<<blocks_for(a.rows, 256), 256>>>(a.starts, first, a.rows, chunks);
                   ahead_kernel<B, K, kHot, kBlocks><<<sms * kBlocks, B, bytes>>>(a, first, x, y, carry, chunks);
                   carry_kernel<K><<<blocks_for(chunks, 256), 256>>>(a.starts, first, carry, y, chunks);
                 }});
}

void spmv(const char* name, const Csr& csr, int sms) {
  const int entries = static_cast<int>(csr.columns.size());
  // A last chunk is copied in whole pieces of 16 bytes.
  Csr padded = csr;
  padded.columns.resize(entries + 16), padded.values.resize(entries + 16);
  Array<int> starts(padded.starts), columns(padded.columns);
  Array<float> values(padded.values), x(csr.rows), y(csr.rows);
  randomise(x, csr.rows, 11);
  const Matrix a{starts, columns, values, csr.rows, entries};
  Array<int> first(entries / 512 + 16);
  Array<float> carry(entries / 512 + 16);

  cusparseHandle_t handle;
  must(cusparseCreate(&handle), "cusparseCreate");
  float one = 1, zero = 0;
  std::vector<Variant> all;
  std::vector<void*> buffers;
  for (auto [label, algorithm] :
       {std::pair{"cusparse default", CUSPARSE_SPMV_ALG_DEFAULT},
        std::pair{"cusparse csr alg1", CUSPARSE_SPMV_CSR_ALG1}, std::pair{"cusparse csr alg2", CUSPARSE_SPMV_CSR_ALG2}})
    for (bool preprocessed : {false, true}) {
      if (preprocessed && algorithm != CUSPARSE_SPMV_CSR_ALG2) continue;
      cusparseSpMatDescr_t m;
      cusparseDnVecDescr_t vx, vy;
      must(cusparseCreateCsr(&m, csr.rows, csr.rows, entries, (int*)starts, (int*)columns, (float*)values,
                             CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F),
           "cusparseCreateCsr");
      must(cusparseCreateDnVec(&vx, csr.rows, (float*)x, CUDA_R_32F), "cusparseCreateDnVec");
      must(cusparseCreateDnVec(&vy, csr.rows, (float*)y, CUDA_R_32F), "cusparseCreateDnVec");
      std::size_t bytes = 0;
      must(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, vx, &zero, vy, CUDA_R_32F,
                                   algorithm, &bytes),
           "cusparseSpMV_bufferSize");
      void* buffer = nullptr;
      must(cudaMalloc(&buffer, bytes + 16), "cudaMalloc");
      buffers.push_back(buffer);
      if (preprocessed)
        must(cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, vx, &zero, vy, CUDA_R_32F,
                                     algorithm, buffer),
             "cusparseSpMV_preprocess");
      all.push_back({std::string(label) + (preprocessed ? " preprocessed" : ""), [=] {
                       float one = 1, zero = 0;
                       must(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, m, vx, &zero, vy, CUDA_R_32F,
                                         algorithm, buffer),
                            "cusparseSpMV");
                     }});
    }
  const double bytes = 8.0 * entries + 4.0 * (csr.rows + 1) + 8.0 * csr.rows;
  Array<char> from(static_cast<std::size_t>(bytes / 2)), to(static_cast<std::size_t>(bytes / 2));
  all.push_back({"copy of as many bytes",
                 [&] { cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes / 2), cudaMemcpyDeviceToDevice); }});
  add_rows<8, 4, true>(all, a, x, y);
  add_chunks<256, 4096, true, 5>(all, a, x, y, first, carry);
  add_products<256, 4096, Hint::no_allocate, 6>(all, a, x, y, first, carry);
  add_products<512, 4096, Hint::stream, 4>(all, a, x, y, first, carry);  // as lab 18's solution
  add_products<512, 4096, Hint::keep_hubs, 4>(all, a, x, y, first, carry);
  add_products<512, 8192, Hint::no_allocate, 3>(all, a, x, y, first, carry);
  add_ahead<512, 4096, 16384, 2>(all, a, x, y, first, carry, sms);
  add_ahead<512, 4096, 8192, 2>(all, a, x, y, first, carry, sms);
  add_ahead<512, 4096, 0, 2>(all, a, x, y, first, carry, sms);
  add_ahead<256, 2048, 8192, 4>(all, a, x, y, first, carry, sms);
  add_ahead<256, 2048, 0, 4>(all, a, x, y, first, carry, sms);
  add_ahead<1024, 8192, 32768, 1>(all, a, x, y, first, carry, sms);
  add_ahead<1024, 8192, 16384, 1>(all, a, x, y, first, carry, sms);
  // Errors against double precision.
  const std::vector<float> hx = x.host();
  std::vector<float> exact(csr.rows);
  for (int r = 0; r < csr.rows; ++r) {
    double sum = 0;
    for (int k = csr.starts[r]; k < csr.starts[r + 1]; ++k) sum += double{csr.values[k]} * hx[csr.columns[k]];
    exact[r] = static_cast<float>(sum);
  }
  for (Variant& v : all) {
    if (v.name[0] == 'c' && v.name[1] == 'o') continue;
    must(cudaMemset(y, 0xff, csr.rows * 4), "cudaMemset");
    v.run();
    must(cudaDeviceSynchronize(), v.name.c_str());
    v.error = error_of(y.host(), exact);
  }
  measure(json, first_group, name, "GB/s", bytes, all);
  for (void* b : buffers) cudaFree(b);
}

// ---- CG ----------------------------------------------------------------------------------------------------------------
template <int B, int T, int U, int kBlocks>
void add_cg(std::vector<Variant>& all, Matrix a, Cg s, int sms) {
  int fit = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, cg_kernel<B, T, U, kBlocks>, B, 0);
  const int blocks = sms * std::min(fit, kBlocks);
  all.push_back({"cg B" + std::to_string(B) + " T" + std::to_string(T) + " U" + std::to_string(U) + " x" +
                     std::to_string(kBlocks),
                 [=] {
                   Matrix m = a;
                   Cg state = s;
                   void* arguments[] = {&m, &state};
                   must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(cg_kernel<B, T, U, kBlocks>), blocks, B,
                                                    arguments, 0, nullptr),
                        "cg_kernel");
                 }});
}

template <int B, int T, int K, int kBlocks>
void add_tiles(std::vector<Variant>& all, Matrix a, Cg s, int sms) {
  int fit = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, cg_tiles_kernel<B, T, K, kBlocks>, B, 0);
  const int blocks = sms * std::min(fit, kBlocks);
  all.push_back({"tiles B" + std::to_string(B) + " T" + std::to_string(T) + " K" + std::to_string(K) + " x" +
                     std::to_string(kBlocks),
                 [=] {
                   Matrix m = a;
                   Cg state = s;
                   void* arguments[] = {&m, &state};
                   must(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(cg_tiles_kernel<B, T, K, kBlocks>), blocks,
                                                    B, arguments, 0, nullptr),
                        "cg_tiles_kernel");
                 }});
}

void cg(const Csr& csr, int sms) {
  constexpr int kIterations = 20;
  const int entries = static_cast<int>(csr.columns.size()), n = csr.rows;
  Array<int> starts(csr.starts), columns(csr.columns);
  Array<float> values(csr.values), b(n), x(n), r(n), p(n), q(n);
  Array<double> partial(1 << 16);
  randomise(b, n, 12);
  const Matrix a{starts, columns, values, n, entries};
  const Cg s{x, r, p, q, partial, b, kIterations};
  std::vector<Variant> all;
  // An iteration reads the matrix, p; writes q; reads x, p, r, q; writes x, r; reads r, p; writes p.
  const double bytes = kIterations * (8.0 * entries + 4.0 * (n + 1) + 4.0 * n * 11);
  Array<char> from(static_cast<std::size_t>(bytes / 2 / kIterations)), to(from.size());
  all.push_back({"copies of as many bytes", [&] {
                   for (int i = 0; i < kIterations; ++i)
                     cudaMemcpyAsync(to, from, from.size(), cudaMemcpyDeviceToDevice);
                 }});
  add_cg<512, 8, 4, 4>(all, a, s, sms);
  add_tiles<256, 4, 1792, 4>(all, a, s, sms), add_tiles<512, 4, 3584, 2>(all, a, s, sms);
  add_tiles<256, 4, 1024, 4>(all, a, s, sms), add_tiles<256, 8, 1024, 4>(all, a, s, sms);
  add_tiles<256, 4, 1792, 3>(all, a, s, sms);
  std::vector<float> reference;
  for (std::size_t i = 1; i < all.size(); ++i) {
    all[i].run();
    must(cudaDeviceSynchronize(), all[i].name.c_str());
    if (reference.empty()) reference = x.host();
    all[i].error = error_of(x.host(), reference);
  }
  measure(json, first_group, "cg 160^3, 20 iterations", "GB/s", bytes, all, 9);
}

// ---- FFT ---------------------------------------------------------------------------------------------------------------
void fft(int n, int batch, int sms) {
  const std::size_t all_points = std::size_t(n) * batch;
  Array<float2> x(all_points), out(all_points), expected(all_points);
  Array<unsigned> counters(batch + 1);
  randomise(reinterpret_cast<float*>((float2*)x), 2 * all_points, 13);
  cufftHandle plan;
  int shape[1] = {n};
  if (cufftPlanMany(&plan, 1, shape, nullptr, 1, n, nullptr, 1, n, CUFFT_C2C, batch) != CUFFT_SUCCESS) std::exit(1);
  std::vector<Variant> all;
  all.push_back({"cufft", [&, plan] {
                   cufftExecC2C(plan, (cufftComplex*)(float2*)x, (cufftComplex*)(float2*)out, CUFFT_FORWARD);
                 }});
  all.push_back({"copy", [&] { cudaMemcpyAsync(out, x, all_points * 8, cudaMemcpyDeviceToDevice); }});
  std::vector<float2> roots;
  for (int t = 0; t < 256; ++t) roots.push_back({float(std::cos(t * M_PI / 2048)), float(-std::sin(t * M_PI / 2048))});
  for (int t = 0; t < 16; ++t) roots.push_back({float(std::cos(t * M_PI / 128)), float(-std::sin(t * M_PI / 128))});
  Array<float2> table(roots);
  if (n == 4096) {
#define ADD(BLOCKS, TABLE, STREAM)                                        \
  all.push_back({"fft4096 x" #BLOCKS " table " #TABLE " stream " #STREAM, \
                 [&] { fft4096_kernel<BLOCKS, TABLE, STREAM, false><<<batch, 256>>>(x, out, table, batch); }})
    ADD(3, false, true), ADD(4, false, true), ADD(4, true, true);
#undef ADD
  } else {
    all.push_back({"two passes", [&] {
                     pass1_kernel<true><<<batch * 16, 256>>>(x, out);
                     pass2_kernel<<<batch * 16, 256>>>(out);
                   }});
    auto behind = [&](auto kernel, int run, int delay, const char* name) {
      const int bytes = 256 * (run + 1) * 8;
      must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
      all.push_back({std::string(name) + ", delay " + std::to_string(delay), [&, kernel, run, delay, bytes] {
                       cudaMemsetAsync(counters, 0, (batch + 1) * 4);
                       kernel<<<(batch + delay) * 2 * (256 / run), 16 * run, bytes>>>(x, out, counters, batch, delay);
                     }});
    };
    for (int delay : {12, 24, 40}) behind(behind_kernel<16, 4>, 16, delay, "behind, 16 columns x4");
    behind(behind_kernel<16, 3>, 16, 24, "behind, 16 columns x3");
    for (int delay : {16, 32}) behind(behind_kernel<32, 2>, 32, delay, "behind, 32 columns x2");
    auto clustered = [&](auto kernel, int size, const char* name) {
      const int run = 256 / size, bytes = 256 * (run + 1) * 8;
      must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), name);
      if (size > 8) must(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), name);
      all.push_back({name, [&, kernel, size, bytes] {
                       cudaLaunchConfig_t config = {};
                       config.gridDim = dim3(batch * size), config.blockDim = dim3(4096 / size);
                       config.dynamicSmemBytes = bytes;
                       cudaLaunchAttribute attribute;
                       attribute.id = cudaLaunchAttributeClusterDimension;
                       attribute.val.clusterDim = {unsigned(size), 1, 1};
                       config.attrs = &attribute, config.numAttrs = 1;
                       const float2* in = x;
                       float2* to = out;
                       must(cudaLaunchKernelEx(&config, kernel, in, to), "cluster_kernel");
                     }});
    };
    clustered(cluster_kernel<16, 3>, 16, "cluster of 16, x3");
  }
  all[0].run();
  must(cudaMemcpy(expected, out, all_points * 8, cudaMemcpyDeviceToDevice), "cudaMemcpy");
  auto sample = [&](const float2* p) {  // of the first, one in the middle, and the last
    std::vector<float> v;
    for (int b : {0, batch / 2, batch - 1}) {
      std::vector<float2> part(n);
      must(cudaMemcpy(part.data(), p + std::size_t(b) * n, n * 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
      for (float2 z : part) v.push_back(z.x), v.push_back(z.y);
    }
    return v;
  };
  for (std::size_t i = 2; i < all.size(); ++i) {
    must(cudaMemset(out, 0xff, all_points * 8), "cudaMemset");
    all[i].run();
    must(cudaDeviceSynchronize(), all[i].name.c_str());
    all[i].error = error_of(sample(out), sample(expected));
  }
  measure(json, first_group, n == 4096 ? "fft 4096 x 65536" : "fft 65536 x 4096", "GB/s", 16.0 * all_points, all, 15);
  cufftDestroy(plan);
}

// ---- all pairs ---------------------------------------------------------------------------------------------------------
void nbody(int n, int sms) {
  Array<float4> bodies(n), forces(n), parts(std::size_t(n) * 64);
  randomise(reinterpret_cast<float*>((float4*)bodies), 4 * std::size_t(n), 14);
  const double pairs = double(n) * n;
  std::vector<Variant> all;
  auto issue = [&](auto kernel, const char* name) {
    const int rounds = static_cast<int>(pairs / 8 / (sms * 8 * 256.0));
    Variant v{name, [=, &forces] { kernel<<<sms * 8, 256>>>((float*)(float4*)forces, rounds, 0.999f); }};
    v.work = rounds * 8.0 * sms * 8 * 256;
    all.push_back(v);
  };
  issue(issue_kernel<13, false>, "bound: 13 FFMA");
  issue(issue_kernel<13, true>, "12 FFMA and MUFU");
  issue(issue_kernel<12, false>, "12 FFMA");
#define ADD(B, T, U, BLOCKS, PARTS)                                                                         \
  all.push_back({"pairs B" #B " T" #T " U" #U " x" #BLOCKS " parts " #PARTS, [&, n] {                       \
                   pairs_kernel<B, T, U, BLOCKS><<<dim3(n / (B * T), PARTS), B>>>(bodies, parts, n, 1e-3f); \
                   add_parts_kernel<<<n / 256, 256>>>(parts, forces, n, PARTS);                             \
                 }})
  ADD(256, 1, 8, 8, 8), ADD(256, 2, 8, 4, 16), ADD(256, 4, 8, 3, 16), ADD(128, 8, 8, 4, 32);
#undef ADD
  std::vector<float> reference;
  auto result = [&] {
    std::vector<float> v;
    for (float4 f : forces.host()) v.push_back(f.x), v.push_back(f.y), v.push_back(f.z);
    return v;
  };
  for (std::size_t i = 3; i < all.size(); ++i) {
    all[i].run();
    must(cudaDeviceSynchronize(), all[i].name.c_str());
    if (reference.empty()) reference = result();
    all[i].error = error_of(result(), reference);
  }
  measure(json, first_group, "nbody 131072", "Gpairs/s", pairs, all, 15);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return std::fprintf(stderr, "use: science OUT.json [spmv] [cg] [fft] [nbody]\n"), 2;
  auto wanted = [&](const char* what) {
    for (int i = 2; i < argc; ++i)
      if (std::strcmp(argv[i], what) == 0) return true;
    return argc == 2;
  };
  json = std::fopen(argv[1], "w");
  cudaDeviceProp device{};
  must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
  const int sms = device.multiProcessorCount;
  std::fprintf(json, "{\"device\": \"%s\", \"groups\": [\n", device.name);
  if (wanted("nbody")) nbody(131072, sms);
  if (wanted("fft")) fft(4096, 65536, sms), fft(65536, 4096, sms);
  if (wanted("spmv") || wanted("cg")) {
    const Csr cube = stencil(160, 2);
    if (wanted("spmv")) spmv("spmv 27 points 160^3", cube, sms);
    if (wanted("cg")) cg(cube, sms);
  }
  if (wanted("spmv")) {
    spmv("spmv power law", power_law(1 << 22, 1 << 17), sms);
  }
  std::fprintf(json, "\n]}\n");
  std::fclose(json);
  return 0;
}
