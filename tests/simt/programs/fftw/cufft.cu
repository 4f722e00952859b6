// cuFFT against sums in double, at sizes that are primes and products of odd numbers. nvcc: -lcufft
#include <cufft.h>

#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Number = std::complex<double>;
using Array = std::vector<Number>;

static int failures = 0;

static void check(bool right, const char* what) {
  if (right) return;
  std::printf("wrong: %s\n", what);
  ++failures;
}

static double some() { return std::rand() / (RAND_MAX + 1.0) - 0.5; }

// Sums over each axis of n0 x n1 x n2, without a factor.
static Array transformed(const Array& x, const std::vector<int>& n, int direction) {
  Array from = x, to(x.size());
  std::size_t inner = x.size();
  for (const int length : n) {
    inner /= static_cast<std::size_t>(length);
    const auto m = static_cast<std::size_t>(length);
    for (std::size_t i = 0; i < from.size(); ++i) {
      const std::size_t k = i / inner % m, base = i - k * inner;
      Number sum = 0;
      for (std::size_t j = 0; j < m; ++j) {
        const double turn = direction * 2 * M_PI * static_cast<double>(j * k % m) / length;
        sum += from[base + j * inner] * Number(std::cos(turn), std::sin(turn));
      }
      to[i] = sum;
    }
    from.swap(to);
  }
  return from;
}

template <class T>
static T* managed(std::size_t count) {
  T* p = nullptr;
  cudaMallocManaged(&p, count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) p[i] = T{};
  return p;
}

template <class C>
static bool near(const C& a, const Number& b, double most) {
  return std::abs(Number(a.x, a.y) - b) <= most;
}

struct Floats {
  using Real = cufftReal;
  using Complex = cufftComplex;
  static constexpr cufftType complex = CUFFT_C2C, forward = CUFFT_R2C, backward = CUFFT_C2R;
  static constexpr double error = 2e-5;
  static cufftResult run(cufftHandle p, Complex* in, Complex* out, int d) { return cufftExecC2C(p, in, out, d); }
  static cufftResult run(cufftHandle p, Real* in, Complex* out) { return cufftExecR2C(p, in, out); }
  static cufftResult run(cufftHandle p, Complex* in, Real* out) { return cufftExecC2R(p, in, out); }
};
struct Doubles {
  using Real = cufftDoubleReal;
  using Complex = cufftDoubleComplex;
  static constexpr cufftType complex = CUFFT_Z2Z, forward = CUFFT_D2Z, backward = CUFFT_Z2D;
  static constexpr double error = 1e-12;
  static cufftResult run(cufftHandle p, Complex* in, Complex* out, int d) { return cufftExecZ2Z(p, in, out, d); }
  static cufftResult run(cufftHandle p, Real* in, Complex* out) { return cufftExecD2Z(p, in, out); }
  static cufftResult run(cufftHandle p, Complex* in, Real* out) { return cufftExecZ2D(p, in, out); }
};

static cufftHandle plan_of(const std::vector<int>& n, cufftType type, int batch) {
  cufftHandle plan = 0;
  cufftResult r = CUFFT_SUCCESS;
  if (n.size() == 1)
    r = cufftPlan1d(&plan, n[0], type, batch);
  else if (batch > 1)
    r = cufftPlanMany(&plan, static_cast<int>(n.size()), const_cast<int*>(n.data()), nullptr, 1, 0, nullptr, 1, 0, type,
                      batch);
  else if (n.size() == 2)
    r = cufftPlan2d(&plan, n[0], n[1], type);
  else
    r = cufftPlan3d(&plan, n[0], n[1], n[2], type);
  check(r == CUFFT_SUCCESS, "plan");
  return plan;
}

// All transforms of this shape, packed; `in_place` those of real numbers have padded rows.
template <class F>
static void all_of(const std::vector<int>& n, int batch) {
  using Real = typename F::Real;
  using Complex = typename F::Complex;
  std::size_t each = 1;
  for (const int length : n) each *= static_cast<std::size_t>(length);
  const auto last = static_cast<std::size_t>(n.back()), half = last / 2 + 1, rows = each / last;
  const std::size_t count = each * static_cast<std::size_t>(batch);
  auto* in = managed<Complex>(count + 2);
  auto* out = managed<Complex>(count + 2);
  const double most = F::error * std::sqrt(static_cast<double>(each)) * 4;
  const cufftHandle plan = plan_of(n, F::complex, batch);
  for (const int direction : {CUFFT_FORWARD, CUFFT_INVERSE})
    for (const bool in_place : {false, true}) {
      std::vector<Array> given(static_cast<std::size_t>(batch), Array(each));
      for (std::size_t i = 0; i < count; ++i) {
        in[i].x = static_cast<Real>(some()), in[i].y = static_cast<Real>(some());
        given[i / each][i % each] = Number(in[i].x, in[i].y);
      }
      out[count].x = 7;
      Complex* to = in_place ? in : out;
      check(F::run(plan, in, to, direction) == CUFFT_SUCCESS, "C2C runs");
      cudaDeviceSynchronize();
      for (std::size_t b = 0; b < given.size(); ++b) {
        const Array wanted = transformed(given[b], n, direction);
        for (std::size_t i = 0; i < each; ++i) check(near(to[b * each + i], wanted[i], most), "C2C");
      }
      check(out[count].x == 7, "C2C ends in time");
    }
  cufftDestroy(plan);

  const cufftHandle forward = plan_of(n, F::forward, batch), backward = plan_of(n, F::backward, batch);
  for (const bool in_place : {false, true}) {
    const std::size_t row = in_place ? 2 * half : last;
    auto* spectrum = managed<Complex>(rows * half * static_cast<std::size_t>(batch));
    auto* real = in_place ? reinterpret_cast<Real*>(spectrum) : managed<Real>(count);
    std::vector<Array> given(static_cast<std::size_t>(batch), Array(each));
    for (std::size_t i = 0; i < count; ++i) {
      const double v = static_cast<Real>(some());
      given[i / each][i % each] = v;
      real[i / last * row + i % last] = static_cast<Real>(v);
    }
    check(F::run(forward, real, spectrum) == CUFFT_SUCCESS, "R2C runs");
    cudaDeviceSynchronize();
    for (std::size_t b = 0; b < given.size(); ++b) {
      const Array wanted = transformed(given[b], n, CUFFT_FORWARD);
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t i = 0; i < half; ++i)
          check(near(spectrum[(b * rows + r) * half + i], wanted[r * last + i], most), "R2C");
    }
    check(F::run(backward, spectrum, real) == CUFFT_SUCCESS, "C2R runs");
    cudaDeviceSynchronize();
    for (std::size_t i = 0; i < count; ++i) {
      const double back = real[i / last * row + i % last] / static_cast<double>(each);
      check(std::abs(back - given[i / each][i % each].real()) <= most, "C2R of R2C");
    }
    if (!in_place) cudaFree(real);
    cudaFree(spectrum);
  }
  cufftDestroy(forward);
  cufftDestroy(backward);
  cudaFree(in);
  cudaFree(out);
}

// Columns of a matrix, 9 rows of 5, the results as rows with a gap.
static void strided() {
  int n[] = {9}, in_embed[] = {9}, out_embed[] = {11};
  auto* in = managed<cufftComplex>(45);
  auto* out = managed<cufftComplex>(55);
  for (int i = 0; i < 45; ++i) in[i].x = static_cast<float>(some()), in[i].y = static_cast<float>(some());
  cufftHandle plan = 0;
  check(cufftPlanMany(&plan, 1, n, in_embed, 5, 1, out_embed, 1, 11, CUFFT_C2C, 5) == CUFFT_SUCCESS, "strided plan");
  check(cufftExecC2C(plan, in, out, CUFFT_FORWARD) == CUFFT_SUCCESS, "strided runs");
  cudaDeviceSynchronize();
  for (int column = 0; column < 5; ++column) {
    Array given;
    for (int i = 0; i < 9; ++i) given.emplace_back(in[5 * i + column].x, in[5 * i + column].y);
    const Array wanted = transformed(given, {9}, CUFFT_FORWARD);
    for (int i = 0; i < 9; ++i) check(near(out[11 * column + i], wanted[static_cast<std::size_t>(i)], 1e-4), "strided");
    check(out[11 * column + 9].x == 0 && out[11 * column + 10].x == 0, "the gap is left alone");
  }
  cufftDestroy(plan);
  cudaFree(in);
  cudaFree(out);
}

__global__ void ramp(cufftComplex* x) {
  x[threadIdx.x].x = static_cast<float>(threadIdx.x);
  x[threadIdx.x].y = 0;
}

// In the order of its stream; and what cuFFT refuses.
static void streams_and_errors() {
  constexpr int n = 21;
  cudaStream_t stream = nullptr;
  cudaStreamCreate(&stream);
  auto* x = managed<cufftComplex>(n);
  cufftHandle plan = 0;
  std::size_t bytes = 1;
  check(cufftCreate(&plan) == CUFFT_SUCCESS, "create");
  check(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "not made");
  check(cufftMakePlan1d(plan, n, CUFFT_C2C, 1, &bytes) == CUFFT_SUCCESS, "make");
  check(cufftMakePlan1d(plan, n, CUFFT_C2C, 1, &bytes) == CUFFT_INVALID_PLAN, "made twice");
  check(cufftSetStream(plan, stream) == CUFFT_SUCCESS, "stream");
  ramp<<<1, n, 0, stream>>>(x);
  check(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_SUCCESS, "in a stream");
  cudaStreamSynchronize(stream);
  check(near(x[0], n * (n - 1) / 2, 1e-3), "behind the kernel");
  check(cufftExecC2C(plan, x, x, 0) == CUFFT_INVALID_VALUE, "direction");
  check(cufftExecC2C(plan, nullptr, x, CUFFT_FORWARD) == CUFFT_INVALID_VALUE, "null");
  check(cufftExecR2C(plan, reinterpret_cast<float*>(x), x) == CUFFT_INVALID_VALUE, "another type");
  check(cufftDestroy(plan) == CUFFT_SUCCESS && cufftDestroy(plan) == CUFFT_INVALID_PLAN, "destroyed twice");
  check(cufftExecC2C(plan, x, x, CUFFT_FORWARD) == CUFFT_INVALID_PLAN, "destroyed");
  int zero[] = {0};
  check(cufftPlan1d(&plan, 0, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "no size");
  check(cufftPlan1d(&plan, -3, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE, "a negative size");
  check(cufftPlan1d(&plan, 8, CUFFT_C2C, 0) == CUFFT_INVALID_SIZE, "no batch");
  check(cufftPlan1d(&plan, 8, static_cast<cufftType>(7), 1) == CUFFT_INVALID_TYPE, "type");
  check(cufftPlan1d(nullptr, 8, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "nowhere to put it");
  check(cufftPlanMany(&plan, 1, zero, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1) == CUFFT_INVALID_SIZE,
        "many of none");
  check(cufftPlanMany(&plan, 4, zero, nullptr, 1, 1, nullptr, 1, 1, CUFFT_C2C, 1) == CUFFT_INVALID_VALUE, "rank");
  cudaFree(x);
  cudaStreamDestroy(stream);
}

int main() {
  for (const std::vector<int>& n : std::vector<std::vector<int>>{{1}, {2}, {7}, {30}, {97}, {255}}) {
    all_of<Floats>(n, 1);
    all_of<Doubles>(n, 3);
  }
  for (const std::vector<int>& n : std::vector<std::vector<int>>{{5, 7}, {9, 10}, {3, 5, 11}, {7, 2, 6}}) {
    all_of<Floats>(n, 1);
    all_of<Doubles>(n, 1);
    all_of<Doubles>(n, 2);
  }
  strided();
  streams_and_errors();
  if (failures == 0) std::puts("ok");
  return failures == 0 ? 0 : 1;
}
