// The same GPT in double precision on the host, forward and backward: what check.cpp of labs 07 to 10 holds answers
// against. Plain loops in the order of the formulas; only the matrix products are spread over the cores. Letters as in
// README.md.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <span>
#include <stdexcept>
#include <vector>

#include "checks/compare.hpp"
#include "checks/wide.hpp"
#include "nn/layout.hpp"

namespace nn::reference {

using Values = std::vector<double>;

// rows_of(n, body): body(first, last) over parts of [0, n). `work`: multiplications in one of the n.
template <class Body>
void rows_of(std::size_t n, std::size_t work, Body body) {
  ridge::lab::parallel_for(n, body, std::max<std::size_t>(1, (std::size_t{1} << 22) / std::max<std::size_t>(1, work)));
}

RIDGE_WIDE inline double dot(const double* a, const double* b, std::size_t n) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

// y += a x
RIDGE_WIDE inline void add(double* y, double a, const double* x, std::size_t n) {
#pragma omp simd
  for (std::size_t i = 0; i < n; ++i) y[i] += a * x[i];
}

// y (N, O) = x (N, I) W^T + b; W: (O, I), b: (O) or null. A row of W is read once.
inline Values linear(const Values& x, const double* W, const double* b, std::size_t N, std::size_t I, std::size_t O) {
  Values y(N * O);
  rows_of(O, N * I, [&](std::size_t from, std::size_t to) {
    for (std::size_t o = from; o < to; ++o)
      for (std::size_t n = 0; n < N; ++n) y[n * O + o] = dot(&x[n * I], W + o * I, I) + (b == nullptr ? 0 : b[o]);
  });
  return y;
}

// d: (N, O), the gradient of y. Adds to dW (O, I) and, unless null, to db (O); returns that of x: (N, I).
inline Values linear_backward(const Values& d, const Values& x, const double* W, double* dW, double* db, std::size_t N,
                              std::size_t I, std::size_t O) {
  rows_of(O, N * I, [&](std::size_t from, std::size_t to) {
    for (std::size_t o = from; o < to; ++o)
      for (std::size_t n = 0; n < N; ++n) {
        add(dW + o * I, d[n * O + o], &x[n * I], I);
        if (db != nullptr) db[o] += d[n * O + o];
      }
  });
  Values dx(N * I, 0);
  constexpr std::size_t kColumns = 256;  // of W at once: those of all rows of dx stay in a cache
  rows_of((I + kColumns - 1) / kColumns, N * O * kColumns, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from * kColumns; i < std::min(I, to * kColumns); i += kColumns)
      for (std::size_t o = 0; o < O; ++o)
        for (std::size_t n = 0; n < N; ++n) add(&dx[n * I + i], d[n * O + o], W + o * I + i, std::min(kColumns, I - i));
  });
  return dx;
}

// Row by row (x - mean) / sqrt(variance + 1e-5); what backward needs too.
struct Normalized {
  Values x;     // (N, C)
  Values rstd;  // (N)
};
inline Normalized normalize(const Values& x, std::size_t N, std::size_t C) {
  Normalized out{Values(x.size()), Values(N)};
  for (std::size_t n = 0; n < N; ++n) {
    double mean = 0, variance = 0;
    for (std::size_t c = 0; c < C; ++c) mean += x[n * C + c] / static_cast<double>(C);
    for (std::size_t c = 0; c < C; ++c)
      variance += (x[n * C + c] - mean) * (x[n * C + c] - mean) / static_cast<double>(C);
    out.rstd[n] = 1 / std::sqrt(variance + 1e-5);
    for (std::size_t c = 0; c < C; ++c) out.x[n * C + c] = (x[n * C + c] - mean) * out.rstd[n];
  }
  return out;
}

inline Values layernorm(const Normalized& x, const double* gamma, const double* beta, std::size_t N, std::size_t C) {
  Values y(N * C);
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t c = 0; c < C; ++c) y[n * C + c] = gamma[c] * x.x[n * C + c] + beta[c];
  return y;
}

// Adds to dgamma and dbeta, and adds the gradient of the layer norm's input to `dx`, all of it (N, C).
inline void layernorm_backward(const Values& d, const Normalized& x, const double* gamma, double* dgamma, double* dbeta,
                               Values& dx, std::size_t N, std::size_t C) {
  for (std::size_t n = 0; n < N; ++n) {
    double mean = 0, along = 0;
    for (std::size_t c = 0; c < C; ++c) {
      const double g = d[n * C + c], z = x.x[n * C + c];
      dgamma[c] += g * z, dbeta[c] += g;
      mean += g * gamma[c] / static_cast<double>(C), along += g * gamma[c] * z / static_cast<double>(C);
    }
    for (std::size_t c = 0; c < C; ++c)
      dx[n * C + c] += x.rstd[n] * (d[n * C + c] * gamma[c] - mean - x.x[n * C + c] * along);
  }
}

// qkv: (B, T, 3, H, hs); P: (B, H, T, T), o: (B, T, H, hs).
inline void attention(const Values& qkv, Values& P, Values& o, std::size_t B, std::size_t T, std::size_t H,
                      std::size_t hs) {
  const std::size_t A = H * hs;
  const double scale = 1 / std::sqrt(static_cast<double>(hs));
  P.assign(B * H * T * T, 0), o.assign(B * T * A, 0);
  rows_of(B * H, 2 * T * T * hs, [&](std::size_t from, std::size_t to) {
    for (std::size_t bh = from; bh < to; ++bh)
      for (std::size_t t = 0; t < T; ++t) {
        const std::size_t b = bh / H, h = bh % H;
        const double* q = &qkv[(b * T + t) * 3 * A + h * hs];
        double *p = &P[(bh * T + t) * T], top = -INFINITY, sum = 0;
        for (std::size_t j = 0; j <= t; ++j) {
          const double* k = &qkv[(b * T + j) * 3 * A + A + h * hs];
          for (std::size_t i = 0; i < hs; ++i) p[j] += q[i] * k[i] * scale;
          top = std::max(top, p[j]);
        }
        for (std::size_t j = 0; j <= t; ++j) sum += p[j] = std::exp(p[j] - top);
        for (std::size_t j = 0; j <= t; ++j) {
          const double* v = &qkv[(b * T + j) * 3 * A + 2 * A + h * hs];
          p[j] /= sum;
          for (std::size_t i = 0; i < hs; ++i) o[(b * T + t) * A + h * hs + i] += p[j] * v[i];
        }
      }
  });
}

// d: (B, T, H, hs), the gradient of o; returns that of qkv.
inline Values attention_backward(const Values& d, const Values& qkv, const Values& P, std::size_t B, std::size_t T,
                                 std::size_t H, std::size_t hs) {
  const std::size_t A = H * hs;
  const double scale = 1 / std::sqrt(static_cast<double>(hs));
  Values out(qkv.size(), 0);
  rows_of(B * H, 4 * T * T * hs, [&](std::size_t from, std::size_t to) {
    for (std::size_t bh = from; bh < to; ++bh)
      for (std::size_t t = 0; t < T; ++t) {
        const std::size_t b = bh / H, h = bh % H, at = (b * T + t) * 3 * A + h * hs;
        const double *p = &P[(bh * T + t) * T], *g = &d[(b * T + t) * A + h * hs];
        Values dp(t + 1, 0);
        double along = 0;
        for (std::size_t j = 0; j <= t; ++j) {
          const std::size_t v = (b * T + j) * 3 * A + 2 * A + h * hs;
          for (std::size_t i = 0; i < hs; ++i) dp[j] += g[i] * qkv[v + i], out[v + i] += p[j] * g[i];
          along += p[j] * dp[j];
        }
        for (std::size_t j = 0; j <= t; ++j) {
          const std::size_t k = (b * T + j) * 3 * A + A + h * hs;
          const double ds = p[j] * (dp[j] - along) * scale;
          for (std::size_t i = 0; i < hs; ++i) out[at + i] += ds * qkv[k + i], out[k + i] += ds * qkv[at + i];
        }
      }
  });
  return out;
}

inline double gelu(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
inline double gelu_slope(double x) {
  const double a = std::sqrt(2 / std::numbers::pi), t = std::tanh(a * (x + 0.044715 * x * x * x));
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * a * (1 + 3 * 0.044715 * x * x);
}

struct Shape {
  std::size_t B, T, C, H, F;
  std::size_t rows() const { return B * T; }
};
inline Shape shape(const ModelConfig& m, int B, int T) {
  auto z = [](int n) { return static_cast<std::size_t>(n); };
  return {z(B), z(T), z(m.channels), z(m.heads), z(m.hidden())};
}

using Weights = BlockTensors<const double*>;
using Gradients = BlockTensors<double*>;

// The activations of a block's forward pass that its backward pass needs.
struct Tape {
  Normalized norm1, norm2;
  Values ln1, qkv, P, o, ln2, fc, act;
};

// x: (B, T, C); returns the block's output.
inline Values block_forward(const Weights& w, const Shape& s, const Values& x, Tape& t) {
  const std::size_t N = s.rows(), C = s.C, F = s.F;
  auto add = [](Values a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  };
  t.norm1 = normalize(x, N, C);
  t.ln1 = layernorm(t.norm1, w.ln1_gamma, w.ln1_beta, N, C);
  t.qkv = linear(t.ln1, w.qkv_w, w.qkv_b, N, C, 3 * C);
  attention(t.qkv, t.P, t.o, s.B, s.T, s.H, C / s.H);
  const Values mid = add(linear(t.o, w.proj_w, w.proj_b, N, C, C), x);
  t.norm2 = normalize(mid, N, C);
  t.ln2 = layernorm(t.norm2, w.ln2_gamma, w.ln2_beta, N, C);
  t.fc = linear(t.ln2, w.fc_w, w.fc_b, N, C, F);
  t.act.resize(t.fc.size());
  std::transform(t.fc.begin(), t.fc.end(), t.act.begin(), gelu);
  return add(linear(t.act, w.fc2_w, w.fc2_b, N, F, C), mid);
}

// d: the gradient of the block's output, becomes that of its input. Adds to g.
inline void block_backward(const Weights& w, const Gradients& g, const Shape& s, const Tape& t, Values& d) {
  const std::size_t N = s.rows(), C = s.C, F = s.F;
  Values inner = linear_backward(d, t.act, w.fc2_w, g.fc2_w, g.fc2_b, N, F, C);
  for (std::size_t i = 0; i < inner.size(); ++i) inner[i] *= gelu_slope(t.fc[i]);
  inner = linear_backward(inner, t.ln2, w.fc_w, g.fc_w, g.fc_b, N, C, F);
  layernorm_backward(inner, t.norm2, w.ln2_gamma, g.ln2_gamma, g.ln2_beta, d, N, C);
  inner = linear_backward(d, t.o, w.proj_w, g.proj_w, g.proj_b, N, C, C);
  inner = attention_backward(inner, t.qkv, t.P, s.B, s.T, s.H, C / s.H);
  inner = linear_backward(inner, t.ln1, w.qkv_w, g.qkv_w, g.qkv_b, N, C, 3 * C);
  layernorm_backward(inner, t.norm1, w.ln1_gamma, g.ln1_gamma, g.ln1_beta, d, N, C);
}

// The sum of the losses of all tokens, each times `scale` (1 / (B T): their mean), for flat weights of the layout; adds
// the gradient of that to `gradients`, unless it is empty. tokens, targets: (B, T). Throws where a token is not in the
// vocabulary.
inline double loss(const ModelConfig& m, const ParameterLayout& layout, const Values& weights,
                   std::span<const int> tokens, std::span<const int> targets, int B, int T, double scale,
                   std::span<double> gradients = {}) {
  const Shape s = shape(m, B, T);
  const std::size_t N = s.rows(), C = s.C, V = static_cast<std::size_t>(m.vocabulary);
  if (weights.size() != layout.elements || tokens.size() != N || targets.size() != N)
    throw std::invalid_argument("nn::reference: sizes of weights, tokens and targets");
  for (std::size_t n = 0; n < N; ++n)
    if (tokens[n] < 0 || tokens[n] >= m.vocabulary || targets[n] < 0 || targets[n] >= m.vocabulary)
      throw std::invalid_argument("nn::reference: a token that the vocabulary does not have");
  const auto w = views(layout, weights.data());

  auto at = [&](std::size_t n) { return static_cast<std::size_t>(tokens[n]) * C; };
  Values x(N * C);
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t c = 0; c < C; ++c) x[n * C + c] = w.wte[at(n) + c] + w.wpe[n % s.T * C + c];
  std::vector<Tape> tapes(w.blocks.size());
  for (std::size_t l = 0; l < tapes.size(); ++l) x = block_forward(w.blocks[l], s, x, tapes[l]);
  const Normalized last = normalize(x, N, C);
  const Values final = layernorm(last, w.final_gamma, w.final_beta, N, C);
  Values d = linear(final, w.head_w, nullptr, N, C, V);  // logits, then their gradient
  double sum = 0;
  for (std::size_t n = 0; n < N; ++n) {
    double* row = &d[n * V];
    const double top = *std::max_element(row, row + V);
    double all = 0;
    for (std::size_t v = 0; v < V; ++v) all += std::exp(row[v] - top);
    const auto target = static_cast<std::size_t>(targets[n]);
    sum += scale * (std::log(all) + top - row[target]);
    for (std::size_t v = 0; v < V; ++v) row[v] = scale * (std::exp(row[v] - top) / all - (v == target ? 1 : 0));
  }
  if (gradients.empty()) return sum;

  const auto g = views(layout, gradients.data());
  const Values inner = linear_backward(d, final, w.head_w, g.head_w, nullptr, N, C, V);
  d.assign(N * C, 0);
  layernorm_backward(inner, last, w.final_gamma, g.final_gamma, g.final_beta, d, N, C);
  for (std::size_t l = tapes.size(); l-- > 0;) block_backward(w.blocks[l], g.blocks[l], s, tapes[l], d);
  for (std::size_t n = 0; n < N; ++n)
    for (std::size_t c = 0; c < C; ++c) g.wte[at(n) + c] += d[n * C + c], g.wpe[n % s.T * C + c] += d[n * C + c];
  return sum;
}

// Weights as training starts with them: matrices normal with the layout's spread, gamma 1, all else 0.
template <class Normal>
void initial_weights(const ParameterLayout& layout, std::span<float> flat, Normal normal) {
  std::fill(flat.begin(), flat.end(), 0.0f);
  for (const Parameter& p : layout.parameters)
    for (std::size_t i = 0; i < p.size(); ++i) flat[p.offset + i] = p.mean + p.std * static_cast<float>(normal());
}

}  // namespace nn::reference
