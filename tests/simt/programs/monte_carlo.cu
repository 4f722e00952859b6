// Random numbers on the device: pi by xorshift, and a counter-based generator (Philox 4x32-10) against its known answers.
#include "sample.hpp"

class XorShift {
 public:
  __host__ __device__ explicit XorShift(unsigned seed) : state_(seed * 2654435769u + 12345u) {
    if (state_ == 0) state_ = 1;
    for (int i = 0; i < 4; ++i) next();
  }
  __host__ __device__ unsigned next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_;
  }
  __host__ __device__ float uniform() { return (next() >> 8) * (1.0f / 16777216.0f); }

 private:
  unsigned state_;
};

__host__ __device__ inline bool inside(float x, float y) {
  // No fused multiply-add: host and device agree in every bit.
#ifdef __CUDA_ARCH__
  return __fadd_rn(__fmul_rn(x, x), __fmul_rn(y, y)) <= 1.0f;
#else
  volatile float xx = x * x, yy = y * y;
  return xx + yy <= 1.0f;
#endif
}

__global__ void count_inside(unsigned long long* total, int tries, int threads) {
  __shared__ unsigned hits;
  if (threadIdx.x == 0) hits = 0;
  __syncthreads();
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < threads) {
    XorShift random(id + 1);
    unsigned mine = 0;
    for (int i = 0; i < tries; ++i) {
      float x = random.uniform(), y = random.uniform();
      mine += inside(x, y);
    }
    atomicAdd(&hits, mine);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(total, static_cast<unsigned long long>(hits));
}

// J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
__device__ uint4 philox(uint4 counter, uint2 key) {
  for (int round = 0; round < 10; ++round) {
    unsigned high0 = __umulhi(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    unsigned high1 = __umulhi(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

__global__ void philox_kernel(const uint4* counters, const uint2* keys, uint4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = philox(counters[i], keys[i]);
}

int main() {
  const int threads = 500, tries = 200;
  unsigned long long* d_total = device_array<unsigned long long>(1);
  CUDA_CHECK(cudaMemset(d_total, 0, sizeof(unsigned long long)));
  count_inside<<<blocks_for(threads, 128), 128>>>(d_total, tries, threads);
  CUDA_CHECK(cudaGetLastError());
  unsigned long long got = to_host(d_total, 1)[0], wanted = 0;
  for (int id = 0; id < threads; ++id) {
    XorShift random(id + 1);
    for (int i = 0; i < tries; ++i) {
      float x = random.uniform(), y = random.uniform();
      wanted += inside(x, y);
    }
  }
  expect(got == wanted, "the same points as on the host");
  expect(std::fabs(4.0 * static_cast<double>(got) / (threads * tries) - 3.14159) < 0.03, "pi");

  // The three answers that come with the authors' library.
  const std::vector<uint4> counters = {make_uint4(0, 0, 0, 0), make_uint4(~0u, ~0u, ~0u, ~0u),
                                       make_uint4(0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u)};
  const std::vector<uint2> keys = {make_uint2(0, 0), make_uint2(~0u, ~0u), make_uint2(0xa4093822u, 0x299f31d0u)};
  const std::vector<uint4> answers = {make_uint4(0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u),
                                      make_uint4(0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu),
                                      make_uint4(0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u)};
  uint4 *d_counters = to_device(counters), *d_out = device_array<uint4>(3);
  uint2* d_keys = to_device(keys);
  philox_kernel<<<1, 32>>>(d_counters, d_keys, d_out, 3);
  CUDA_CHECK(cudaGetLastError());
  std::vector<uint4> out = to_host(d_out, 3);
  for (int i = 0; i < 3; ++i)
    expect(out[i].x == answers[i].x && out[i].y == answers[i].y && out[i].z == answers[i].z && out[i].w == answers[i].w,
           "Philox");
  CUDA_CHECK(cudaFree(d_total));
  CUDA_CHECK(cudaFree(d_counters));
  CUDA_CHECK(cudaFree(d_keys));
  CUDA_CHECK(cudaFree(d_out));
  std::puts("ok");
}
