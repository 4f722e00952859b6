// cuSOLVER's sparse solvers against known solutions, in double precision. nvcc: -lcusolver
#include <cusolverSp.h>

#include <algorithm>
#include <complex>

#include "../sample.hpp"

#define SOLVER_CHECK(call) expect((call) == CUSOLVER_STATUS_SUCCESS, #call)
#define REFUSED(status, call) expect((call) == CUSOLVER_STATUS_##status, #call)

cusolverSpHandle_t handle;
cusparseMatDescr_t descr;  // base 1

using Complex = std::complex<double>;
double drawn(Random& random, double) { return random.uniform(-1, 1); }
Complex drawn(Random& random, Complex) { return {random.uniform(-1, 1), random.uniform(-1, 1)}; }
double conjugate(double v) { return v; }
Complex conjugate(Complex v) { return std::conj(v); }

// m x n, about a quarter of it; positive: A = B B^H + 1, else nothing dominates.
template <class V>
struct System {
  int m, n;
  std::vector<int> offsets = {1}, columns;
  std::vector<V> values, x, right;

  System(Random& random, int m_, int n_, bool positive) : m(m_), n(n_) {
    std::vector<V> dense(static_cast<std::size_t>(m) * n);
    const auto at = [&](int i, int j) -> V& { return dense[static_cast<std::size_t>(i) * n + j]; };
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j)
        if (random.below(4) == 0 || j == (i * 7 + 3) % n) at(i, j) = drawn(random, V());
    if (positive) {
      const std::vector<V> b = dense;
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j) {
          V sum = i == j ? 1 : 0;
          for (int k = 0; k < n; ++k) sum += b[i * n + k] * conjugate(b[j * n + k]);
          at(i, j) = sum;
        }
    }
    for (int j = 0; j < n; ++j) x.push_back(drawn(random, V()));
    for (int i = 0; i < m; ++i) {
      V sum = 0;
      for (int j = 0; j < n; ++j) {
        if (at(i, j) == V(0)) continue;
        columns.push_back(j + 1);
        values.push_back(at(i, j));
        sum += at(i, j) * x[static_cast<std::size_t>(j)];
      }
      offsets.push_back(static_cast<int>(columns.size()) + 1);
      right.push_back(sum);
    }
  }
  int nnz() const { return static_cast<int>(columns.size()); }
};

template <class V>
void expect_near(const std::vector<V>& got, const std::vector<V>& wanted, const char* what) {
  expect(got.size() == wanted.size(), what);
  for (std::size_t i = 0; i < got.size(); ++i) expect(std::abs(got[i] - wanted[i]) < 1e-9, what);
}

void real_systems(Random& random) {
  const System<double> s(random, 23, 23, false), p(random, 19, 19, true);
  double* x = device_array<double>(23);
  int singularity = 7;
  SOLVER_CHECK(cusolverSpDcsrlsvqr(handle, 23, s.nnz(), descr, to_device(s.values), to_device(s.offsets),
                                   to_device(s.columns), to_device(s.right), 1e-12, 0, x, &singularity));
  expect(singularity == -1, "csrlsvqr: singularity");
  expect_near(to_host(x, 23), s.x, "csrlsvqr");
  SOLVER_CHECK(cusolverSpDcsrlsvchol(handle, 19, p.nnz(), descr, to_device(p.values), to_device(p.offsets),
                                     to_device(p.columns), to_device(p.right), 1e-12, 0, x, &singularity));
  expect(singularity == -1, "csrlsvchol: singularity");
  expect_near(to_host(x, 19), p.x, "csrlsvchol");
  std::vector<double> on_host(23);
  SOLVER_CHECK(cusolverSpDcsrlsvluHost(handle, 23, s.nnz(), descr, s.values.data(), s.offsets.data(), s.columns.data(),
                                       s.right.data(), 1e-12, 1, on_host.data(), &singularity));
  expect_near(on_host, s.x, "csrlsvluHost");
  int symmetric = 7;
  SOLVER_CHECK(cusolverSpXcsrissymHost(handle, 19, p.nnz(), descr, p.offsets.data(), p.offsets.data() + 1,
                                       p.columns.data(), &symmetric));
  expect(symmetric == 1, "csrissym of a symmetric pattern");
  SOLVER_CHECK(cusolverSpXcsrissymHost(handle, 23, s.nnz(), descr, s.offsets.data(), s.offsets.data() + 1,
                                       s.columns.data(), &symmetric));
  expect(symmetric == 0, "csrissym of another");
}

void complex_systems(Random& random) {
  const System<Complex> s(random, 17, 17, false), p(random, 13, 13, true);
  const auto numbers = [](const std::vector<Complex>& v) { return reinterpret_cast<const cuDoubleComplex*>(v.data()); };
  std::vector<Complex> x(17), y(13);
  int singularity = 7;
  SOLVER_CHECK(cusolverSpZcsrlsvqrHost(handle, 17, s.nnz(), descr, numbers(s.values), s.offsets.data(),
                                       s.columns.data(), numbers(s.right), 1e-12, 0,
                                       reinterpret_cast<cuDoubleComplex*>(x.data()), &singularity));
  expect(singularity == -1, "csrlsvqrHost: singularity");
  expect_near(x, s.x, "csrlsvqrHost of complex numbers");
  SOLVER_CHECK(cusolverSpZcsrlsvcholHost(handle, 13, p.nnz(), descr, numbers(p.values), p.offsets.data(),
                                         p.columns.data(), numbers(p.right), 1e-12, 0,
                                         reinterpret_cast<cuDoubleComplex*>(y.data()), &singularity));
  expect(singularity == -1, "csrlsvcholHost: singularity");
  expect_near(y, p.x, "csrlsvcholHost of complex numbers");
}

// {1 2 0; 2 4 0; 0 0 3}: the second row of R has a diagonal of 0, and so has that of L.
void singular() {
  const std::vector<int> offsets = {1, 3, 5, 6}, columns = {1, 2, 1, 2, 3};
  const std::vector<float> values = {1, 2, 2, 4, 3}, b = {1, 1, 1};
  std::vector<float> x(3, 7);
  int singularity = 7;
  SOLVER_CHECK(cusolverSpScsrlsvqrHost(handle, 3, 5, descr, values.data(), offsets.data(), columns.data(), b.data(),
                                       1e-6f, 0, x.data(), &singularity));
  expect(singularity == 1 && x[0] == 7, "csrlsvqrHost of a singular matrix");
  SOLVER_CHECK(cusolverSpScsrlsvcholHost(handle, 3, 5, descr, values.data(), offsets.data(), columns.data(), b.data(),
                                         1e-6f, 0, x.data(), &singularity));
  expect(singularity == 1 && x[0] == 7, "csrlsvcholHost of a singular matrix");
}

// Five systems of one pattern, three at once; then least squares, whose residual is at right angles to each column.
void batches(Random& random) {
  const System<double> s(random, 11, 11, false);
  const int count = 5, most = 3;
  std::vector<double> values, right(11 * count), wanted;
  for (int b = 0; b < count; ++b) {
    for (double v : s.values) values.push_back(v * (1 + b));
    for (int j = 0; j < 11; ++j) wanted.push_back(random.uniform(-1, 1));
    for (int i = 0; i < 11; ++i)
      for (int k = s.offsets[i] - 1; k < s.offsets[i + 1] - 1; ++k)
        right[b * 11 + i] += s.values[k] * (1 + b) * wanted[b * 11 + s.columns[k] - 1];
  }
  csrqrInfo_t info;
  std::size_t inside = 0, work = 0;
  double *d_values = to_device(values), *b = to_device(right), *x = device_array<double>(wanted.size());
  int *offsets = to_device(s.offsets), *columns = to_device(s.columns);
  char* buffer = device_array<char>(1 << 10);
  SOLVER_CHECK(cusolverSpCreateCsrqrInfo(&info));
  REFUSED(INVALID_VALUE, cusolverSpDcsrqrBufferInfoBatched(handle, 11, 11, s.nnz(), descr, d_values, offsets, columns,
                                                           most, info, &inside, &work));  // nothing was analysed
  REFUSED(INVALID_VALUE, cusolverSpXcsrqrAnalysisBatched(handle, 10, 11, s.nnz(), descr, offsets, columns, info));
  SOLVER_CHECK(cusolverSpXcsrqrAnalysisBatched(handle, 11, 11, s.nnz(), descr, offsets, columns, info));
  SOLVER_CHECK(cusolverSpDcsrqrBufferInfoBatched(handle, 11, 11, s.nnz(), descr, d_values, offsets, columns, most, info,
                                                 &inside, &work));
  expect(work > 0 && work <= 1 << 10, "the workspace of csrqrsvBatched");
  REFUSED(INVALID_VALUE, cusolverSpDcsrqrsvBatched(handle, 11, 11, s.nnz(), descr, d_values, offsets, columns, b, x,
                                                   count, info, buffer));
  for (int first = 0; first < count; first += most)
    SOLVER_CHECK(cusolverSpDcsrqrsvBatched(handle, 11, 11, s.nnz(), descr, d_values + first * s.nnz(), offsets, columns,
                                           b + first * 11, x + first * 11, std::min(most, count - first), info,
                                           buffer));
  expect_near(to_host(x, wanted.size()), wanted, "csrqrsvBatched");

  System<double> tall(random, 13, 5, false);
  for (double& v : tall.right) v += random.uniform(-1, 1);
  SOLVER_CHECK(cusolverSpXcsrqrAnalysisBatched(handle, 13, 5, tall.nnz(), descr, to_device(tall.offsets),
                                               to_device(tall.columns), info));
  SOLVER_CHECK(cusolverSpDcsrqrBufferInfoBatched(handle, 13, 5, tall.nnz(), descr, nullptr, to_device(tall.offsets),
                                                 to_device(tall.columns), 1, info, &inside, &work));
  SOLVER_CHECK(cusolverSpDcsrqrsvBatched(handle, 13, 5, tall.nnz(), descr, to_device(tall.values),
                                         to_device(tall.offsets), to_device(tall.columns), to_device(tall.right), x, 1,
                                         info, buffer));
  const std::vector<double> best = to_host(x, 5);
  std::vector<double> angles(5);
  for (int i = 0; i < 13; ++i) {
    double residual = tall.right[i];
    for (int k = tall.offsets[i] - 1; k < tall.offsets[i + 1] - 1; ++k)
      residual -= tall.values[k] * best[tall.columns[k] - 1];
    for (int k = tall.offsets[i] - 1; k < tall.offsets[i + 1] - 1; ++k)
      angles[tall.columns[k] - 1] += tall.values[k] * residual;
  }
  expect_near(angles, std::vector<double>(5), "csrqrsvBatched of more rows than columns");
  SOLVER_CHECK(cusolverSpDestroyCsrqrInfo(info));
}

int main() {
  SOLVER_CHECK(cusolverSpCreate(&handle));
  expect(cusparseCreateMatDescr(&descr) == CUSPARSE_STATUS_SUCCESS, "cusparseCreateMatDescr");
  expect(cusparseSetMatIndexBase(descr, CUSPARSE_INDEX_BASE_ONE) == CUSPARSE_STATUS_SUCCESS, "base 1");
  Random random(5);
  real_systems(random);
  complex_systems(random);
  singular();
  batches(random);
  SOLVER_CHECK(cusolverSpDestroy(handle));
  free_device_arrays();
  std::puts("ok");
}
