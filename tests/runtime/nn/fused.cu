// Fused attention against double precision: both types, every head size, lengths that are multiples of nothing.
// Usage: fused small | large
#include <string>

#include "nn/fused_attention_backward.cuh"
#include "reference.hpp"

namespace {

template <class T>
T* device_of(const Values& values) {
  std::vector<T> rounded;
  for (double v : values) rounded.push_back(T(static_cast<float>(v)));
  T* p = nullptr;
  cudaMalloc(&p, rounded.size() * sizeof(T));
  cudaMemcpy(p, rounded.data(), rounded.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T>
Values host_of(const T* p, std::size_t n) {
  std::vector<T> values(n);
  expect(cudaMemcpy(values.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost) == cudaSuccess, "a kernel failed");
  Values out;
  for (T v : values) out.push_back(static_cast<double>(static_cast<float>(v)));
  return out;
}

// dqkv of dot(d_o, attention(qkv)), by the formulas in fused_attention_backward.cuh.
Values attention_backward(const Values& qkv, const Values& d_o, int B, int T, int H, int hs) {
  const int D = H * hs;
  Values d(qkv.size(), 0);
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int t = 0; t < T; ++t) {
        auto at = [&](int row, int part) { return static_cast<std::size_t>((b * T + row) * 3 + part) * D + h * hs; };
        const double* g = &d_o[static_cast<std::size_t>(b * T + t) * D + h * hs];
        Values p(t + 1), dp(t + 1);
        double sum = 0, delta = 0;
        for (int j = 0; j <= t; ++j) {
          double score = 0;
          for (int i = 0; i < hs; ++i)
            score += qkv[at(t, 0) + i] * qkv[at(j, 1) + i], dp[j] += g[i] * qkv[at(j, 2) + i];
          sum += p[j] = std::exp(score / std::sqrt(hs));
        }
        for (int j = 0; j <= t; ++j) p[j] /= sum, delta += p[j] * dp[j];
        for (int j = 0; j <= t; ++j) {
          const double ds = p[j] * (dp[j] - delta) / std::sqrt(hs);
          for (int i = 0; i < hs; ++i) {
            d[at(t, 0) + i] += ds * qkv[at(j, 1) + i];
            d[at(j, 1) + i] += ds * qkv[at(t, 0) + i];
            d[at(j, 2) + i] += p[j] * g[i];
          }
        }
      }
  return d;
}

// Off by so much of the largest of all, at most: P and dS are rounded to T once, and sums of T go into the result.
void near(const std::string& what, const Values& got, const Values& wanted, double tolerance) {
  double largest = 0, worst = 0;
  for (double v : wanted) largest = std::max(largest, std::abs(v));
  for (std::size_t i = 0; i < wanted.size(); ++i) worst = std::max(worst, std::abs(got[i] - wanted[i]));
  std::printf("%s: off by %.5f of the largest\n", what.c_str(), worst / largest);
  expect(worst <= tolerance * largest, what + " is not what double precision gives");
  for (double v : got) expect(!std::isnan(v), what + " has a NaN");
}

// whole: o of all rows. Those before a first one must stay what they were.
template <class Type>
void from_row(const std::string& what, const Type* qkv, const Values& whole, double tolerance, int B, int T, int H,
              int hs) {
  const std::size_t row = static_cast<std::size_t>(H) * hs;
  for (int first : {T / 3, T - 1}) {
    auto* o = device_of<Type>(Values(whole.size(), NAN));
    nn::fused_attention_forward(qkv, o, zeros(B * H * T), B, T, H, hs, nullptr, first);
    const Values all = host_of(o, whole.size());
    Values got, wanted;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (static_cast<int>(i / row) % T >= first)
        got.push_back(all[i]), wanted.push_back(whole[i]);
      else
        expect(std::isnan(all[i]), what + ": a row before the first one was written");
    near(what + " from row " + std::to_string(first) + ": o", got, wanted, tolerance);
  }
}

template <class Type>
void test(const char* name, double tolerance, int B, int T, int H, int hs) {
  const int D = H * hs, N = B * T;
  const std::string what = std::string(name) + " T " + std::to_string(T) + " hs " + std::to_string(hs);
  auto* qkv = device_of<Type>(random_values(static_cast<std::size_t>(N) * 3 * D, 7, 2));
  auto* d_o = device_of<Type>(random_values(static_cast<std::size_t>(N) * D, 8));
  const Values inputs = host_of(qkv, static_cast<std::size_t>(N) * 3 * D),
               g = host_of(d_o, static_cast<std::size_t>(N) * D);
  // What is not written would be a NaN.
  auto* o = device_of<Type>(Values(static_cast<std::size_t>(N) * D, NAN));
  auto* dqkv = device_of<Type>(Values(static_cast<std::size_t>(N) * 3 * D, NAN));
  float *logs = zeros(B * H * T), *delta = zeros(B * H * T);
  nn::fused_attention_forward(qkv, o, logs, B, T, H, hs, nullptr);
  const Values whole = reference::attention(inputs, B, T, H, hs);
  near(what + ": o", host_of(o, static_cast<std::size_t>(N) * D), whole, tolerance);
  from_row<Type>(what, qkv, whole, tolerance, B, T, H, hs);
  nn::fused_attention_backward(d_o, qkv, o, logs, dqkv, delta, B, T, H, hs, nullptr);
  near(what + ": dqkv", host_of(dqkv, static_cast<std::size_t>(N) * 3 * D), attention_backward(inputs, g, B, T, H, hs),
       tolerance);
}

template <class Type>
void all(const char* name, double tolerance, bool large) {
  test<Type>(name, tolerance, 2, 1, 1, 16);
  test<Type>(name, tolerance, 2, 7, 3, 16);
  test<Type>(name, tolerance, 1, 70, 2, 32);
  test<Type>(name, tolerance, 1, 150, 1, 64);
  test<Type>(name, tolerance, 1, 131, 1, 128);
  if (!large) return;
  test<Type>(name, tolerance, 2, 256, 2, 64);
  test<Type>(name, tolerance, 2, 333, 3, 64);
  test<Type>(name, tolerance, 1, 257, 2, 128);
}

}  // namespace

int main(int argc, char** argv) {
  const bool large = argc > 1 && std::string(argv[1]) == "large";
  all<__nv_bfloat16>("bf16", 0.012, large);
  all<__half>("fp16", 0.002, large);
  bool refused = false;
  try {
    nn::fused_attention_forward<__half>(nullptr, nullptr, nullptr, 1, 1, 1, 24, nullptr);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  expect(refused, "heads of 24 channels are refused");
  std::puts("ok");
}
