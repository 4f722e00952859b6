// A two-layer perceptron with cuBLASLt: bias and GELU in the epilogue of the first product, bias in the second.
// link: -lcublasLt -lcublas
#include <cublasLt.h>

#include "../sample.hpp"

#define LT_CHECK(call) expect((call) == CUBLAS_STATUS_SUCCESS, #call)

// y (out x batch) = epilogue(W^T x + bias), all column-major; W is in x out.
void layer(cublasLtHandle_t lt, const float* weights, const float* x, const float* bias, float* y, int in, int out,
           int batch, cublasLtEpilogue_t epilogue) {
  cublasLtMatmulDesc_t desc;
  LT_CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t transpose = CUBLAS_OP_T;
  LT_CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &transpose, sizeof transpose));
  LT_CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  LT_CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  cublasLtMatrixLayout_t w_layout, x_layout, y_layout;
  LT_CHECK(cublasLtMatrixLayoutCreate(&w_layout, CUDA_R_32F, in, out, in));
  LT_CHECK(cublasLtMatrixLayoutCreate(&x_layout, CUDA_R_32F, in, batch, in));
  LT_CHECK(cublasLtMatrixLayoutCreate(&y_layout, CUDA_R_32F, out, batch, out));

  cublasLtMatmulPreference_t preference;
  const size_t room = 1 << 20;
  void* workspace = nullptr;
  CUDA_CHECK(cudaMalloc(&workspace, room));
  LT_CHECK(cublasLtMatmulPreferenceCreate(&preference));
  LT_CHECK(
      cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &room, sizeof room));
  cublasLtMatmulHeuristicResult_t result;
  int found = 0;
  LT_CHECK(
      cublasLtMatmulAlgoGetHeuristic(lt, desc, w_layout, x_layout, y_layout, y_layout, preference, 1, &result, &found));
  expect(found == 1, "an algorithm");
  const float one = 1, zero = 0;
  LT_CHECK(cublasLtMatmul(lt, desc, &one, weights, w_layout, x, x_layout, &zero, y, y_layout, y, y_layout, &result.algo,
                          workspace, room, 0));
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(workspace));
  LT_CHECK(cublasLtMatmulPreferenceDestroy(preference));
  for (auto l : {w_layout, x_layout, y_layout}) LT_CHECK(cublasLtMatrixLayoutDestroy(l));
  LT_CHECK(cublasLtMatmulDescDestroy(desc));
}

std::vector<double> reference(const std::vector<float>& w, const std::vector<double>& x, const std::vector<float>& bias,
                              int in, int out, int batch, bool gelu) {
  std::vector<double> y(out * batch);
  for (int b = 0; b < batch; ++b)
    for (int o = 0; o < out; ++o) {
      double v = bias[o];
      for (int i = 0; i < in; ++i) v += double(w[o * in + i]) * x[b * in + i];
      y[b * out + o] = gelu ? 0.5 * v * (1 + std::tanh(0.7978845608 * (v + 0.044715 * v * v * v))) : v;
    }
  return y;
}

int main() {
  const int in = 32, hidden = 64, out = 16, batch = 24;
  Random random(2);
  auto w1 = random.floats(in * hidden, -0.3f, 0.3f), w2 = random.floats(hidden * out, -0.3f, 0.3f);
  auto b1 = random.floats(hidden), b2 = random.floats(out), x = random.floats(in * batch);
  float *d_w1 = to_device(w1), *d_w2 = to_device(w2), *d_b1 = to_device(b1), *d_b2 = to_device(b2), *d_x = to_device(x);
  float *d_h = device_array<float>(hidden * batch), *d_y = device_array<float>(out * batch);
  cublasLtHandle_t lt;
  LT_CHECK(cublasLtCreate(&lt));
  layer(lt, d_w1, d_x, d_b1, d_h, in, hidden, batch, CUBLASLT_EPILOGUE_GELU_BIAS);
  layer(lt, d_w2, d_h, d_b2, d_y, hidden, out, batch, CUBLASLT_EPILOGUE_BIAS);
  LT_CHECK(cublasLtDestroy(lt));
  const auto h = reference(w1, {x.begin(), x.end()}, b1, in, hidden, batch, true);
  expect_close(to_host(d_y, out * batch), reference(w2, h, b2, hidden, out, batch, false), 2e-3, "output");
  for (float* p : {d_w1, d_w2, d_b1, d_b2, d_x, d_h, d_y}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
