// cuSPARSE: sparse products in steps and in one pattern, batches, systems of bands, rotations, calls in a captured stream.
// link: -lcusparse
#include <cusparse.h>

#include "sample.hpp"

#define SPARSE_CHECK(call) expect((call) == CUSPARSE_STATUS_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == CUSPARSE_STATUS_##status, #call)

const auto N = CUSPARSE_OPERATION_NON_TRANSPOSE, T = CUSPARSE_OPERATION_TRANSPOSE;
const auto I32 = CUSPARSE_INDEX_32I;

cusparseHandle_t handle;
char* buffer;

// A CSR matrix with about a third of its elements, on the device and in dense form by rows.
struct Csr {
  int rows, cols;
  std::vector<int> offsets, columns;
  std::vector<double> values, dense;
  int *d_offsets, *d_columns;
  double* d_values;
  cusparseSpMatDescr_t descr;

  Csr(Random& random, int m, int n, int base) : rows(m), cols(n), offsets{base} {
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j)
        if (random.below(3) == 0) columns.push_back(j + base);
      offsets.push_back(static_cast<int>(columns.size()) + base);
    }
    d_offsets = to_device(offsets), d_columns = to_device(columns), d_values = device_array<double>(columns.size());
    SPARSE_CHECK(cusparseCreateCsr(&descr, m, n, static_cast<std::int64_t>(columns.size()), d_offsets, d_columns,
                                   d_values, I32, I32, static_cast<cusparseIndexBase_t>(base), CUDA_R_64F));
    draw(random);
  }
  void draw(Random& random) {
    values.clear();
    dense.assign(static_cast<std::size_t>(rows) * cols, 0);
    for (int i = 0; i < rows; ++i)
      for (int k = offsets[i] - offsets[0]; k < offsets[i + 1] - offsets[0]; ++k) {
        values.push_back(random.below(17) - 8);
        dense[static_cast<std::size_t>(i) * cols + columns[k] - offsets[0]] = values.back();
      }
    CUDA_CHECK(cudaMemcpy(d_values, values.data(), values.size() * sizeof(double), cudaMemcpyHostToDevice));
  }
};

// The dense product, and how many multiplications of elements there are in it.
std::vector<double> product(const Csr& a, const Csr& b, std::int64_t& multiplications) {
  std::vector<double> c(static_cast<std::size_t>(a.rows) * b.cols);
  multiplications = 0;
  for (int i = 0; i < a.rows; ++i)
    for (int k = a.offsets[i] - a.offsets[0]; k < a.offsets[i + 1] - a.offsets[0]; ++k) {
      const int l = a.columns[k] - a.offsets[0];
      multiplications += b.offsets[l + 1] - b.offsets[l];
      for (int j = 0; j < b.cols; ++j)
        c[static_cast<std::size_t>(i) * b.cols + j] += a.values[k] * b.dense[static_cast<std::size_t>(l) * b.cols + j];
    }
  return c;
}

// C as a matrix in CSR, with room for as many elements as it asks for, all of value `old`.
struct Result {
  int rows, cols;
  int *offsets, *columns = nullptr;
  double* values = nullptr;
  std::int64_t nnz = 0;
  cusparseSpMatDescr_t descr;

  Result(int m, int n) : rows(m), cols(n), offsets(device_array<int>(static_cast<std::size_t>(m) + 1)) {
    SPARSE_CHECK(
        cusparseCreateCsr(&descr, m, n, 0, offsets, nullptr, nullptr, I32, I32, CUSPARSE_INDEX_BASE_ONE, CUDA_R_64F));
  }
  void make_room(double old) {
    std::int64_t m = 0, n = 0;
    SPARSE_CHECK(cusparseSpMatGetSize(descr, &m, &n, &nnz));
    columns = device_array<int>(static_cast<std::size_t>(nnz));
    values = to_device(std::vector<double>(static_cast<std::size_t>(nnz), old));
    SPARSE_CHECK(cusparseCsrSetPointers(descr, offsets, columns, values));
  }
  // alpha times `wanted` plus `more` in each of its elements; elements that are 0 by chance may be there.
  void expect_product(const std::vector<double>& wanted, double alpha, double more, const char* what) const {
    const auto o = to_host(offsets, static_cast<std::size_t>(rows) + 1),
               c = to_host(columns, static_cast<std::size_t>(nnz));
    const auto v = to_host(values, static_cast<std::size_t>(nnz));
    std::vector<double> rest = wanted;
    expect(o[0] == 1 && o[rows] == nnz + 1, what);
    for (int i = 0; i < rows; ++i)
      for (int k = o[i] - 1; k < o[i + 1] - 1; ++k) {
        expect(k == o[i] - 1 || c[k] > c[k - 1], what);
        double& w = rest[static_cast<std::size_t>(i) * cols + c[k] - 1];
        expect(v[k] == alpha * w + more, what);
        w = 0;
      }
    for (double w : rest) expect(w == 0, what);
  }
};

void sparse_products(Random& random) {
  Csr a(random, 17, 23, 0), b(random, 23, 11, 1);
  std::int64_t multiplications = 0, told = 0;
  const std::vector<double> wanted = product(a, b, multiplications);
  const double alpha = 3, beta = 2, zero = 0;
  cusparseSpGEMMDescr_t steps;
  std::size_t bytes = 0, more_bytes = 0;
  SPARSE_CHECK(cusparseSpGEMM_createDescr(&steps));
  Result c(17, 11);
  const auto ALG3 = CUSPARSE_SPGEMM_ALG3;
  SPARSE_CHECK(cusparseSpGEMM_workEstimation(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3,
                                             steps, &bytes, nullptr));
  SPARSE_CHECK(cusparseSpGEMM_workEstimation(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3,
                                             steps, &bytes, buffer));
  SPARSE_CHECK(cusparseSpGEMM_getNumProducts(steps, &told));
  expect(told == multiplications, "getNumProducts");
  SPARSE_CHECK(cusparseSpGEMM_estimateMemory(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3,
                                             steps, 0.2f, &bytes, nullptr, nullptr));
  SPARSE_CHECK(cusparseSpGEMM_estimateMemory(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3,
                                             steps, 0.2f, &bytes, buffer, &more_bytes));
  expect(bytes > 0 && more_bytes > 0, "estimateMemory");
  REFUSED(NOT_SUPPORTED,
          cusparseSpGEMM_estimateMemory(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F,
                                        CUSPARSE_SPGEMM_DEFAULT, steps, 0.2f, &bytes, nullptr, nullptr));
  SPARSE_CHECK(cusparseSpGEMM_compute(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3, steps,
                                      &bytes, buffer));
  REFUSED(INVALID_VALUE, cusparseSpGEMM_copy(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3,
                                             steps));  // it has no memory yet
  c.make_room(5);
  SPARSE_CHECK(cusparseSpGEMM_copy(handle, N, N, &alpha, a.descr, b.descr, &beta, c.descr, CUDA_R_64F, ALG3, steps));
  c.expect_product(wanted, 3, 10, "SpGEMM with the old values of C");
  REFUSED(NOT_SUPPORTED, cusparseSpGEMM_workEstimation(handle, N, T, &alpha, a.descr, b.descr, &beta, c.descr,
                                                       CUDA_R_64F, ALG3, steps, &bytes, buffer));
  REFUSED(INVALID_VALUE, cusparseSpGEMM_workEstimation(handle, N, N, &alpha, b.descr, a.descr, &beta, c.descr,
                                                       CUDA_R_64F, ALG3, steps, &bytes, buffer));
  SPARSE_CHECK(cusparseSpGEMM_destroyDescr(steps));

  // The same pattern with two sets of values.
  const auto ALG = CUSPARSE_SPGEMM_DEFAULT;
  std::size_t sizes[3] = {};
  SPARSE_CHECK(cusparseSpGEMM_createDescr(&steps));
  Result r(17, 11);
  SPARSE_CHECK(
      cusparseSpGEMMreuse_workEstimation(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &bytes, nullptr));
  SPARSE_CHECK(cusparseSpGEMMreuse_workEstimation(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &bytes, buffer));
  SPARSE_CHECK(cusparseSpGEMMreuse_nnz(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &sizes[0], nullptr,
                                       &sizes[1], nullptr, &sizes[2], nullptr));
  expect(sizes[0] > 0 && sizes[1] > 0 && sizes[2] > 0, "the buffers of SpGEMMreuse_nnz");
  SPARSE_CHECK(cusparseSpGEMMreuse_nnz(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &sizes[0], buffer,
                                       &sizes[1], buffer, &sizes[2], buffer));
  r.make_room(7);
  SPARSE_CHECK(cusparseSpGEMMreuse_copy(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &bytes, nullptr));
  SPARSE_CHECK(cusparseSpGEMMreuse_copy(handle, N, N, a.descr, b.descr, r.descr, ALG, steps, &bytes, buffer));
  for (const char* run : {"SpGEMMreuse", "SpGEMMreuse with new values"}) {
    SPARSE_CHECK(
        cusparseSpGEMMreuse_compute(handle, N, N, &alpha, a.descr, b.descr, &zero, r.descr, CUDA_R_64F, ALG, steps));
    r.expect_product(product(a, b, multiplications), 3, 0, run);
    a.draw(random), b.draw(random);
  }
  SPARSE_CHECK(cusparseSpGEMM_destroyDescr(steps));
}

// Three products at once: of three matrices A in COO, or of one in CSR for all, with three dense ones.
void batches(Random& random) {
  const int m = 7, k = 5, n = 3, count = 3, nnz = 11;
  std::vector<int> rows, columns, offsets(1, 0);
  std::vector<float> values;
  for (int b = 0; b < count; ++b)
    for (int e = 0; e < nnz; ++e) {
      rows.push_back(e * m / nnz);  // sorted
      columns.push_back((e * 3 + b) % k);
      values.push_back(static_cast<float>(random.below(17) - 8));
    }
  for (int i = 0; i < m; ++i) {
    offsets.push_back(offsets.back());
    for (int e = 0; e < nnz; ++e) offsets.back() += rows[e] == i ? 1 : 0;
  }
  std::vector<float> b(static_cast<std::size_t>(count) * k * n), old(static_cast<std::size_t>(count) * m * n, 1);
  for (float& v : b) v = static_cast<float>(random.below(17) - 8);
  cusparseSpMatDescr_t coo, csr;
  cusparseDnMatDescr_t in, out;
  float* c = to_device(old);
  const float alpha = 2, beta = -1;
  float* d_values = to_device(values);
  int* d_columns = to_device(columns);
  SPARSE_CHECK(cusparseCreateCoo(&coo, m, k, nnz, to_device(rows), d_columns, d_values, I32, CUSPARSE_INDEX_BASE_ZERO,
                                 CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateCsr(&csr, m, k, nnz, to_device(offsets), d_columns, d_values, I32, I32,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateDnMat(&in, k, n, k, to_device(b), CUDA_R_32F, CUSPARSE_ORDER_COL));
  SPARSE_CHECK(cusparseCreateDnMat(&out, m, n, m, c, CUDA_R_32F, CUSPARSE_ORDER_COL));
  SPARSE_CHECK(cusparseDnMatSetStridedBatch(in, count, k * n));
  SPARSE_CHECK(cusparseDnMatSetStridedBatch(out, count, m * n));
  SPARSE_CHECK(cusparseCooSetStridedBatch(coo, count, nnz));
  SPARSE_CHECK(cusparseCsrSetStridedBatch(csr, count, 0, 0));
  REFUSED(INVALID_VALUE, cusparseCooSetStridedBatch(csr, count, nnz));
  int told = 0;
  std::int64_t stride = 0;
  SPARSE_CHECK(cusparseSpMatGetStridedBatch(coo, &told));
  expect(told == count, "SpMatGetStridedBatch");
  SPARSE_CHECK(cusparseDnMatGetStridedBatch(in, &told, &stride));
  expect(told == count && stride == k * n, "DnMatGetStridedBatch");
  for (const bool each : {true, false}) {
    std::vector<double> wanted(old.size(), -1);
    for (int s = 0; s < count; ++s)
      for (int e = 0; e < nnz; ++e)
        for (int j = 0; j < n; ++j) {
          const std::size_t at = static_cast<std::size_t>(each ? s * nnz + e : e);
          wanted[static_cast<std::size_t>(s * m * n + j * m + rows[at])] +=
              2.0 * values[at] * b[static_cast<std::size_t>(s * k * n + j * k + columns[at])];
        }
    CUDA_CHECK(cudaMemcpy(c, old.data(), old.size() * sizeof(float), cudaMemcpyHostToDevice));
    SPARSE_CHECK(cusparseSpMM(handle, N, N, &alpha, each ? coo : csr, in, &beta, out, CUDA_R_32F,
                              each ? CUSPARSE_SPMM_COO_ALG4 : CUSPARSE_SPMM_CSR_ALG2, nullptr));
    expect_close(to_host(c, old.size()), wanted, 0, each ? "batches of COO" : "batches with one CSR matrix");
  }
  SPARSE_CHECK(cusparseDnMatSetStridedBatch(in, 2, k * n));
  REFUSED(INVALID_VALUE,
          cusparseSpMM(handle, N, N, &alpha, coo, in, &beta, out, CUDA_R_32F, CUSPARSE_SPMM_COO_ALG4, nullptr));
}

// Systems of `diagonals` bands, whose right-hand sides are those of known solutions. No diagonal dominates: pivots count.
struct Bands {
  int n, count;
  std::vector<std::vector<double>> bands;  // each of count systems, one behind the other
  std::vector<double> x, right;

  Bands(Random& random, int diagonals, int n_, int count_) : n(n_), count(count_) {
    const std::size_t all = static_cast<std::size_t>(n) * count;
    bands.assign(static_cast<std::size_t>(diagonals), std::vector<double>(all));
    right.assign(all, 0);
    for (auto& band : bands)
      for (double& v : band) v = random.uniform(-2, 2);
    for (std::size_t i = 0; i < all; i += 3) bands[static_cast<std::size_t>(diagonals / 2)][i] = 0;
    for (std::size_t i = 0; i < all; ++i) x.push_back(random.uniform(-1, 1));
    for (int s = 0; s < count; ++s)
      for (int i = 0; i < n; ++i)
        for (int d = 0; d < diagonals; ++d) {
          const int j = i + d - diagonals / 2;
          if (j < 0 || j >= n) continue;
          right[at(s, i)] += bands[static_cast<std::size_t>(d)][at(s, i)] * x[at(s, j)];
        }
  }
  std::size_t at(int s, int i) const { return static_cast<std::size_t>(s) * n + i; }
  // Element i of system s at i * count + s.
  std::vector<double> interleaved(const std::vector<double>& v) const {
    std::vector<double> out(v.size());
    for (int s = 0; s < count; ++s)
      for (int i = 0; i < n; ++i) out[static_cast<std::size_t>(i) * count + s] = v[at(s, i)];
    return out;
  }
};

void bands(Random& random) {
  const Bands five(random, 5, 19, 7), three(random, 3, 23, 5);
  std::size_t bytes = 0;
  double* p[5];
  for (int d = 0; d < 5; ++d) p[d] = to_device(five.interleaved(five.bands[static_cast<std::size_t>(d)]));
  double* x = to_device(five.interleaved(five.right));
  SPARSE_CHECK(cusparseDgpsvInterleavedBatch_bufferSizeExt(handle, 0, 19, p[0], p[1], p[2], p[3], p[4], x, 7, &bytes));
  expect(bytes > 0, "the buffer of gpsvInterleavedBatch");
  REFUSED(INVALID_VALUE, cusparseDgpsvInterleavedBatch(handle, 1, 19, p[0], p[1], p[2], p[3], p[4], x, 7, buffer));
  SPARSE_CHECK(cusparseDgpsvInterleavedBatch(handle, 0, 19, p[0], p[1], p[2], p[3], p[4], x, 7, buffer));
  expect_close(to_host(x, five.x.size()), five.interleaved(five.x), 1e-9, "gpsvInterleavedBatch");

  for (int d = 0; d < 3; ++d) p[d] = to_device(three.interleaved(three.bands[static_cast<std::size_t>(d)]));
  x = to_device(three.interleaved(three.right));
  SPARSE_CHECK(cusparseDgtsvInterleavedBatch(handle, 1, 23, p[0], p[1], p[2], x, 5, buffer));
  expect_close(to_host(x, three.x.size()), three.interleaved(three.x), 1e-9, "gtsvInterleavedBatch");
  for (int d = 0; d < 3; ++d) p[d] = to_device(three.bands[static_cast<std::size_t>(d)]);
  x = to_device(three.right);
  SPARSE_CHECK(cusparseDgtsv2StridedBatch(handle, 23, p[0], p[1], p[2], x, 5, 23, buffer));
  expect_close(to_host(x, three.x.size()), three.x, 1e-9, "gtsv2StridedBatch");
  // Right-hand sides of the first system: one and the same in two columns of 24.
  std::vector<double> twice(48);
  for (int i = 0; i < 23; ++i) twice[i] = twice[24 + i] = three.right[i];
  x = to_device(twice);
  REFUSED(INVALID_VALUE, cusparseDgtsv2(handle, 23, 2, p[0], p[1], p[2], x, 22, buffer));
  SPARSE_CHECK(cusparseDgtsv2(handle, 23, 2, p[0], p[1], p[2], x, 24, buffer));
  const std::vector<double> got = to_host(x, 48);
  for (int i = 0; i < 23; ++i) twice[i] = twice[24 + i] = three.x[i];
  expect_close(got, twice, 1e-9, "gtsv2");
}

__global__ void fill(float* x, int n, float v) {
  if (threadIdx.x < n) x[threadIdx.x] = v;
}

// Rot and SpVV at once, and again in a graph, in whose runs they take what the vectors hold then.
void vectors_and_graphs() {
  const std::vector<int> indices = {1, 2, 5};
  const std::vector<float> x_values = {1, 2, 3}, y_values = {1, 2, 3, 4, 5, 6, 7};
  float *x = to_device(x_values), *y = to_device(y_values), result = 0, c = 0.5f, s = 2;
  cusparseSpVecDescr_t sparse;
  cusparseDnVecDescr_t dense;
  SPARSE_CHECK(cusparseCreateSpVec(&sparse, 7, 3, to_device(indices), x, I32, CUSPARSE_INDEX_BASE_ONE, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateDnVec(&dense, 7, y, CUDA_R_32F));
  SPARSE_CHECK(cusparseRot(handle, &c, &s, sparse, dense));
  expect_close(to_host(x, 3), std::vector<float>{2.5f, 5, 11.5f}, 0, "x of Rot");
  expect_close(to_host(y, 7), std::vector<float>{-1.5f, -3, 3, 4, -3.5f, 6, 7}, 0, "y of Rot");

  cudaStream_t stream;
  cudaGraph_t graph;
  cudaGraphExec_t work;
  CUDA_CHECK(cudaStreamCreate(&stream));
  SPARSE_CHECK(cusparseSetStream(handle, stream));
  CUDA_CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  fill<<<1, 32, 0, stream>>>(y, 7, 2.0f);
  SPARSE_CHECK(cusparseSpVV(handle, N, sparse, dense, &result, CUDA_R_32F, nullptr));
  SPARSE_CHECK(cusparseAxpby(handle, &c, sparse, &s, dense));
  c = s = 1000;  // factors of the host were taken when the call was made
  CUDA_CHECK(cudaStreamEndCapture(stream, &graph));
  expect(result == 0, "a captured call has not run");
  SPARSE_CHECK(cusparseDestroySpVec(sparse));
  CUDA_CHECK(cudaGraphInstantiateWithFlags(&work, graph, 0));
  CUDA_CHECK(cudaGraphLaunch(work, stream));
  CUDA_CHECK(cudaStreamSynchronize(stream));
  expect(result == 38, "SpVV in a graph");
  expect_close(to_host(y, 7), std::vector<float>{5.25f, 6.5f, 4, 4, 9.75f, 4, 4}, 0, "Axpby in a graph");
  CUDA_CHECK(cudaGraphExecDestroy(work));
  CUDA_CHECK(cudaGraphDestroy(graph));
  SPARSE_CHECK(cusparseSetStream(handle, nullptr));
  CUDA_CHECK(cudaStreamDestroy(stream));
}

int main() {
  SPARSE_CHECK(cusparseCreate(&handle));
  buffer = device_array<char>(256);
  Random random(3);
  sparse_products(random);
  batches(random);
  bands(random);
  vectors_and_graphs();
  SPARSE_CHECK(cusparseDestroy(handle));
  free_device_arrays();
  std::puts("ok");
}
