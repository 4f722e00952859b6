// cuSPARSE: matrices in blocks and slices (BSR, Blocked-ELL, Sliced-ELL) against a dense product in double precision.
// link: -lcusparse
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cusparse.h>

#include "sample.hpp"

#define SPARSE_CHECK(call) expect((call) == CUSPARSE_STATUS_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == CUSPARSE_STATUS_##status, #call)

const auto N = CUSPARSE_OPERATION_NON_TRANSPOSE, T = CUSPARSE_OPERATION_TRANSPOSE;
const auto I32 = CUSPARSE_INDEX_32I, I64 = CUSPARSE_INDEX_64I;
const float kAlpha = 1.5f, kBeta = -0.5f;
void* const kBuffer = nullptr;

cusparseHandle_t handle;

// A dense matrix of the host, by rows, in double.
struct Dense {
  int rows, cols;
  std::vector<double> at;
  Dense(int m, int n) : rows(m), cols(n), at(static_cast<std::size_t>(m) * n) {}
  double& operator()(int i, int j) { return at[static_cast<std::size_t>(i) * cols + j]; }
  double operator()(int i, int j) const { return at[static_cast<std::size_t>(i) * cols + j]; }
};

// alpha A B + beta C
Dense product(const Dense& a, const Dense& b, const Dense& c) {
  Dense out(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.cols; ++j) {
      double sum = 0;
      for (int k = 0; k < a.cols; ++k) sum += a(i, k) * b(k, j);
      out(i, j) = kAlpha * sum + kBeta * c(i, j);
    }
  return out;
}

Dense drawn(Random& random, int m, int n) {
  Dense d(m, n);
  for (double& v : d.at) v = random.below(17) - 8;  // exact in every type, and so are the sums
  return d;
}

template <class Value>
struct TypeOf;
template <>
struct TypeOf<float> {
  static constexpr cudaDataType value = CUDA_R_32F;
};
template <>
struct TypeOf<double> {
  static constexpr cudaDataType value = CUDA_R_64F;
};
template <>
struct TypeOf<__half> {
  static constexpr cudaDataType value = CUDA_R_16F;
};
template <>
struct TypeOf<__nv_bfloat16> {
  static constexpr cudaDataType value = CUDA_R_16BF;
};

template <class Value>
std::vector<Value> as(const std::vector<double>& v) {
  std::vector<Value> out;
  for (double x : v) out.push_back(Value(static_cast<float>(x)));
  return out;
}
template <class Value>
std::vector<double> doubles(const std::vector<Value>& v) {
  std::vector<double> out;
  for (Value x : v) out.push_back(static_cast<double>(static_cast<float>(x)));
  return out;
}

// A sparse matrix: what it is in dense form, and its descriptor.
struct Sparse {
  Dense dense;
  cusparseSpMatDescr_t descr = nullptr;
  void* values = nullptr;
  std::vector<double> stored;
};

// Blocks of m x n elements, about a third of them; offsets of 64 bits and columns of 32.
template <class Value>
Sparse bsr(Random& random, int block_rows, int block_cols, int m, int n, bool by_rows, int base) {
  Sparse s{Dense(block_rows * m, block_cols * n)};
  std::vector<std::int64_t> offsets = {base};
  std::vector<int> columns;
  for (int i = 0; i < block_rows; ++i) {
    for (int j = 0; j < block_cols; ++j) {
      if (random.below(3) != 0) continue;
      columns.push_back(j + base);
      for (int e = 0; e < m * n; ++e) {
        const int r = by_rows ? e / n : e % m, c = by_rows ? e % n : e / m;
        s.stored.push_back(random.below(17) - 8);
        s.dense(i * m + r, j * n + c) = s.stored.back();
      }
    }
    offsets.push_back(static_cast<int>(columns.size()) + base);
  }
  s.values = to_device(as<Value>(s.stored));
  SPARSE_CHECK(cusparseCreateBsr(&s.descr, block_rows, block_cols, static_cast<std::int64_t>(columns.size()), m, n,
                                 to_device(offsets), to_device(columns), s.values, I64, I32,
                                 static_cast<cusparseIndexBase_t>(base), TypeOf<Value>::value,
                                 by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  std::int64_t rows = 0, cols = 0, nnz = 0;
  SPARSE_CHECK(cusparseSpMatGetSize(s.descr, &rows, &cols, &nnz));
  expect(rows == s.dense.rows && cols == s.dense.cols && nnz == static_cast<std::int64_t>(s.stored.size()), "BSR size");
  return s;
}

// Two blocks a row, one of which is empty in every third row.
template <class Value>
Sparse blocked_ell(Random& random, int block_rows, int block_cols, int n, int base) {
  Sparse s{Dense(block_rows * n, block_cols * n)};
  const int width = 2 * n;
  std::vector<int> columns;
  s.stored.assign(static_cast<std::size_t>(s.dense.rows) * width, 99);  // what no element is
  for (int i = 0; i < block_rows; ++i) {
    const int first = random.below(block_cols - 1), second = first + 1 + random.below(block_cols - first - 1);
    for (int slot = 0; slot < 2; ++slot) {
      const bool empty = slot == 1 && i % 3 == 0;
      columns.push_back(empty ? -1 : (slot == 0 ? first : second) + base);
      for (int r = 0; r < n && !empty; ++r)
        for (int c = 0; c < n; ++c) {
          const double v = random.below(17) - 8;
          s.dense(i * n + r, (columns.back() - base) * n + c) = v;
          s.stored[static_cast<std::size_t>((i * n + r) * width + slot * n + c)] = v;
        }
    }
  }
  s.values = to_device(as<Value>(s.stored));
  SPARSE_CHECK(cusparseCreateBlockedEll(&s.descr, s.dense.rows, s.dense.cols, n, width, to_device(columns), s.values,
                                        I32, static_cast<cusparseIndexBase_t>(base), TypeOf<Value>::value));
  return s;
}

// Rows of different lengths, padded within slices; the last slice is not full. Lower triangular where asked for.
template <class Value>
Sparse sliced_ell(Random& random, int m, int n, int slice, int base, bool triangle) {
  Sparse s{Dense(m, n)};
  std::vector<int> offsets = {base}, columns;
  int nnz = 0;
  for (int first = 0; first < m; first += slice) {
    std::vector<std::vector<int>> rows(static_cast<std::size_t>(slice));
    std::size_t longest = 0;
    for (int r = 0; r < slice && first + r < m; ++r) {
      std::vector<int>& row = rows[static_cast<std::size_t>(r)];
      for (int j = 0; j < (triangle ? first + r + 1 : n); ++j)
        if (random.below(3) == 0 || (triangle && j == first + r)) row.push_back(j);
      longest = row.size() > longest ? row.size() : longest;
    }
    for (std::size_t k = 0; k < longest; ++k)
      for (int r = 0; r < slice; ++r) {
        const std::vector<int>& row = rows[static_cast<std::size_t>(r)];
        columns.push_back(k < row.size() ? row[k] + base : -1);
        s.stored.push_back(99);
        if (k >= row.size()) continue;
        s.stored.back() = triangle && row[k] == first + r ? 4 : random.below(9) - 4;
        s.dense(first + r, row[k]) = s.stored.back();
        ++nnz;
      }
    offsets.push_back(static_cast<int>(columns.size()) + base);
  }
  s.values = to_device(as<Value>(s.stored));
  SPARSE_CHECK(cusparseCreateSlicedEll(&s.descr, m, n, nnz, static_cast<std::int64_t>(columns.size()), slice,
                                       to_device(offsets), to_device(columns), s.values, I32, I32,
                                       static_cast<cusparseIndexBase_t>(base), TypeOf<Value>::value));
  return s;
}

template <class Value>
cusparseDnMatDescr_t dense_descr(const Dense& d, bool by_rows, Value** values) {
  Dense stored(by_rows ? d.rows : d.cols, (by_rows ? d.cols : d.rows) + 1);  // a leading dimension that is larger
  for (int i = 0; i < d.rows; ++i)
    for (int j = 0; j < d.cols; ++j) (by_rows ? stored(i, j) : stored(j, i)) = d(i, j);
  *values = to_device(as<Value>(stored.at));
  cusparseDnMatDescr_t descr;
  SPARSE_CHECK(cusparseCreateDnMat(&descr, d.rows, d.cols, stored.cols, *values, TypeOf<Value>::value,
                                   by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
  return descr;
}
template <class Value>
std::vector<double> read_back(const Value* values, const Dense& like, bool by_rows) {
  const int ld = (by_rows ? like.cols : like.rows) + 1;
  const auto all = doubles(to_host(values, static_cast<std::size_t>(ld) * (by_rows ? like.rows : like.cols)));
  std::vector<double> out;
  for (int i = 0; i < like.rows; ++i)
    for (int j = 0; j < like.cols; ++j) out.push_back(all[static_cast<std::size_t>(by_rows ? i * ld + j : j * ld + i)]);
  return out;
}

template <class Value>
void check_spmv(Random& random, const Sparse& a, cusparseSpMVAlg_t algorithm, const char* what) {
  const Dense x = drawn(random, a.dense.cols, 1), y = drawn(random, a.dense.rows, 1);
  Value* out = to_device(as<Value>(y.at));
  cusparseDnVecDescr_t in, result;
  SPARSE_CHECK(cusparseCreateDnVec(&in, x.rows, to_device(as<Value>(x.at)), TypeOf<Value>::value));
  SPARSE_CHECK(cusparseCreateDnVec(&result, y.rows, out, TypeOf<Value>::value));
  const auto alpha = static_cast<Value>(kAlpha), beta = static_cast<Value>(kBeta);
  SPARSE_CHECK(cusparseSpMV(handle, N, &alpha, a.descr, in, &beta, result, TypeOf<Value>::value, algorithm, kBuffer));
  expect_close(doubles(to_host(out, y.at.size())), product(a.dense, x, y).at, 0, what);
  if (x.rows != y.rows)
    REFUSED(INVALID_VALUE,
            cusparseSpMV(handle, N, &alpha, a.descr, result, &beta, in, TypeOf<Value>::value, algorithm, kBuffer));
  REFUSED(NOT_SUPPORTED,
          cusparseSpMV(handle, T, &alpha, a.descr, result, &beta, in, TypeOf<Value>::value, algorithm, kBuffer));
}

template <class Value>
void check_spmm(Random& random, const Sparse& a, bool b_by_rows, bool c_by_rows, double tolerance, const char* what) {
  const Dense b = drawn(random, a.dense.cols, 13), c = drawn(random, a.dense.rows, 13);
  Value *b_values, *c_values;
  cusparseDnMatDescr_t in = dense_descr(b, b_by_rows, &b_values), out = dense_descr(c, c_by_rows, &c_values);
  SPARSE_CHECK(
      cusparseSpMM(handle, N, N, &kAlpha, a.descr, in, &kBeta, out, CUDA_R_32F, CUSPARSE_SPMM_ALG_DEFAULT, kBuffer));
  expect_close(read_back(c_values, c, c_by_rows), product(a.dense, b, c).at, tolerance, what);
  REFUSED(INVALID_VALUE, cusparseSpMM(handle, N, T, &kAlpha, a.descr, in, &kBeta, out, CUDA_R_32F,
                                      CUSPARSE_SPMM_ALG_DEFAULT, kBuffer));
  REFUSED(NOT_SUPPORTED, cusparseSpMM(handle, N, N, &kAlpha, a.descr, in, &kBeta, out, CUDA_R_64F,
                                      CUSPARSE_SPMM_ALG_DEFAULT, kBuffer));
}

// Dense to sparse and back: a matrix in blocks takes what lies in its blocks, and leaves its padding alone.
void check_conversions(const Sparse& a, const char* what) {
  float* values;
  Dense more = a.dense;
  for (double& v : more.at) v += 100;
  cusparseDnMatDescr_t dense = dense_descr(more, true, &values);
  SPARSE_CHECK(cusparseDenseToSparse_analysis(handle, dense, a.descr, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, kBuffer));
  SPARSE_CHECK(cusparseDenseToSparse_convert(handle, dense, a.descr, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, kBuffer));
  std::vector<double> wanted = a.stored;
  for (double& v : wanted) v = v == 99 ? 99 : v + 100;
  expect_close(doubles(to_host(static_cast<float*>(a.values), wanted.size())), wanted, 0, what);
  CUDA_CHECK(cudaMemcpy(a.values, as<float>(a.stored).data(), a.stored.size() * sizeof(float), cudaMemcpyHostToDevice));
  SPARSE_CHECK(cusparseSparseToDense(handle, a.descr, dense, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, kBuffer));
  expect_close(read_back(values, a.dense, true), a.dense.at, 0, what);
}

void check_sddmm(Random& random, Sparse& c) {
  const Dense a = drawn(random, c.dense.rows, 11), b = drawn(random, 11, c.dense.cols);
  float *a_values, *b_values;
  cusparseDnMatDescr_t left = dense_descr(a, true, &a_values), right = dense_descr(b, false, &b_values);
  const Dense wanted = product(a, b, c.dense);
  SPARSE_CHECK(cusparseSDDMM(handle, N, N, &kAlpha, left, right, &kBeta, c.descr, CUDA_R_32F,
                             CUSPARSE_SDDMM_ALG_DEFAULT, kBuffer));
  // The result in the dense form of C: what C has no block for is 0 still.
  float* values;
  cusparseDnMatDescr_t all = dense_descr(Dense(wanted.rows, wanted.cols), true, &values);
  SPARSE_CHECK(cusparseSparseToDense(handle, c.descr, all, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, kBuffer));
  const std::vector<double> got = read_back(values, wanted, true);
  int blocks = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == 0) continue;
    expect(got[i] == wanted.at[i], "SDDMM of BSR");
    ++blocks;
  }
  expect(blocks > static_cast<int>(c.stored.size()) * 9 / 10, "SDDMM of BSR has written its blocks");
}

// A triangle in slices: A y = 2 x.
void check_system(Random& random, const Sparse& a) {
  const Dense y = drawn(random, a.dense.rows, 1);
  Dense x(y.rows, 1);
  for (int i = 0; i < y.rows; ++i)
    for (int j = 0; j <= i; ++j) x(i, 0) += a.dense(i, j) * y(j, 0) / 2;
  double* out = device_array<double>(y.at.size());
  const double two = 2;
  cusparseDnVecDescr_t in, result;
  SPARSE_CHECK(cusparseCreateDnVec(&in, x.rows, to_device(x.at), CUDA_R_64F));
  SPARSE_CHECK(cusparseCreateDnVec(&result, y.rows, out, CUDA_R_64F));
  cusparseSpSVDescr_t solve;
  SPARSE_CHECK(cusparseSpSV_createDescr(&solve));
  SPARSE_CHECK(cusparseSpSV_analysis(handle, N, &two, a.descr, in, result, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, solve,
                                     kBuffer));
  SPARSE_CHECK(cusparseSpSV_solve(handle, N, &two, a.descr, in, result, CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT, solve));
  expect_close(to_host(out, y.at.size()), y.at, 1e-9, "SpSV of Sliced-ELL");
  REFUSED(NOT_SUPPORTED, cusparseSpSV_analysis(handle, N, &two, a.descr, in, result, CUDA_R_32F,
                                               CUSPARSE_SPSV_ALG_DEFAULT, solve, kBuffer));
}

void check_refusals(Random& random) {
  cusparseSpMatDescr_t m = nullptr;
  const auto zero = CUSPARSE_INDEX_BASE_ZERO;
  REFUSED(INVALID_VALUE, cusparseCreateBlockedEll(&m, 10, 9, 3, 6, nullptr, nullptr, I32, zero, CUDA_R_32F));
  REFUSED(INVALID_VALUE, cusparseCreateBlockedEll(&m, 9, 9, 3, 12, nullptr, nullptr, I32, zero, CUDA_R_32F));
  REFUSED(INVALID_VALUE,
          cusparseCreateSlicedEll(&m, 9, 9, 20, 19, 2, nullptr, nullptr, nullptr, I32, I32, zero, CUDA_R_32F));
  REFUSED(INVALID_VALUE, cusparseCreateBsr(&m, 2, 2, 5, 3, 5, nullptr, nullptr, nullptr, I32, I32, zero, CUDA_R_32F,
                                           CUSPARSE_ORDER_ROW));
  REFUSED(NOT_SUPPORTED, cusparseCreateBsr(&m, 2, 2, 4, 3, 5, nullptr, nullptr, nullptr, I32, I32, zero, CUDA_C_32F,
                                           CUSPARSE_ORDER_ROW));
  // SpMV has no Blocked-ELL, SpMM no Sliced-ELL.
  const Sparse ell = blocked_ell<float>(random, 4, 5, 3, 0), slices = sliced_ell<float>(random, 7, 5, 2, 0, false);
  cusparseDnVecDescr_t x, y;
  float* memory = device_array<float>(200);
  SPARSE_CHECK(cusparseCreateDnVec(&x, 15, memory, CUDA_R_32F));
  SPARSE_CHECK(cusparseCreateDnVec(&y, 12, memory, CUDA_R_32F));
  REFUSED(NOT_SUPPORTED,
          cusparseSpMV(handle, N, &kAlpha, ell.descr, x, &kBeta, y, CUDA_R_32F, CUSPARSE_SPMV_ALG_DEFAULT, kBuffer));
  cusparseDnMatDescr_t b, c;
  SPARSE_CHECK(cusparseCreateDnMat(&b, 5, 3, 5, memory, CUDA_R_32F, CUSPARSE_ORDER_COL));
  SPARSE_CHECK(cusparseCreateDnMat(&c, 7, 3, 7, memory, CUDA_R_32F, CUSPARSE_ORDER_COL));
  REFUSED(NOT_SUPPORTED, cusparseSpMM(handle, N, N, &kAlpha, slices.descr, b, &kBeta, c, CUDA_R_32F,
                                      CUSPARSE_SPMM_ALG_DEFAULT, kBuffer));
  REFUSED(NOT_INITIALIZED, cusparseSpMM(nullptr, N, N, &kAlpha, slices.descr, b, &kBeta, c, CUDA_R_32F,
                                        CUSPARSE_SPMM_ALG_DEFAULT, kBuffer));
  std::int64_t rows = 0, cols = 0, size = 0, width = 0;
  void *columns = nullptr, *values = nullptr;
  cusparseIndexType_t index_type;
  cusparseIndexBase_t base;
  cudaDataType type;
  SPARSE_CHECK(
      cusparseBlockedEllGet(ell.descr, &rows, &cols, &size, &width, &columns, &values, &index_type, &base, &type));
  expect(rows == 12 && cols == 15 && size == 3 && width == 6 && values == ell.values && type == CUDA_R_32F &&
             index_type == I32 && base == zero,
         "BlockedEllGet");
  REFUSED(INVALID_VALUE, cusparseBlockedEllGet(slices.descr, &rows, &cols, &size, &width, &columns, &values,
                                               &index_type, &base, &type));
}

int main() {
  SPARSE_CHECK(cusparseCreate(&handle));
  Random random(7);
  for (const int base : {0, 1})
    for (const bool by_rows : {true, false}) {
      Sparse a = bsr<float>(random, 7, 5, 3, 5, by_rows, base);
      check_spmv<float>(random, a, CUSPARSE_SPMV_BSR_ALG1, "SpMV of BSR");
      check_spmm<float>(random, a, by_rows, !by_rows, 0, "SpMM of BSR");
      check_conversions(a, "conversions of BSR");
      check_sddmm(random, a);
      check_spmv<double>(random, bsr<double>(random, 5, 7, 2, 3, by_rows, base), CUSPARSE_SPMV_ALG_DEFAULT,
                         "SpMV of BSR in double");

      const Sparse ell = blocked_ell<float>(random, 7, 5, 3, base);
      check_spmm<float>(random, ell, by_rows, by_rows, 0, "SpMM of Blocked-ELL");
      check_conversions(ell, "conversions of Blocked-ELL");
      check_spmm<__half>(random, blocked_ell<__half>(random, 5, 3, 7, base), by_rows, by_rows, 1e-3,
                         "SpMM of Blocked-ELL in half");
      check_spmm<__nv_bfloat16>(random, blocked_ell<__nv_bfloat16>(random, 5, 3, 7, base), by_rows, by_rows, 8e-3,
                                "SpMM of Blocked-ELL in bfloat16");

      check_spmv<float>(random, sliced_ell<float>(random, 23, 19, 4, base, false), CUSPARSE_SPMV_SELL_ALG1,
                        "SpMV of Sliced-ELL");
      check_system(random, sliced_ell<double>(random, 23, 23, 5, base, true));
    }
  check_refusals(random);
  SPARSE_CHECK(cusparseDestroy(handle));
  free_device_arrays();
  std::puts("ok");
}
