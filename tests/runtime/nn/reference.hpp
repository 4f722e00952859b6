// The same network in double precision on the host, forward only: gradients are its differences, which knows nothing of the
// formulas that it checks.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "nn/data.hpp"
#include "nn/parameters.cuh"

using Values = std::vector<double>;

inline void expect(bool good, const std::string& what) {
  if (good) return;
  std::printf("not true: %s\n", what.c_str());
  std::exit(1);
}

// Largest difference, in parts of the largest value.
inline void close(const std::string& what, const Values& got, const Values& wanted, double tolerance) {
  expect(got.size() == wanted.size(), what + ": sizes");
  double scale = 0;
  for (double w : wanted) scale = std::max(scale, std::abs(w));
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!(std::abs(got[i] - wanted[i]) <= tolerance * scale))
      expect(false, what + ": [" + std::to_string(i) + "] is " + std::to_string(got[i]) + " instead of " +
                        std::to_string(wanted[i]));
}

// Numbers that a float holds exactly, between -scale and scale.
inline Values random_values(std::size_t n, std::uint64_t seed, double scale = 1) {
  nn::Random random(seed);
  Values out(n);
  for (double& v : out) v = static_cast<float>((2 * random.uniform() - 1) * scale);
  return out;
}

inline std::vector<int> random_tokens(std::size_t n, int vocabulary, std::uint64_t seed) {
  nn::Random random(seed);
  std::vector<int> out(n);
  for (int& t : out) t = static_cast<int>(random.below(static_cast<std::size_t>(vocabulary)));
  return out;
}

// df/dx of each element, by central differences.
inline Values differences(Values x, const std::function<double(const Values&)>& f) {
  const double h = 1e-4;
  Values out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double at = x[i];
    x[i] = at + h;
    const double above = f(x);
    x[i] = at - h;
    out[i] = (above - f(x)) / (2 * h);
    x[i] = at;
  }
  return out;
}

inline double dot(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

namespace reference {

// (N, I) (O, I)^T + (O)
inline Values linear(const Values& x, const double* W, const double* bias, int N, int I, int O) {
  Values y(static_cast<std::size_t>(N * O));
  for (int n = 0; n < N; ++n)
    for (int o = 0; o < O; ++o) {
      double sum = bias == nullptr ? 0 : bias[o];
      for (int i = 0; i < I; ++i) sum += x[n * I + i] * W[o * I + i];
      y[n * O + o] = sum;
    }
  return y;
}

inline Values layernorm(const Values& x, const double* gamma, const double* beta, int N, int C) {
  Values y(x.size());
  for (int n = 0; n < N; ++n) {
    double mean = 0, variance = 0;
    for (int c = 0; c < C; ++c) mean += x[n * C + c] / C;
    for (int c = 0; c < C; ++c) variance += (x[n * C + c] - mean) * (x[n * C + c] - mean) / C;
    for (int c = 0; c < C; ++c) y[n * C + c] = gamma[c] * (x[n * C + c] - mean) / std::sqrt(variance + 1e-5) + beta[c];
  }
  return y;
}

// qkv: (B, T, 3, H, hs); gives (B, T, H, hs).
inline Values attention(const Values& qkv, int B, int T, int H, int hs) {
  const int D = H * hs;
  Values out(static_cast<std::size_t>(B * T * D), 0);
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int t = 0; t < T; ++t) {
        const double* q = &qkv[(b * T + t) * 3 * D + h * hs];
        Values p(t + 1);
        double sum = 0;
        for (int j = 0; j <= t; ++j) {
          double score = 0;
          for (int i = 0; i < hs; ++i) score += q[i] * qkv[(b * T + j) * 3 * D + D + h * hs + i];
          sum += p[j] = std::exp(score / std::sqrt(hs));
        }
        for (int j = 0; j <= t; ++j)
          for (int i = 0; i < hs; ++i)
            out[(b * T + t) * D + h * hs + i] += p[j] / sum * qkv[(b * T + j) * 3 * D + 2 * D + h * hs + i];
      }
  return out;
}

inline double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x)));
}

inline Values gelu(Values x) {
  for (double& v : x) v = gelu(v);
  return x;
}

inline Values add(Values a, const Values& b) {
  for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

inline Values embedding(const std::vector<int>& tokens, const double* wte, const double* wpe, int T, int C) {
  Values x(tokens.size() * C);
  for (std::size_t n = 0; n < tokens.size(); ++n)
    for (int c = 0; c < C; ++c) x[n * C + c] = wte[tokens[n] * C + c] + wpe[static_cast<int>(n) % T * C + c];
  return x;
}

// The loss of each row; logits: (N, Vp), of which V columns count.
inline Values cross_entropy(const Values& logits, const std::vector<int>& targets, int V, int Vp) {
  Values out;
  for (std::size_t n = 0; n < targets.size(); ++n) {
    double sum = 0;
    for (int v = 0; v < V; ++v) sum += std::exp(logits[n * Vp + v]);
    out.push_back(std::log(sum) - logits[n * Vp + targets[n]]);
  }
  return out;
}

inline Values block(const nn::BlockTensors<const double*>& w, const Values& x, int B, int T, int C, int H, int F) {
  const int N = B * T;
  const Values qkv = linear(layernorm(x, w.ln1_gamma, w.ln1_beta, N, C), w.qkv_w, w.qkv_b, N, C, 3 * C);
  const Values mid = add(x, linear(attention(qkv, B, T, H, C / H), w.proj_w, w.proj_b, N, C, C));
  const Values fc = gelu(linear(layernorm(mid, w.ln2_gamma, w.ln2_beta, N, C), w.fc_w, w.fc_b, N, C, F));
  return add(mid, linear(fc, w.fc2_w, w.fc2_b, N, F, C));
}

// The mean loss of the model whose parameters are `flat`.
inline double loss(const nn::ModelConfig& m, const nn::ParameterLayout& layout, const Values& flat,
                   const std::vector<int>& tokens, const std::vector<int>& targets, int B, int T) {
  const auto w = nn::views(layout, flat.data());
  Values x = embedding(tokens, w.wte, w.wpe, T, m.channels);
  for (const auto& b : w.blocks) x = block(b, x, B, T, m.channels, m.heads, m.hidden());
  x = layernorm(x, w.final_gamma, w.final_beta, B * T, m.channels);
  const int Vp = m.padded_vocabulary();
  const Values losses = cross_entropy(linear(x, w.head_w, nullptr, B * T, m.channels, Vp), targets, m.vocabulary, Vp);
  double sum = 0;
  for (double l : losses) sum += l;
  return sum / static_cast<double>(losses.size());
}

}  // namespace reference

// A device array of exactly these numbers. Freed at the end of the program by those who care; here by nobody.
template <class T = float>
T* device(const Values& values) {
  std::vector<T> narrow(values.begin(), values.end());
  T* p = nullptr;
  expect(cudaMalloc(&p, narrow.size() * sizeof(T)) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(p, narrow.data(), narrow.size() * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
inline int* device(const std::vector<int>& values) {
  int* p = nullptr;
  expect(cudaMalloc(&p, values.size() * sizeof(int)) == cudaSuccess, "cudaMalloc");
  cudaMemcpy(p, values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice);
  return p;
}
inline float* zeros(std::size_t n) { return device(Values(n, 0)); }

template <class T>
Values host(const T* p, std::size_t n) {
  std::vector<T> read(n);
  const cudaError_t error = cudaMemcpy(read.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  expect(error == cudaSuccess, std::string("kernels before a copy: ") + cudaGetErrorName(error));
  return Values(read.begin(), read.end());
}
