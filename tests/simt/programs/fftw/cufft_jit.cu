// cuFFT and cuSPARSE with functions that NVRTC compiles while the program runs. nvcc: -lcufft
// link: -lcusparse -lnvrtc
#include <cufftXt.h>
#include <cusparse.h>
#include <nvrtc.h>

#include <cmath>

#include "../sample.hpp"

#define FFT_CHECK(call) expect((call) == CUFFT_SUCCESS, #call)
#define SPARSE_CHECK(call) expect((call) == CUSPARSE_STATUS_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == status, #call)

std::vector<char> compiled(const char* source, bool for_libraries) {
  const char* options[] = {"-arch=compute_90", "-rdc=true", "-dlto"};
  nvrtcProgram program;
  std::size_t bytes = 0;
  expect(nvrtcCreateProgram(&program, source, "functions.cu", 0, nullptr, nullptr) == NVRTC_SUCCESS, "create");
  expect(nvrtcCompileProgram(program, for_libraries ? 3 : 2, options) == NVRTC_SUCCESS, "compile");
  if (!for_libraries) {
    REFUSED(NVRTC_ERROR_INVALID_PROGRAM, nvrtcGetLTOIRSize(program, &bytes));
    expect(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS, "destroy");
    return {};
  }
  expect(nvrtcGetLTOIRSize(program, &bytes) == NVRTC_SUCCESS && bytes > 0, "size");
  std::vector<char> code(bytes);
  expect(nvrtcGetLTOIR(program, code.data()) == NVRTC_SUCCESS, "code");
  expect(nvrtcDestroyProgram(&program) == NVRTC_SUCCESS, "destroy");
  return code;
}

// A sum over 23 numbers that a function doubles, and stores the result's conjugate.
void transforms() {
  const std::vector<char> code = compiled(R"(
#include <cufftXt.h>
__device__ cufftComplex doubled(void* data, unsigned long long i, void* info, void*) {
  const cufftComplex v = static_cast<cufftComplex*>(data)[i];
  const float factor = *static_cast<float*>(info);
  return make_cuComplex(factor * v.x, factor * v.y);
}
__device__ void conjugate(void* data, unsigned long long i, cufftComplex v, void*, void*) {
  static_cast<cufftComplex*>(data)[i] = make_cuComplex(v.x, -v.y);
}
)",
                                          true);
  Random random(5);
  const int n = 23;
  const std::vector<float> x = random.floats(2 * n);
  float *factor = to_device(std::vector<float>{2}), *data = to_device(x);
  cufftHandle plan;
  std::size_t size = 0;
  FFT_CHECK(cufftCreate(&plan));
  REFUSED(CUFFT_INVALID_VALUE,
          cufftXtSetJITCallback(plan, "tripled", code.data(), code.size(), CUFFT_CB_LD_COMPLEX, nullptr));
  FFT_CHECK(cufftXtSetJITCallback(plan, "doubled", code.data(), code.size(), CUFFT_CB_LD_COMPLEX, (void**)&factor));
  FFT_CHECK(cufftXtSetJITCallback(plan, "conjugate", code.data(), code.size(), CUFFT_CB_ST_COMPLEX, nullptr));
  FFT_CHECK(cufftMakePlan1d(plan, n, CUFFT_C2C, 1, &size));
  REFUSED(CUFFT_INVALID_PLAN,
          cufftXtSetJITCallback(plan, "doubled", code.data(), code.size(), CUFFT_CB_LD_COMPLEX, nullptr));
  FFT_CHECK(
      cufftExecC2C(plan, reinterpret_cast<cufftComplex*>(data), reinterpret_cast<cufftComplex*>(data), CUFFT_FORWARD));
  const std::vector<float> got = to_host(data, x.size());
  for (int k = 0; k < n; ++k) {
    double re = 0, im = 0;
    for (int j = 0; j < n; ++j) {
      const double angle = -2 * M_PI * k * j / n, c = std::cos(angle), s = std::sin(angle);
      re += 2 * (x[2 * j] * c - x[2 * j + 1] * s);
      im += 2 * (x[2 * j] * s + x[2 * j + 1] * c);
    }
    expect(std::fabs(got[2 * k] - re) < 1e-4 && std::fabs(got[2 * k + 1] + im) < 1e-4, "a transform with functions");
  }
  FFT_CHECK(cufftDestroy(plan));
}

// 5 x 7 in CSR with base 1; the third row is empty.
const std::vector<int> kOffsets = {1, 3, 6, 6, 7, 10}, kColumns = {2, 7, 1, 3, 6, 4, 2, 5, 7};
const std::vector<double> kValues = {3, -1, 2, 5, 4, -6, 1, 7, 2};
const auto N = CUSPARSE_OPERATION_NON_TRANSPOSE;

// Shortest ways: sums of a row and a column, of which the least counts, and not above what was there.
void least_sums(cusparseHandle_t handle, cusparseSpMatDescr_t a) {
  const std::vector<char> add =
                              compiled("__device__ double add_op(double a, double b) { return a < b ? a : b; }", true),
                          mul = compiled("__device__ double mul_op(double a, double b) { return a + b; }", true),
                          epilogue = compiled(
                              "__device__ double epilogue(double a, double old) { return a < old ? a : old; }", true);
  std::vector<double> b, c(5 * 3);
  for (int i = 0; i < 7 * 3; ++i) b.push_back(i * 5 % 11 + 10);
  for (int i = 0; i < 5 * 3; ++i) c[i] = i % 4 * 20;
  double* out = to_device(c);
  cusparseDnMatDescr_t in, result;
  SPARSE_CHECK(cusparseCreateDnMat(&in, 7, 3, 7, to_device(b), CUDA_R_64F, CUSPARSE_ORDER_COL));
  SPARSE_CHECK(cusparseCreateDnMat(&result, 5, 3, 3, out, CUDA_R_64F, CUSPARSE_ORDER_ROW));
  cusparseSpMMOpPlan_t plan;
  std::size_t bytes = 0;
  const auto make = [&](cusparseOperation_t op, const std::vector<char>& first, cudaDataType type) {
    return cusparseSpMMOp_createPlan(handle, &plan, op, N, a, in, result, type, CUSPARSE_SPMM_OP_ALG_DEFAULT,
                                     first.data(), first.size(), mul.data(), mul.size(), epilogue.data(),
                                     epilogue.size(), &bytes);
  };
  REFUSED(CUSPARSE_STATUS_NOT_SUPPORTED, make(CUSPARSE_OPERATION_TRANSPOSE, add, CUDA_R_64F));
  REFUSED(CUSPARSE_STATUS_NOT_SUPPORTED, make(N, add, CUDA_R_32F));
  REFUSED(CUSPARSE_STATUS_INVALID_VALUE, make(N, mul, CUDA_R_64F));  // no add_op there
  SPARSE_CHECK(make(N, add, CUDA_R_64F));
  SPARSE_CHECK(cusparseSpMMOp(plan, nullptr));
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) {
      double least = kOffsets[i] == kOffsets[i + 1] ? 0 : 1e9;
      for (int k = kOffsets[i] - 1; k < kOffsets[i + 1] - 1; ++k)
        least = std::fmin(least, kValues[k] + b[j * 7 + kColumns[k] - 1]);
      c[i * 3 + j] = std::fmin(least, c[i * 3 + j]);
    }
  expect_close(to_host(out, c.size()), c, 0, "SpMMOp");
  SPARSE_CHECK(cusparseSpMMOp_destroyPlan(plan));
}

// z = (2 A x - y) in even rows, and a tenth of it in odd ones.
void epilogue_of_rows(cusparseHandle_t handle, cusparseSpMatDescr_t a) {
  const std::vector<char> code = compiled(R"(
__constant__ double factor;
__device__ double spmvop_epilogue(int row, double x) { return row % 2 == 0 ? x : factor * x; }
)",
                                          true);
  std::vector<double> x, y, z;
  for (int i = 0; i < 7; ++i) x.push_back(i - 2.5);
  for (int i = 0; i < 5; ++i) y.push_back(i * i);
  double* out = device_array<double>(5);
  cusparseDnVecDescr_t in, old, result;
  SPARSE_CHECK(cusparseCreateDnVec(&in, 7, to_device(x), CUDA_R_64F));
  SPARSE_CHECK(cusparseCreateDnVec(&old, 5, to_device(y), CUDA_R_64F));
  SPARSE_CHECK(cusparseCreateDnVec(&result, 5, out, CUDA_R_64F));
  cusparseSpMVOpDescr_t descr;
  cusparseSpMVOpPlan_t plan, plain;
  std::size_t bytes = 0;
  const auto ALG = CUSPARSE_SPMVOP_ALG_DEFAULT;
  REFUSED(CUSPARSE_STATUS_INVALID_VALUE,
          cusparseSpMVOp_bufferSize(handle, N, a, old, in, result, CUDA_R_64F, ALG, &bytes));
  SPARSE_CHECK(cusparseSpMVOp_bufferSize(handle, N, a, in, old, result, CUDA_R_64F, ALG, &bytes));
  SPARSE_CHECK(cusparseSpMVOp_createDescr(handle, &descr, N, a, in, old, result, CUDA_R_64F, ALG, nullptr));
  SPARSE_CHECK(cusparseSpMVOp_createPlan(handle, descr, &plan, code.data(), code.size()));
  SPARSE_CHECK(cusparseSpMVOp_createPlan(handle, descr, &plain, nullptr, 0));
  const double factor = 0.1, alpha = 2, beta = -1;
  SPARSE_CHECK(cusparseSpMVOp_setGlobalUserData(handle, plan, "factor", &factor, sizeof factor));
  for (const bool with : {true, false}) {
    SPARSE_CHECK(cusparseSpMVOp(handle, with ? plan : plain, &alpha, &beta, in, old, result));
    z.clear();
    for (int i = 0; i < 5; ++i) {
      double sum = 0;
      for (int k = kOffsets[i] - 1; k < kOffsets[i + 1] - 1; ++k) sum += kValues[k] * x[kColumns[k] - 1];
      z.push_back((with && i % 2 == 1 ? factor : 1) * (alpha * sum + beta * y[i]));
    }
    expect_close(to_host(out, 5), z, 1e-15, with ? "SpMVOp" : "SpMVOp without an epilogue");
  }
  SPARSE_CHECK(cusparseSpMVOp_destroyPlan(plan));
  SPARSE_CHECK(cusparseSpMVOp_destroyPlan(plain));
  SPARSE_CHECK(cusparseSpMVOp_destroyDescr(descr));
}

int main() {
  compiled("__device__ int one() { return 1; }", false);
  transforms();
  cusparseHandle_t handle;
  cusparseSpMatDescr_t a;
  SPARSE_CHECK(cusparseCreate(&handle));
  SPARSE_CHECK(cusparseCreateCsr(&a, 5, 7, 9, to_device(kOffsets), to_device(kColumns), to_device(kValues),
                                 CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
  least_sums(handle, a);
  epilogue_of_rows(handle, a);
  SPARSE_CHECK(cusparseDestroySpMat(a));
  SPARSE_CHECK(cusparseDestroy(handle));
  free_device_arrays();
  std::puts("ok");
}
