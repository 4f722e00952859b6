// Votes, matches and warp reductions over masks of every kind, against loops on the host.
#include <cstdint>

#include "check.hpp"

struct Answers {
  int any, all, all_equal;
  unsigned ballot, match, match_all, add_u, min_u, max_u, and_u, or_u, xor_u;
  int add_i, min_i, max_i;
  unsigned match_long, match_double;
};

__host__ __device__ unsigned number(unsigned seed, unsigned lane) {
  unsigned x = (seed * 32 + lane) * 2654435761u;
  return x ^ x >> 15;
}

// Lanes of `mask` vote; the others stay out.
__global__ void vote(Answers* out, unsigned mask, unsigned seed, unsigned distinct) {
  unsigned l = threadIdx.x, v = number(seed, l), small = v % distinct;
  if ((mask >> l & 1) == 0) return;
  Answers a;
  a.any = __any_sync(mask, small == 1);
  a.all = __all_sync(mask, small != 1);
  a.ballot = __ballot_sync(mask, static_cast<int>(small));
  a.match = __match_any_sync(mask, small);
  a.match_all = __match_all_sync(mask, small, &a.all_equal);
  a.match_long = __match_any_sync(mask, static_cast<unsigned long long>(small) << 40);
  a.match_double = __match_any_sync(mask, small * 0.5);
  a.add_u = __reduce_add_sync(mask, v);
  a.min_u = __reduce_min_sync(mask, v);
  a.max_u = __reduce_max_sync(mask, v);
  a.and_u = __reduce_and_sync(mask, v | 0xff);
  a.or_u = __reduce_or_sync(mask, v & 0xff);
  a.xor_u = __reduce_xor_sync(mask, v);
  a.add_i = __reduce_add_sync(mask, static_cast<int>(v));
  a.min_i = __reduce_min_sync(mask, static_cast<int>(v));
  a.max_i = __reduce_max_sync(mask, static_cast<int>(v));
  out[l] = a;
}

void check(const Answers& a, unsigned mask, unsigned seed, unsigned distinct, unsigned lane) {
  bool any = false, all = true, equal = true;
  unsigned ballot = 0, match = 0, add = 0, min_u = ~0u, max_u = 0, and_u = ~0u, or_u = 0, xor_u = 0;
  std::int32_t min_i = INT32_MAX, max_i = INT32_MIN;
  for (unsigned l = 0; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    unsigned v = number(seed, l), small = v % distinct;
    any |= small == 1;
    all &= small != 1;
    equal &= small == number(seed, lane) % distinct;
    if (small != 0) ballot |= 1u << l;
    if (small == number(seed, lane) % distinct) match |= 1u << l;
    add += v;
    if (v < min_u) min_u = v;
    if (v > max_u) max_u = v;
    and_u &= v | 0xff;
    or_u |= v & 0xff;
    xor_u ^= v;
    auto i = static_cast<std::int32_t>(v);
    if (i < min_i) min_i = i;
    if (i > max_i) max_i = i;
  }
  expect((a.any != 0) == any && (a.all != 0) == all && a.ballot == ballot, "votes");
  expect(a.match == match && a.match_long == match && a.match_double == match, "__match_any_sync");
  expect((a.all_equal != 0) == equal && a.match_all == (equal ? mask : 0), "__match_all_sync");
  expect(a.add_u == add && a.min_u == min_u && a.max_u == max_u, "reductions of unsigned");
  expect(a.and_u == and_u && a.or_u == or_u && a.xor_u == xor_u, "reductions of bits");
  expect(a.add_i == static_cast<int>(add) && a.min_i == min_i && a.max_i == max_i, "reductions of int");
}

int main() {
  Answers *out, host[32];
  cudaMalloc(&out, sizeof host);
  cudaMemset(out, 0, sizeof host);
  unsigned seed = 1;
  for (unsigned mask : {0xffffffffu, 1u, 0x80000000u, 0x0000ffffu, 0xaaaaaaaau, 0x00ffff00u, 0x80000001u, 0x12345678u})
    for (unsigned distinct : {1u, 2u, 7u, 1000u}) {
      vote<<<1, 32>>>(out, mask, ++seed, distinct);
      expect_error(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "kernel");
      for (unsigned l = 0; l < 32; ++l)
        if (mask >> l & 1) check(host[l], mask, seed, distinct, l);
    }
  cudaFree(out);
  std::puts("ok");
}
