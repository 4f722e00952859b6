// Every kernel of runtime/nn, forward against a reference in double precision, backward against its differences. Sizes are
// multiples of nothing.
#pragma once
#include "nn/adamw.cuh"
#include "nn/attention.cuh"
#include "nn/columns.cuh"
#include "nn/elementwise.cuh"
#include "nn/embedding.cuh"
#include "nn/layernorm.cuh"
#include "nn/loss.cuh"
#include "reference.hpp"

namespace kernels {

const int B = 2, T = 7, C = 36, H = 3, V = 61, Vp = 64, N = B * T;
const double kTolerance = 2e-6, kGradient = 5e-6;  // of fp32 sums of a few dozen terms

void test_embedding() {
  const std::vector<int> tokens = random_tokens(N, 5, 1);  // of few values: some come more than once
  const Values wte = random_values(Vp * C, 2), wpe = random_values(9 * C, 3), dx = random_values(N * C, 4);
  float *x = zeros(N * C), *dwte = zeros(Vp * C), *dwpe = zeros(9 * C);
  nn::embedding_forward(device(tokens), device(wte), device(wpe), x, B, T, C, nullptr);
  close("embedding", host(x, N * C), reference::embedding(tokens, wte.data(), wpe.data(), T, C), kTolerance);
  nn::embedding_backward(device(tokens), device(dx), dwte, dwpe, B, T, C, nullptr);
  close("embedding dwte", host(dwte, Vp * C),
        differences(wte,
                    [&](const Values& w) { return dot(dx, reference::embedding(tokens, w.data(), wpe.data(), T, C)); }),
        kGradient);
  close("embedding dwpe", host(dwpe, 9 * C),
        differences(wpe,
                    [&](const Values& w) { return dot(dx, reference::embedding(tokens, wte.data(), w.data(), T, C)); }),
        kGradient);
}

// More tokens than a block looks at in one turn.
void test_many_tokens() {
  const int n = 4600, c = 3;
  const std::vector<int> tokens = random_tokens(n, V, 5);
  const Values dx = random_values(n * c, 6);
  Values wanted(V * c, 0);
  for (int i = 0; i < n * c; ++i) wanted[tokens[i / c] * c + i % c] += dx[i];
  float *dwte = zeros(V * c), *dwpe = zeros(n * c);
  nn::embedding_backward(device(tokens), device(dx), dwte, dwpe, 1, n, c, nullptr);
  close("dwte of many tokens", host(dwte, V * c), wanted, kGradient);
}

// C: channels; 35 in fp32 are no whole vectors of four.
void test_layernorm(int C) {
  // Rows far from 0: a variance from sums of squares would be wrong here.
  Values x = random_values(N * C, 10);
  for (int i = 0; i < N * C; ++i) x[i] = static_cast<float>(x[i] + 5 * (i / C % 3));
  const Values gamma = random_values(C, 11), beta = random_values(C, 12), dy = random_values(N * C, 13),
               add = random_values(N * C, 14);
  float *y = zeros(N * C), *mean = zeros(N), *rstd = zeros(N), *dx = device(add), *dgamma = zeros(C), *dbeta = zeros(C);
  float *scratch = zeros(nn::column_scratch(C)), *d_x = device(x), *d_gamma = device(gamma), *d_dy = device(dy);
  nn::layernorm_forward(d_x, d_gamma, device(beta), y, mean, rstd, N, C, nullptr);
  close("layernorm", host(y, N * C), reference::layernorm(x, gamma.data(), beta.data(), N, C), kTolerance);
  auto f = [&](const Values& x, const Values& gamma, const Values& beta) {
    return dot(dy, reference::layernorm(x, gamma.data(), beta.data(), N, C));
  };
  nn::layernorm_backward(d_dy, d_x, d_gamma, mean, rstd, dx, dx, dgamma, dbeta, N, C, scratch, nullptr);
  const Values wanted = differences(x, [&](const Values& v) { return f(v, gamma, beta); });
  close("layernorm dx, added to a residual's", host(dx, N * C), reference::add(wanted, add), kGradient);
  close("layernorm dgamma", host(dgamma, C), differences(gamma, [&](const Values& v) { return f(x, v, beta); }),
        kGradient);
  close("layernorm dbeta", host(dbeta, C), differences(beta, [&](const Values& v) { return f(x, gamma, v); }),
        kGradient);
  float* alone = zeros(N * C);
  nn::layernorm_backward<float>(d_dy, d_x, d_gamma, mean, rstd, nullptr, alone, dgamma, dbeta, N, C, scratch, nullptr);
  close("layernorm dx", host(alone, N * C), wanted, kGradient);
}

// Rows for several chunks, the last one short, and columns beyond a block's.
void test_columns() {
  for (int rows : {1, 64, 65, 5000}) {
    const int columns = rows > 100 ? 3 : rows == 64 ? 140 : 37;
    const Values dy = random_values(static_cast<std::size_t>(rows) * columns, 20), before = random_values(columns, 21);
    Values wanted = before;
    for (int i = 0; i < rows * columns; ++i) wanted[i % columns] += dy[i];
    float* db = device(before);
    nn::bias_backward(device(dy), db, rows, columns, zeros(nn::column_scratch(columns)), nullptr);
    close("sums of " + std::to_string(rows) + " rows", host(db, columns), wanted, 4 * kTolerance);
  }
}

void test_linear(const nn::Gemm& gemm) {
  const int O = 29;
  const Values x = random_values(N * C, 30), W = random_values(O * C, 31), dy = random_values(N * O, 32);
  float *y = zeros(N * O), *dx = zeros(N * C), *dW = device(W);
  nn::linear_forward(gemm, device(x), device(W), y, N, C, O);
  close("linear", host(y, N * O), reference::linear(x, W.data(), nullptr, N, C, O), kTolerance);
  nn::linear_backward_input(gemm, device(dy), device(W), dx, N, C, O);
  close("linear dx", host(dx, N * C),
        differences(x, [&](const Values& v) { return dot(dy, reference::linear(v, W.data(), nullptr, N, C, O)); }),
        kGradient);
  nn::linear_backward_weight(gemm, device(dy), device(x), dW, N, C, O);
  close("linear dW, added to", host(dW, O * C),
        reference::add(
            differences(W, [&](const Values& v) { return dot(dy, reference::linear(x, v.data(), nullptr, N, C, O)); }),
            W),
        kGradient);
}

void test_attention(const nn::Gemm& gemm) {
  const int hs = C / H;
  // Large scores, so that the softmax is far from uniform.
  const Values qkv = random_values(N * 3 * C, 40, 3), d_o = random_values(N * C, 41);
  float *P = zeros(B * H * T * T), *o = zeros(N * C), *dqkv = zeros(N * 3 * C), *d_qkv = device(qkv);
  nn::attention_forward(gemm, d_qkv, P, o, B, T, H, hs, nullptr);
  close("attention", host(o, N * C), reference::attention(qkv, B, T, H, hs), kTolerance);
  const Values p = host(P, B * H * T * T);
  for (int r = 0; r < B * H * T; ++r) {
    double sum = 0;
    for (int j = 0; j < T; ++j) {
      sum += p[r * T + j];
      expect(j <= r % T || p[r * T + j] == 0, "nothing later is seen");
    }
    expect(std::abs(sum - 1) < 1e-6, "a row of P sums to 1");
  }
  nn::attention_backward(gemm, device(d_o), d_qkv, P, dqkv, zeros(H * T * T), B, T, H, hs, nullptr);
  close("attention dqkv", host(dqkv, N * 3 * C),
        differences(qkv, [&](const Values& v) { return dot(d_o, reference::attention(v, B, T, H, hs)); }), kGradient);
}

// c: channels; 35 in fp32 are no whole vectors of four.
void test_elementwise(int c) {
  const Values x = random_values(N * c, 50, 4), bias = random_values(c, 51), dy = random_values(N * c, 52),
               residual = random_values(N * c, 53);
  Values biased = x;
  for (int i = 0; i < N * c; ++i) biased[i] += bias[i % c];
  float *pre = device(x), *y = zeros(N * c), *d = device(dy), *d_bias = device(bias), *plain = device(x);
  nn::bias_gelu(pre, d_bias, y, N, c, nullptr);
  close("bias before gelu", host(pre, N * c), biased, kTolerance);
  close("gelu", host(y, N * c), reference::gelu(biased), kTolerance);
  nn::gelu_backward(pre, d, N, c, nullptr);
  close("gelu dx", host(d, N * c), differences(biased, [&](const Values& v) { return dot(dy, reference::gelu(v)); }),
        kGradient);
  nn::add_bias(plain, d_bias, N, c, nullptr);
  close("bias", host(plain, N * c), biased, kTolerance);
  float* sum = device(x);
  nn::bias_residual(device(residual), sum, d_bias, sum, N, c, nullptr);
  close("bias and residual", host(sum, N * c), reference::add(biased, residual), kTolerance);
}

void test_cross_entropy() {
  for (int v : {V, 200, 1100, 30001}) {  // a warp, several, a block of 1024; a row that shared memory has no room for
    const int padded = (v + 7) / 8 * 8, n = v > 1000 ? 2 : 5;
    Values logits = random_values(static_cast<std::size_t>(n) * padded, 60, 30);
    const std::vector<int> targets = random_tokens(n, v, 61);
    float *d = device(logits), *losses = zeros(n), *total = device(Values{2});
    nn::cross_entropy(d, device(targets), losses, 0, n, v, padded, nullptr);
    close("logits that stay", host(d, logits.size()), logits, 0);
    nn::cross_entropy(d, device(targets), losses, 0.25f, n, v, padded, nullptr);
    const Values wanted = reference::cross_entropy(logits, targets, v, padded);
    close("cross entropy", host(losses, n), wanted, kTolerance);
    Values gradient(logits.size(), 0);
    for (int r = 0; r < n; ++r) {
      double sum = 0;
      for (int c = 0; c < v; ++c) sum += std::exp(logits[r * padded + c]);
      for (int c = 0; c < v; ++c)
        gradient[r * padded + c] = 0.25 * (std::exp(logits[r * padded + c]) / sum - (c == targets[r]));
    }
    close("cross entropy dlogits", host(d, logits.size()), gradient, kGradient);
    if (v == V)
      close("its formula", gradient,
            differences(logits,
                        [&](const Values& l) {
                          double sum = 0;
                          for (double x : reference::cross_entropy(l, targets, v, padded)) sum += 0.25 * x;
                          return sum;
                        }),
            1e-6);
    nn::add_sum(losses, n, 0.5f, total, nullptr);
    double sum = 2;
    for (double w : wanted) sum += 0.5 * w;
    close("the sum of losses", host(total, 1), {sum}, kTolerance);
  }
}

// n: 776 are whole vectors. decays: whether the second 64 of every 128 elements have no weight decay.
void test_adamw(std::size_t n, bool decays) {
  Values w = random_values(n, 70), m(n, 0), v(n, 0);
  float *d_w = device(w), *d_m = zeros(n), *d_v = zeros(n), *factor = device(Values{0.5});
  __nv_bfloat16* copy = nullptr;
  cudaMalloc(&copy, n * sizeof *copy);
  unsigned char which[13], *d_which = nullptr;
  for (std::size_t part = 0; part < sizeof which; ++part) which[part] = part % 2 == 0;
  cudaMalloc(&d_which, sizeof which);
  cudaMemcpy(d_which, which, sizeof which, cudaMemcpyHostToDevice);
  for (int t = 1; t <= 3; ++t) {
    const Values g = random_values(n, 70 + t);
    nn::adamw(d_w, copy, device(g), d_m, d_v, n, nn::adamw_step(t, 0.01f, 0.9f, 0.95f, 1e-8f, 0.1f), factor, nullptr,
              decays ? d_which : nullptr);
    for (std::size_t i = 0; i < n; ++i) {
      m[i] = 0.9 * m[i] + 0.1 * 0.5 * g[i];
      v[i] = 0.95 * v[i] + 0.05 * 0.25 * g[i] * g[i];
      const double decay = decays && i / nn::kDecayPart % 2 == 1 ? 0 : 0.1;
      w[i] -=
          0.01 * (m[i] / (1 - std::pow(0.9, t)) / (std::sqrt(v[i] / (1 - std::pow(0.95, t))) + 1e-8) + decay * w[i]);
    }
    close("AdamW", host(d_w, n), w, kTolerance);
  }
  close("AdamW's copy", host(copy, n), w, 1.0 / 256);
}

void test_norm() {
  for (std::size_t n : {std::size_t{5}, std::size_t{70001}, std::size_t{70004}}) {
    const Values g = random_values(n, 80);
    const double norm = std::sqrt(dot(g, g));
    float *d_g = device(g), *out = zeros(2), *scratch = zeros(nn::kNormBlocks);
    nn::gradient_norm(d_g, n, 0, 1, out, scratch, nullptr);
    close("norm", host(out, 2), {norm, 1}, kTolerance);
    nn::gradient_norm(d_g, n, static_cast<float>(norm * 0.75), 0.5f, out, scratch, nullptr);
    close("a norm that is small enough", host(out, 2), {norm / 2, 0.5}, kTolerance);
    nn::gradient_norm(d_g, n, static_cast<float>(norm / 4), 1, out, scratch, nullptr);
    close("a norm that is clipped", host(out, 2), {norm, 0.25}, kTolerance);
  }
}

void test_init() {
  const nn::ModelConfig model{V, T, 2, H, C, true};
  const nn::ParameterLayout layout = nn::parameter_layout(model);
  float* w = zeros(layout.elements);
  nn::init_parameters(layout, w, w, 9, nullptr);
  const Values first = host(w, layout.elements);
  for (const nn::Parameter& p : layout.parameters) {
    double sum = 0, squares = 0;
    for (std::size_t i = p.offset; i < p.offset + p.size(); ++i) sum += first[i], squares += first[i] * first[i];
    const double mean = sum / static_cast<double>(p.size()), std = std::sqrt(squares / p.size() - mean * mean);
    expect(std::abs(mean - p.mean) <= 0.2 * p.std, p.name + ": mean");
    expect(std::abs(std - p.std) <= 0.1 * p.std + 1e-6, p.name + ": deviation " + std::to_string(std));
  }
  nn::init_parameters(layout, w, w, 9, nullptr);
  close("weights of one seed", host(w, layout.elements), first, 0);
  nn::init_parameters(layout, w, w, 10, nullptr);
  expect(host(w, layout.elements) != first, "weights of another seed are others");
}

void test_kernels() {
  const nn::Gemm gemm(nullptr);
  test_embedding();
  test_many_tokens();
  for (int c : {C, C - 1}) test_layernorm(c);
  test_columns();
  test_linear(gemm);
  test_attention(gemm);
  for (int c : {C, C - 1}) test_elementwise(c);
  test_cross_entropy();
  for (bool decays : {false, true})
    for (std::size_t n : {std::size_t{776}, std::size_t{777}}) test_adamw(n, decays);
  test_norm();
  test_init();
}

}  // namespace kernels
