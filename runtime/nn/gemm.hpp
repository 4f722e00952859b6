// All matrix products go through here, and here only. Matrices are row-major, as in all of this folder.
//
// cuBLAS thinks in columns: a row-major M x N matrix is to it the column-major N x M one, its transpose. So the
// row-major C = op(A) op(B) is asked for as C^T = op(B)^T op(A)^T: the two factors change places, and nothing is
// copied.
//
// On a GPU this is NVIDIA's cuBLAS; on the emulator `ridge cc ... -lcublas` links its own, whose products are kernels
// like any other.
#pragma once
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "nn/check.hpp"

namespace nn {

inline void check(cublasStatus_t status, const std::string& what, Where where = Where::caller()) {
  if (status != CUBLAS_STATUS_SUCCESS)
    fail(what, cublasGetStatusName(status), "check the shapes, and the errors of earlier kernels", where);
}

template <class T>
struct DataType;
template <>
struct DataType<float> {
  static constexpr cudaDataType value = CUDA_R_32F;
};
template <>
struct DataType<__nv_bfloat16> {
  static constexpr cudaDataType value = CUDA_R_16BF;
};
template <>
struct DataType<__half> {
  static constexpr cudaDataType value = CUDA_R_16F;
};

enum class Transpose { no, yes };

// One factor or the result of a product: its first element, elements from a row to the next, and from one matrix of a
// batch to the next.
template <class T>
struct Matrix {
  T* data;
  int row;
  long long next = 0;
};

// Works on the device that is current when it is made. Each host thread that multiplies has one.
class Gemm {
 public:
  explicit Gemm(cudaStream_t stream) {
    check(cublasCreate(&handle_), "cublasCreate");
    check(cublasSetStream(handle_, stream), "cublasSetStream");
  }
  ~Gemm() { cublasDestroy(handle_); }
  Gemm(const Gemm&) = delete;
  Gemm& operator=(const Gemm&) = delete;

  // fp32 products with TF32's ten bits of mantissa, about eight times as fast on tensor cores. Off by default.
  void allow_tf32(bool allow) {
    check(cublasSetMathMode(handle_, allow ? CUBLAS_TF32_TENSOR_OP_MATH : CUBLAS_DEFAULT_MATH), "cublasSetMathMode");
  }

  // Products are cut into equal parts, one a multiprocessor: where communication holds a few of them, the last parts
  // would wait for a second round. So products leave `count` multiprocessors alone. 0: none.
  void leave_multiprocessors(int count) {
    int device = 0, all = 0;
    check(cudaGetDevice(&device), "which device");
    check(cudaDeviceGetAttribute(&all, cudaDevAttrMultiProcessorCount, device), "how many multiprocessors");
    check(cublasSetSmCountTarget(handle_, count == 0 ? 0 : all - count), "cublasSetSmCountTarget");
  }

  // Computes C (M x N) = alpha op(A) (M x K) op(B) (K x N) + beta C for each of `batch` matrices. Accumulators are
  // fp32; C may be float where A and B are shorter. With beta = 0, C is not read.
  template <class In, class Out>
  void operator()(Transpose ta, Transpose tb, int M, int N, int K, float alpha, Matrix<const In> A, Matrix<const In> B,
                  float beta, Matrix<Out> C, int batch = 1, Where where = Where::caller()) const {
    auto op = [](Transpose t) { return t == Transpose::yes ? CUBLAS_OP_T : CUBLAS_OP_N; };
    constexpr cudaDataType in = DataType<In>::value, out = DataType<Out>::value;
    check(cublasGemmStridedBatchedEx(handle_, op(tb), op(ta), N, M, K, &alpha, B.data, in, B.row, B.next, A.data, in,
                                     A.row, A.next, &beta, C.data, out, C.row, C.next, batch, CUBLAS_COMPUTE_32F,
                                     CUBLAS_GEMM_DEFAULT),
          "a matrix product " + std::to_string(M) + " x " + std::to_string(N) + " x " + std::to_string(K), where);
  }

 private:
  cublasHandle_t handle_ = nullptr;
};

// The three products of a linear layer without its bias. Weights are (out, in), as in PyTorch: y = x W^T.
//   x: (N, I)   W: (O, I)   y: (N, O)
template <class T>
void linear_forward(const Gemm& gemm, const T* x, const T* W, T* y, int N, int I, int O) {
  gemm(Transpose::no, Transpose::yes, N, O, I, 1, Matrix<const T>{x, I}, Matrix<const T>{W, I}, 0, Matrix<T>{y, O});
}

// dx: (N, I) = dy (N, O) W (O, I)
template <class T>
void linear_backward_input(const Gemm& gemm, const T* dy, const T* W, T* dx, int N, int I, int O) {
  gemm(Transpose::no, Transpose::no, N, I, O, 1, Matrix<const T>{dy, O}, Matrix<const T>{W, I}, 0, Matrix<T>{dx, I});
}

// dW: (O, I) += dy^T (O, N) x (N, I), in fp32 whatever T is: many small terms are added over the passes of one update.
template <class T>
void linear_backward_weight(const Gemm& gemm, const T* dy, const T* x, float* dW, int N, int I, int O) {
  gemm(Transpose::yes, Transpose::no, O, I, N, 1, Matrix<const T>{dy, O}, Matrix<const T>{x, I}, 1,
       Matrix<float>{dW, I});
}

}  // namespace nn
