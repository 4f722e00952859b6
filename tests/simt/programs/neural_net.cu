// A two-layer network for XOR-like data, trained on the device: forward, loss, backward and update kernels; gradients are
// compared with those of the host in every step.
#include "sample.hpp"

constexpr int kIn = 3, kHidden = 13;

struct Net {
  float w1[kHidden][kIn], b1[kHidden], w2[kHidden], b2;
};

// hidden: (n, kHidden), error: (n). A thread a sample.
__global__ void forward(const Net* net, const float* x, const float* y, float* hidden, float* error, int n) {
  __shared__ Net s;
  for (unsigned i = threadIdx.x; i < sizeof(Net) / 4; i += blockDim.x)
    reinterpret_cast<float*>(&s)[i] = reinterpret_cast<const float*>(net)[i];
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float out = s.b2;
  for (int h = 0; h < kHidden; ++h) {
    float sum = s.b1[h];
    for (int k = 0; k < kIn; ++k) sum += s.w1[h][k] * x[i * kIn + k];
    sum = sum > 0 ? sum : 0.01f * sum;  // leaky ReLU
    hidden[i * kHidden + h] = sum;
    out += s.w2[h] * sum;
  }
  error[i] = out - y[i];
}

// A block a hidden unit; the threads walk over the samples. Block kHidden makes the gradient of b2.
__global__ void backward(const Net* net, const float* x, const float* hidden, const float* error, Net* gradient,
                         int n) {
  __shared__ float sums[kIn + 2][64];
  const int h = blockIdx.x, t = threadIdx.x;
  float mine[kIn + 2] = {};
  for (int i = t; i < n; i += blockDim.x) {
    float e = 2.0f * error[i] / n;
    if (h == kHidden) {
      mine[0] += e;
      continue;
    }
    float value = hidden[i * kHidden + h], back = e * net->w2[h] * (value > 0 ? 1.0f : 0.01f);
    for (int k = 0; k < kIn; ++k) mine[k] += back * x[i * kIn + k];
    mine[kIn] += back;
    mine[kIn + 1] += e * value;
  }
  for (int k = 0; k < kIn + 2; ++k) sums[k][t] = mine[k];
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (t < half)
      for (int k = 0; k < kIn + 2; ++k) sums[k][t] += sums[k][t + half];
  }
  if (t != 0) return;
  if (h == kHidden) {
    gradient->b2 = sums[0][0];
    return;
  }
  for (int k = 0; k < kIn; ++k) gradient->w1[h][k] = sums[k][0];
  gradient->b1[h] = sums[kIn][0];
  gradient->w2[h] = sums[kIn + 1][0];
}

__global__ void update(float* weights, const float* gradient, int count, float rate) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) weights[i] -= rate * gradient[i];
}

constexpr int kWeights = sizeof(Net) / sizeof(float);

// The same in double precision; returns the mean squared error.
double host_gradient(const Net& net, const std::vector<float>& x, const std::vector<float>& y, double* g) {
  const int n = static_cast<int>(y.size());
  double loss = 0;
  for (int k = 0; k < kWeights; ++k) g[k] = 0;
  for (int i = 0; i < n; ++i) {
    double value[kHidden], out = net.b2;
    for (int h = 0; h < kHidden; ++h) {
      value[h] = net.b1[h];
      for (int k = 0; k < kIn; ++k) value[h] += static_cast<double>(net.w1[h][k]) * x[i * kIn + k];
      if (value[h] < 0) value[h] *= 0.01;
      out += net.w2[h] * value[h];
    }
    double e = out - y[i];
    loss += e * e / n;
    for (int h = 0; h < kHidden; ++h) {
      double back = 2 * e / n * net.w2[h] * (value[h] > 0 ? 1 : 0.01);
      for (int k = 0; k < kIn; ++k) g[h * kIn + k] += back * x[i * kIn + k];
      g[kHidden * kIn + h] += back;
      g[kHidden * (kIn + 1) + h] += 2 * e / n * value[h];
    }
    g[kWeights - 1] += 2 * e / n;
  }
  return loss;
}

int main() {
  const int n = 203, steps = 40;
  Random random(27);
  std::vector<float> x = random.floats(n * kIn), y(n);
  for (int i = 0; i < n; ++i) y[i] = x[i * kIn] * x[i * kIn + 1] > 0 ? 1.0f : -1.0f;
  Net net;
  for (int i = 0; i < kWeights; ++i) reinterpret_cast<float*>(&net)[i] = random.uniform(-0.7f, 0.7f);
  float *d_x = to_device(x), *d_y = to_device(y), *d_hidden = device_array<float>(n * kHidden);
  float* d_error = device_array<float>(n);
  Net *d_net = to_device(std::vector<Net>{net}), *d_gradient = device_array<Net>(1);
  std::vector<double> wanted(kWeights);
  double first = 0, last = 0;
  for (int step = 0; step < steps; ++step) {
    net = to_host(d_net, 1)[0];
    last = host_gradient(net, x, y, wanted.data());
    if (step == 0) first = last;
    forward<<<blocks_for(n, 64), 64>>>(d_net, d_x, d_y, d_hidden, d_error, n);
    backward<<<kHidden + 1, 64>>>(d_net, d_x, d_hidden, d_error, d_gradient, n);
    CUDA_CHECK(cudaGetLastError());
    expect_close(to_host(reinterpret_cast<float*>(d_gradient), kWeights), wanted, 2e-3, "gradient");
    update<<<1, 96>>>(reinterpret_cast<float*>(d_net), reinterpret_cast<float*>(d_gradient), kWeights, 0.1f);
    CUDA_CHECK(cudaGetLastError());
  }
  expect(last < 0.9 * first, "the loss falls");
  for (float* p : {d_x, d_y, d_hidden, d_error}) CUDA_CHECK(cudaFree(p));
  CUDA_CHECK(cudaFree(d_net));
  CUDA_CHECK(cudaFree(d_gradient));
  std::puts("ok");
}
