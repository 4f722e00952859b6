// More of cuSOLVER: what it gives is multiplied out. nvcc: -lcusolver
#include <cusolverDn.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using Z = std::complex<double>;

static int failures = 0;
static void check(bool ok, const char* what) {
  if (!ok) std::printf("wrong: %s\n", what), ++failures;
}
#define DO(call) check((call) == CUSOLVER_STATUS_SUCCESS, #call)

static std::mt19937 draw(2);
static double number() { return std::uniform_real_distribution<>(-1, 1)(draw); }
static void set(double& v) { v = number(); }
static void set(Z& v) { v = {number(), number()}; }
static double conj_of(double v) { return v; }
static Z conj_of(Z v) { return std::conj(v); }

// n x n by columns, without padding; memory of the device that the host may read.
template <class T>
struct Array {
  T* at = nullptr;
  explicit Array(int count) { cudaMallocManaged(&at, sizeof(T) * count); }
  ~Array() { cudaFree(at); }
  Array(const Array&) = delete;
};
template <class T>
static std::vector<T> random_matrix(int rows, int columns) {
  std::vector<T> a(rows * columns);
  for (T& v : a) set(v);
  return a;
}
// Symmetric or Hermitian, and positive definite where `shift` is large.
template <class T>
static std::vector<T> self_adjoint(int n, double shift) {
  std::vector<T> a = random_matrix<T>(n, n), s(n * n);
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) s[j * n + i] = a[j * n + i] + conj_of(a[i * n + j]) + (i == j ? T(shift) : T(0));
  return s;
}
template <class T>
static void put(Array<T>& to, const std::vector<T>& from) {
  for (std::size_t i = 0; i < from.size(); ++i) to.at[i] = from[i];
}
static cuDoubleComplex* raw(Z* p) { return reinterpret_cast<cuDoubleComplex*>(p); }

// The largest |a x - lambda b x| of `count` pairs; b empty: the identity.
template <class T, class W>
static double residual(const std::vector<T>& a, const std::vector<T>& b, const Z* x, const W* w, int n, int count) {
  double worst = 0;
  for (int k = 0; k < count; ++k)
    for (int i = 0; i < n; ++i) {
      Z left = 0, right = b.empty() ? x[k * n + i] : Z(0);
      for (int j = 0; j < n; ++j) {
        left += a[j * n + i] * x[k * n + j];
        if (!b.empty()) right += b[j * n + i] * x[k * n + j];
      }
      worst = std::fmax(worst, std::abs(left - w[k] * right));
    }
  return worst;
}
static std::vector<Z> complex_of(const double* p, int count) { return {p, p + count}; }

static void eigenvalues(cusolverDnHandle_t h) {
  constexpr int n = 11;
  const std::vector<double> a = self_adjoint<double>(n, 0), b = self_adjoint<double>(n, 12);
  Array<double> at(n * n), bt(n * n), w(n), work(64);
  Array<int> info(4);
  int lwork = 0, found = 0;
  put(at, a);
  DO(cusolverDnDsyevdx_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n, at.at,
                                  n, 0, 0, 3, 6, &found, w.at, &lwork));
  DO(cusolverDnDsyevdx(h, CUSOLVER_EIG_MODE_VECTOR, CUSOLVER_EIG_RANGE_I, CUBLAS_FILL_MODE_LOWER, n, at.at, n, 0, 0, 3,
                       6, &found, w.at, work.at, lwork, info.at));
  check(found == 4 && *info.at == 0 && residual(a, {}, complex_of(at.at, n * n).data(), w.at, n, 4) < 1e-12, "syevdx");
  const double third = w.at[0], sixth = w.at[3];
  put(at, a);
  DO(cusolverDnDsyevdx(h, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_RANGE_V, CUBLAS_FILL_MODE_UPPER, n, at.at, n,
                       third + 1e-9, sixth + 1e-9, 0, 0, &found, w.at, work.at, lwork, info.at));
  check(found == 3 && std::fabs(w.at[2] - sixth) < 1e-12, "syevdx by values");
  put(at, a), put(bt, b);
  DO(cusolverDnDsygvd(h, CUSOLVER_EIG_TYPE_1, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_UPPER, n, at.at, n, bt.at, n,
                      w.at, work.at, lwork, info.at));
  check(residual(a, b, complex_of(at.at, n * n).data(), w.at, n, n) < 1e-11, "sygvd");
  const std::vector<Z> c = self_adjoint<Z>(n, 0);
  Array<Z> ct(n * n);
  put(ct, c);
  syevjInfo_t params = nullptr;
  DO(cusolverDnCreateSyevjInfo(&params));
  DO(cusolverDnXsyevjSetTolerance(params, 1e-9));
  DO(cusolverDnZheevj(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, raw(ct.at), n, w.at, nullptr, 0, info.at,
                      params));
  check(residual(c, {}, ct.at, w.at, n, n) < 1e-12, "heevj");
  DO(cusolverDnDestroySyevjInfo(params));

  // A rotation by a right angle beside other numbers: a conjugate pair among the values of a real matrix.
  std::vector<double> r = random_matrix<double>(n, n);
  r[1] = 9, r[n] = -9;
  Array<double> rt(n * n);
  put(rt, r);
  Array<Z> values(n), vectors(n * n);
  cusolverDnParams_t x = nullptr;
  std::size_t device = 0, host = 0;
  DO(cusolverDnCreateParams(&x));
  DO(cusolverDnXgeev_bufferSize(h, x, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, CUDA_R_64F, rt.at, n,
                                CUDA_C_64F, values.at, CUDA_C_64F, nullptr, n, CUDA_C_64F, vectors.at, n, CUDA_R_64F,
                                &device, &host));
  Array<char> room(static_cast<int>(device) + 1);
  DO(cusolverDnXgeev(h, x, CUSOLVER_EIG_MODE_NOVECTOR, CUSOLVER_EIG_MODE_VECTOR, n, CUDA_R_64F, rt.at, n, CUDA_C_64F,
                     values.at, CUDA_C_64F, nullptr, n, CUDA_C_64F, vectors.at, n, CUDA_R_64F, room.at, device, nullptr,
                     host, info.at));
  double imaginary = 0;
  for (int i = 0; i < n; ++i) imaginary = std::fmax(imaginary, std::fabs(values.at[i].imag()));
  check(imaginary > 8 && residual(r, {}, vectors.at, values.at, n, n) < 1e-12, "Xgeev");
  DO(cusolverDnDestroyParams(x));
}

static void singular_values(cusolverDnHandle_t h) {
  constexpr int m = 9, n = 6;
  const std::vector<double> a = random_matrix<double>(m, n);
  Array<double> at(m * n), s(n), u(m * m), v(n * n);
  Array<int> info(2);
  const auto product = [&](int k) {  // the largest |a - u s v^T|, with k values
    double worst = 0;
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < m; ++i) {
        double sum = 0;
        for (int p = 0; p < k; ++p) sum += u.at[p * m + i] * s.at[p] * v.at[p * n + j];
        worst = std::fmax(worst, std::fabs(sum - a[j * m + i]));
      }
    return worst;
  };
  gesvdjInfo_t params = nullptr;
  DO(cusolverDnCreateGesvdjInfo(&params));
  for (int econ : {0, 1}) {
    put(at, a);
    DO(cusolverDnDgesvdj(h, CUSOLVER_EIG_MODE_VECTOR, econ, m, n, at.at, m, s.at, u.at, m, v.at, n, nullptr, 0, info.at,
                         params));
    check(*info.at == 0 && product(n) < 1e-12, "gesvdj");
  }
  DO(cusolverDnDestroyGesvdjInfo(params));
  const double last = s.at[n - 1];
  put(at, a);
  double left = 0;
  DO(cusolverDnDgesvdaStridedBatched(h, CUSOLVER_EIG_MODE_VECTOR, n - 1, m, n, at.at, m, m * n, s.at, n, u.at, m, m * n,
                                     v.at, n, n * n, nullptr, 0, info.at, &left, 1));
  check(std::fabs(left - last) < 1e-12 && product(n - 1) < last + 1e-12, "gesvda leaves the least singular value");
  bool same = true;
  for (int i = 0; i < m * n; ++i) same = same && at.at[i] == a[i];
  check(same, "gesvda leaves its matrix as it is");
}

static void solutions(cusolverDnHandle_t h) {
  constexpr int n = 12, r = 3;
  const std::vector<double> a = self_adjoint<double>(n, 14), b = random_matrix<double>(n, r);
  Array<double> at(n * n), bt(n * r), xt(n * r);
  Array<int> info(2), pivots(n);
  Array<int64_t> wide(n);
  const auto solved = [&](const double* x) {
    double worst = 0;
    for (int k = 0; k < r; ++k)
      for (int i = 0; i < n; ++i) {
        double sum = 0;
        for (int j = 0; j < n; ++j) sum += a[j * n + i] * x[k * n + j];
        worst = std::fmax(worst, std::fabs(sum - b[k * n + i]));
      }
    return worst < 1e-12;
  };
  int iterations = 7;
  put(at, a), put(bt, b);
  DO(cusolverDnDSgesv(h, n, r, at.at, n, pivots.at, bt.at, n, xt.at, n, nullptr, 0, &iterations, info.at));
  check(solved(xt.at) && iterations == 0 && *info.at == 0, "DSgesv");
  cusolverDnIRSParams_t refine = nullptr;
  cusolverDnIRSInfos_t infos = nullptr;
  DO(cusolverDnIRSParamsCreate(&refine));
  DO(cusolverDnIRSInfosCreate(&infos));
  DO(cusolverDnIRSParamsSetSolverPrecisions(refine, CUSOLVER_R_64F, CUSOLVER_R_16F));
  DO(cusolverDnIRSParamsSetRefinementSolver(refine, CUSOLVER_IRS_REFINE_GMRES));
  put(at, a), put(bt, b);
  DO(cusolverDnIRSXgesv(h, refine, infos, n, r, at.at, n, bt.at, n, xt.at, n, nullptr, 0, &iterations, info.at));
  check(solved(xt.at), "IRSXgesv");
  DO(cusolverDnIRSInfosDestroy(infos));
  DO(cusolverDnIRSParamsDestroy(refine));

  put(at, a), put(bt, b);
  DO(cusolverDnXgetrf(h, nullptr, n, n, CUDA_R_64F, at.at, n, wide.at, CUDA_R_64F, nullptr, 0, nullptr, 0, info.at));
  DO(cusolverDnXgetrs(h, nullptr, CUBLAS_OP_N, n, r, CUDA_R_64F, at.at, n, wide.at, CUDA_R_64F, bt.at, n, info.at));
  check(solved(bt.at), "Xgetrf and Xgetrs");
  put(at, a), put(bt, b);
  DO(cusolverDnXpotrf(h, nullptr, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F, at.at, n, CUDA_R_64F, nullptr, 0, nullptr, 0,
                      info.at));
  DO(cusolverDnXpotrs(h, nullptr, CUBLAS_FILL_MODE_LOWER, n, r, CUDA_R_64F, at.at, n, CUDA_R_64F, bt.at, n, info.at));
  check(solved(bt.at), "Xpotrf and Xpotrs");
  put(at, a), put(bt, b);
  Array<double*> pointers(2);
  pointers.at[0] = at.at, pointers.at[1] = bt.at;
  DO(cusolverDnDpotrfBatched(h, CUBLAS_FILL_MODE_LOWER, n, pointers.at, n, info.at, 1));
  DO(cusolverDnDpotrsBatched(h, CUBLAS_FILL_MODE_LOWER, n, r, pointers.at, n, pointers.at + 1, n, info.at, 1));
  check(solved(bt.at), "potrfBatched and potrsBatched");

  // The inverse of a triangle, times the triangle.
  put(at, a);
  DO(cusolverDnXtrtri(h, CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT, n, CUDA_R_64F, at.at, n, nullptr, 0, nullptr, 0,
                      info.at));
  double worst = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i <= j; ++i) {
      double sum = 0;
      for (int p = i; p <= j; ++p) sum += a[p * n + i] * at.at[j * n + p];
      worst = std::fmax(worst, std::fabs(sum - (i == j ? 1 : 0)));
    }
  check(worst < 1e-13, "Xtrtri");
}

int main() {
  cusolverDnHandle_t h = nullptr;
  DO(cusolverDnCreate(&h));
  eigenvalues(h);
  singular_values(h);
  solutions(h);
  DO(cusolverDnDestroy(h));
  if (failures == 0) std::puts("ok");
  return failures != 0;
}
