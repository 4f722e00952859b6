// cuBLAS by the definition of each operation; sizes are no multiples of anything. nvcc: -lcublas
#include <cublas_v2.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <vector>

using Z = std::complex<double>;

static int failures = 0;
static void check(bool ok, const char* what) {
  if (!ok) std::printf("wrong: %s\n", what), ++failures;
}
#define DO(call) check((call) == CUBLAS_STATUS_SUCCESS, #call)

static std::mt19937 draw(1);
static void set(double& v) { v = std::uniform_real_distribution<>(-1, 1)(draw); }
static void set(Z& v) {
  v = {std::uniform_real_distribution<>(-1, 1)(draw), std::uniform_real_distribution<>(-1, 1)(draw)};
}
static double conj_of(double v) { return v; }
static Z conj_of(Z v) { return std::conj(v); }

// Matrices are columns; memory of the device that the host may read.
template <class T>
struct Matrix {
  int rows, columns, ld;
  T* at;
  Matrix(int r, int c, int padding = 2) : rows(r), columns(c), ld(r + padding) {
    cudaMallocManaged(&at, sizeof(T) * ld * c);
    for (int i = 0; i < ld * c; ++i) set(at[i]);
  }
  ~Matrix() { cudaFree(at); }
  Matrix(const Matrix&) = delete;
  T& operator()(int i, int j) { return at[j * ld + i]; }
  std::vector<T> copy() const { return {at, at + ld * columns}; }
};
static double* raw(double* p) { return p; }
static cuDoubleComplex* raw(Z* p) { return reinterpret_cast<cuDoubleComplex*>(p); }

template <class T>
using Value = std::function<T(int, int)>;
template <class T>
Value<T> op_of(Matrix<T>& m, cublasOperation_t op) {
  return [&m, op](int i, int j) {
    return op == CUBLAS_OP_N ? m(i, j) : op == CUBLAS_OP_T ? m(j, i) : conj_of(m(j, i));
  };
}
// One triangle, and the other as it follows from the first.
template <class T>
Value<T> symmetric(Matrix<T>& m, bool upper, bool hermitian) {
  return [&m, upper, hermitian](int i, int j) -> T {
    if (i == j) return hermitian ? T(std::real(m(i, i))) : m(i, i);
    if ((i < j) == upper) return m(i, j);
    return hermitian ? T(conj_of(m(j, i))) : m(j, i);
  };
}
template <class T>
Value<T> triangle(Matrix<T>& m, bool upper, bool unit, cublasOperation_t op) {
  return [&m, upper, unit, op](int i, int j) -> T {
    const int r = op == CUBLAS_OP_N ? i : j, c = op == CUBLAS_OP_N ? j : i;
    const T v = r == c ? (unit ? T(1) : m(r, c)) : (r < c) == upper ? m(r, c) : T(0);
    return op == CUBLAS_OP_C ? conj_of(v) : v;
  };
}
// alpha a b + beta c before the call, with `k` the length of the sums; only where `inside`.
template <class T>
void expect(
    const char* what, Matrix<T>& c, const std::vector<T>& before, T alpha, const Value<T>& a, const Value<T>& b, int k,
    T beta, const std::function<bool(int, int)>& inside = [](int, int) { return true; }) {
  double worst = 0;
  for (int j = 0; j < c.columns; ++j)
    for (int i = 0; i < c.ld; ++i) {
      T want = before[j * c.ld + i];
      if (i < c.rows && inside(i, j)) {
        T sum = 0;
        for (int p = 0; p < k; ++p) sum += a(i, p) * b(p, j);
        want = alpha * sum + beta * want;
      }
      worst = std::fmax(worst, std::abs(c.at[j * c.ld + i] - want));
    }
  check(worst < 1e-12, what);
}

constexpr int m = 13, n = 7, k = 5;
constexpr cublasFillMode_t kUp = CUBLAS_FILL_MODE_UPPER, kLow = CUBLAS_FILL_MODE_LOWER;
constexpr cublasSideMode_t kLeft = CUBLAS_SIDE_LEFT, kRight = CUBLAS_SIDE_RIGHT;
constexpr cublasOperation_t kN = CUBLAS_OP_N, kT = CUBLAS_OP_T, kC = CUBLAS_OP_C;

static void real_matrices(cublasHandle_t h) {
  const double alpha = 1.25, beta = -0.5;
  for (const cublasFillMode_t u : {kUp, kLow}) {
    const bool upper = u == kUp;
    const auto inside = [&](int i, int j) { return i == j || (i < j) == upper; };
    Matrix<double> a(m, m), b(m, n), c(m, n), x(m, k), y(m, k), s(m, m);
    auto before = c.copy();
    DO(cublasDsymm(h, kLeft, u, m, n, &alpha, a.at, a.ld, b.at, b.ld, &beta, c.at, c.ld));
    expect<double>("symm", c, before, alpha, symmetric(a, upper, false), op_of(b, kN), m, beta);
    before = s.copy();
    DO(cublasDsyrk(h, u, kN, m, k, &alpha, x.at, x.ld, &beta, s.at, s.ld));
    expect<double>("syrk", s, before, alpha, op_of(x, kN), op_of(x, kT), k, beta, inside);
    before = s.copy();
    DO(cublasDsyrkx(h, u, kN, m, k, &alpha, x.at, x.ld, y.at, y.ld, &beta, s.at, s.ld));
    expect<double>("syrkx", s, before, alpha, op_of(x, kN), op_of(y, kT), k, beta, inside);
    before = s.copy();
    DO(cublasDsyr2k(h, u, kN, m, k, &alpha, x.at, x.ld, y.at, y.ld, &beta, s.at, s.ld));
    expect<double>(
        "syr2k", s, before, alpha, [&](int i, int p) { return p < k ? x(i, p) : y(i, p - k); },
        [&](int p, int j) { return p < k ? y(j, p) : x(j, p - k); }, 2 * k, beta, inside);
    for (const cublasOperation_t op : {kN, kT}) {
      for (int i = 0; i < m; ++i) a(i, i) += 4;  // far from singular
      before = c.copy();
      DO(cublasDtrmm(h, kLeft, u, op, CUBLAS_DIAG_NON_UNIT, m, n, &alpha, a.at, a.ld, b.at, b.ld, c.at, c.ld));
      expect<double>("trmm", c, before, alpha, triangle(a, upper, false, op), op_of(b, kN), m, 0);
      const auto product = c.copy();
      DO(cublasDtrsm(h, kLeft, u, op, CUBLAS_DIAG_NON_UNIT, m, n, &alpha, a.at, a.ld, c.at, c.ld));
      // a (solution) = alpha (right side): multiplied out again.
      Matrix<double> again(m, n);
      const double one = 1;
      const auto old = again.copy();
      DO(cublasDtrmm(h, kLeft, u, op, CUBLAS_DIAG_NON_UNIT, m, n, &one, a.at, a.ld, c.at, c.ld, again.at, again.ld));
      double worst = 0;
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < m; ++i) worst = std::fmax(worst, std::fabs(again(i, j) - alpha * product[j * c.ld + i]));
      check(worst < 1e-11, "trsm");
      Matrix<double> v(m, 1, 0);
      before = v.copy();
      DO(cublasDtrmv(h, u, op, CUBLAS_DIAG_UNIT, m, a.at, a.ld, v.at, 1));
      Matrix<double> old_v(m, 1, 0);
      for (int i = 0; i < m; ++i) old_v(i, 0) = before[i];
      expect<double>("trmv", v, before, 1, triangle(a, upper, true, op), op_of(old_v, kN), m, 0);
      DO(cublasDtrsv(h, u, op, CUBLAS_DIAG_UNIT, m, a.at, a.ld, v.at, 1));
      worst = 0;
      for (int i = 0; i < m; ++i) worst = std::fmax(worst, std::fabs(v(i, 0) - before[i]));
      check(worst < 1e-6, "trsv");
    }
    // Packed and banded matrices are the same ones, stored otherwise.
    Matrix<double> v(m, 1, 0), y1(m, 1, 0), y2(m, 1, 0), y3(m, 1, 0), packed(m * (m + 1) / 2, 1, 0), band(m, m, 0);
    const double zero = 0;
    DO(cublasDtrttp(h, u, m, a.at, a.ld, packed.at));
    for (int j = 0; j < m; ++j)
      for (int i = upper ? 0 : j; i <= (upper ? j : m - 1); ++i) band(upper ? m - 1 + i - j : i - j, j) = a(i, j);
    DO(cublasDsymv(h, u, m, &alpha, a.at, a.ld, v.at, 1, &zero, y1.at, 1));
    DO(cublasDspmv(h, u, m, &alpha, packed.at, v.at, 1, &zero, y2.at, 1));
    DO(cublasDsbmv(h, u, m, m - 1, &alpha, band.at, band.ld, v.at, 1, &zero, y3.at, 1));
    double worst = 0;
    for (int i = 0; i < m; ++i)
      worst = std::fmax(worst, std::fmax(std::fabs(y1(i, 0) - y2(i, 0)), std::fabs(y1(i, 0) - y3(i, 0))));
    expect<double>("symv", y1, std::vector<double>(m), alpha, symmetric(a, upper, false), op_of(v, kN), m, 0);
    check(worst < 1e-12, "spmv and sbmv are symv");
    Matrix<double> back(m, m);
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) back(i, j) = 0;
    DO(cublasDtpttr(h, u, m, packed.at, back.at, back.ld));
    bool same = true;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) same = same && back(i, j) == (inside(i, j) ? a(i, j) : 0);
    check(same, "tpttr is the inverse of trttp");
  }
}

static void complex_matrices(cublasHandle_t h) {
  const Z alpha(1.25, -0.75), beta(-0.5, 0.25);
  const double real_alpha = 0.75, real_beta = -1.5;
  const auto *pa = reinterpret_cast<const cuDoubleComplex*>(&alpha),
             *pb = reinterpret_cast<const cuDoubleComplex*>(&beta);
  for (const cublasOperation_t ta : {kN, kT, kC})
    for (const cublasOperation_t tb : {kN, kT, kC}) {
      Matrix<Z> a(ta == kN ? m : k, ta == kN ? k : m), b(tb == kN ? k : n, tb == kN ? n : k), c(m, n);
      auto before = c.copy();
      DO(cublasZgemm(h, ta, tb, m, n, k, pa, raw(a.at), a.ld, raw(b.at), b.ld, pb, raw(c.at), c.ld));
      expect<Z>("zgemm", c, before, alpha, op_of(a, ta), op_of(b, tb), k, beta);
      before = c.copy();
      DO(cublasGemmEx(h, ta, tb, m, n, k, pa, a.at, CUDA_C_64F, a.ld, b.at, CUDA_C_64F, b.ld, pb, c.at, CUDA_C_64F,
                      c.ld, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT));
      expect<Z>("GemmEx of complex numbers", c, before, alpha, op_of(a, ta), op_of(b, tb), k, beta);
    }
  for (const cublasFillMode_t u : {kUp, kLow}) {
    const bool upper = u == kUp;
    const auto inside = [&](int i, int j) { return i == j || (i < j) == upper; };
    Matrix<Z> a(n, n), b(m, n), c(m, n), x(m, k), y(m, k), s(m, m);
    auto before = c.copy();
    DO(cublasZhemm(h, kRight, u, m, n, pa, raw(a.at), a.ld, raw(b.at), b.ld, pb, raw(c.at), c.ld));
    expect<Z>("hemm", c, before, alpha, op_of(b, kN), symmetric(a, upper, true), n, beta);
    for (int i = 0; i < m; ++i) s(i, i) = std::real(s(i, i));
    before = s.copy();
    DO(cublasZherk(h, u, kN, m, k, &real_alpha, raw(x.at), x.ld, &real_beta, raw(s.at), s.ld));
    expect<Z>("herk", s, before, real_alpha, op_of(x, kN), op_of(x, kC), k, real_beta, inside);
    before = s.copy();
    DO(cublasZsyrkx(h, u, kN, m, k, pa, raw(x.at), x.ld, raw(y.at), y.ld, pb, raw(s.at), s.ld));
    expect<Z>("zsyrkx", s, before, alpha, op_of(x, kN), op_of(y, kT), k, beta, inside);
    check(cublasZherk(h, u, kT, m, k, &real_alpha, raw(x.at), x.ld, &real_beta, raw(s.at), s.ld) ==
              CUBLAS_STATUS_INVALID_VALUE,
          "herk takes no transpose");
    Matrix<Z> v(m, 1, 0), w(m, 1, 0), r(m, m);
    before = r.copy();
    DO(cublasZher(h, u, m, &real_alpha, raw(v.at), 1, raw(r.at), r.ld));
    double worst = 0;
    for (int j = 0; j < m; ++j)
      for (int i = 0; i < m; ++i) {
        Z want = before[j * r.ld + i];
        if (i == j) want = std::real(want);
        if (inside(i, j)) want += real_alpha * v(i, 0) * std::conj(v(j, 0));
        worst = std::fmax(worst, std::abs(r(i, j) - want));
      }
    check(worst < 1e-12, "her");
    before = r.copy();
    DO(cublasZsyr2(h, u, m, pa, raw(v.at), 1, raw(w.at), 1, raw(r.at), r.ld));
    expect<Z>(
        "zsyr2", r, before, alpha, [&](int i, int p) { return p == 0 ? v(i, 0) : w(i, 0); },
        [&](int p, int j) { return p == 0 ? w(j, 0) : v(j, 0); }, 2, 1, inside);
  }
}

static void vectors(cublasHandle_t h) {
  Matrix<Z> x(20, 1, 0), y(20, 1, 0);
  Z *dot = nullptr, want = 0, unconjugated = 0;
  cudaMallocManaged(&dot, sizeof(Z));
  double norm = 0, sum = 0;
  for (int i = 0; i < 9; ++i) {  // y is walked from its end
    want += std::conj(x(2 * i, 0)) * y(8 - i, 0), unconjugated += x(2 * i, 0) * y(8 - i, 0);
    norm += std::norm(x(2 * i, 0)), sum += std::fabs(x(2 * i, 0).real()) + std::fabs(x(2 * i, 0).imag());
  }
  DO(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_DEVICE));
  DO(cublasZdotc(h, 9, raw(x.at), 2, raw(y.at), -1, raw(dot)));
  check(std::abs(*dot - want) < 1e-13, "zdotc");
  DO(cublasZdotu(h, 9, raw(x.at), 2, raw(y.at), -1, raw(dot)));
  check(std::abs(*dot - unconjugated) < 1e-13, "zdotu");
  DO(cublasSetPointerMode(h, CUBLAS_POINTER_MODE_HOST));
  double result = 0;
  DO(cublasDznrm2(h, 9, raw(x.at), 2, &result));
  check(std::fabs(result - std::sqrt(norm)) < 1e-13, "dznrm2");
  DO(cublasDzasum(h, 9, raw(x.at), 2, &result));
  check(std::fabs(result - sum) < 1e-13, "dzasum");
  DO(cublasNrm2Ex(h, 9, x.at, CUDA_C_64F, 2, &result, CUDA_R_64F, CUDA_C_64F));
  check(std::fabs(result - std::sqrt(norm)) < 1e-13, "Nrm2Ex");
  // A rotation that makes the second component 0, then a turn by it.
  double a = 3, b = 4, c = 0, s = 0;
  DO(cublasDrotg(h, &a, &b, &c, &s));
  check(std::fabs(a - 5) < 1e-14 && std::fabs(c - 0.6) < 1e-14 && std::fabs(s - 0.8) < 1e-14, "drotg");
  Matrix<double> p(3, 1, 0), q(3, 1, 0);
  p(1, 0) = 3, q(1, 0) = 4;
  DO(cublasDrot(h, 3, p.at, 1, q.at, 1, &c, &s));
  check(std::fabs(p(1, 0) - 5) < 1e-14 && std::fabs(q(1, 0)) < 1e-14, "drot");
  const double two = 2;
  q(1, 0) = 1;
  DO(cublasAxpyEx(h, 3, &two, CUDA_R_64F, p.at, CUDA_R_64F, 1, q.at, CUDA_R_64F, 1, CUDA_R_64F));
  check(std::fabs(q(1, 0) - 11) < 1e-14, "AxpyEx");
  int at = 0;
  x(5, 0) = {40, 40}, x(11, 0) = {0, 0};
  DO(cublasIzamax(h, 20, raw(x.at), 1, &at));
  check(at == 6, "izamax");
  DO(cublasIzamin(h, 20, raw(x.at), 1, &at));
  check(at == 12, "izamin");
  cudaFree(dot);
}

static void batches(cublasHandle_t h) {
  Matrix<double> a(m, k), b(k, n), c1(m, n), c2(m, n), d(m, 1, 0);
  const double alpha[] = {2, -1}, beta[] = {0, 1};
  double** pointers = nullptr;
  cudaMallocManaged(&pointers, 6 * sizeof(double*));
  for (int i = 0; i < 2; ++i) pointers[i] = a.at, pointers[2 + i] = b.at;
  pointers[4] = c1.at, pointers[5] = c2.at;
  const cublasOperation_t none[] = {kN, kN};
  const int rows[] = {m, m}, columns[] = {n, n}, inner[] = {k, k}, lda[] = {a.ld, a.ld}, ldb[] = {b.ld, b.ld},
            ldc[] = {c1.ld, c2.ld}, one[] = {1, 1};
  const auto before1 = c1.copy(), before2 = c2.copy();
  DO(cublasDgemmGroupedBatched(h, none, none, rows, columns, inner, alpha, pointers, lda, pointers + 2, ldb, beta,
                               pointers + 4, ldc, 2, one));
  expect<double>("first group", c1, before1, 2, op_of(a, kN), op_of(b, kN), k, 0);
  expect<double>("second group", c2, before2, -1, op_of(a, kN), op_of(b, kN), k, 1);
  DO(cublasDdgmm(h, kLeft, m, n, c1.at, c1.ld, d.at, 1, c2.at, c2.ld));
  bool good = true;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < m; ++i) good = good && c2(i, j) == c1(i, j) * d(i, 0);
  check(good, "dgmm");
  // The same product with sizes of 64 bits, and by the name in the library.
  const auto before = c2.copy();
  DO(cublasDgemm_64(h, kN, kN, std::int64_t{m}, std::int64_t{n}, std::int64_t{k}, alpha, a.at, std::int64_t{a.ld}, b.at,
                    std::int64_t{b.ld}, beta + 1, c2.at, std::int64_t{c2.ld}));
  expect<double>("dgemm_64", c2, before, 2, op_of(a, kN), op_of(b, kN), k, 1);
  const auto again = c2.copy();
  DO(cublasDgemm_v2(h, kN, kN, m, n, k, alpha, a.at, a.ld, b.at, b.ld, beta + 1, c2.at, c2.ld));
  expect<double>("dgemm_v2", c2, again, 2, op_of(a, kN), op_of(b, kN), k, 1);
  check(cublasDgemm_64(h, kN, kN, std::int64_t{1} << 40, n, k, alpha, a.at, a.ld, b.at, b.ld, beta, c2.at, c2.ld) ==
            CUBLAS_STATUS_INVALID_VALUE,
        "a size beyond 32 bits is refused");
  cudaFree(pointers);
}

int main() {
  cublasHandle_t h = nullptr;
  DO(cublasCreate(&h));
  real_matrices(h);
  complex_matrices(h);
  vectors(h);
  batches(h);
  DO(cublasSetEmulationStrategy(h, CUDA_EMULATION_STRATEGY_EAGER));
  cublasEmulationStrategy_t strategy = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  DO(cublasGetEmulationStrategy(h, &strategy));
  check(strategy == CUBLAS_EMULATION_STRATEGY_EAGER, "emulation strategy");
  DO(cublasDestroy(h));
  if (failures == 0) std::puts("ok");
  return failures != 0;
}
