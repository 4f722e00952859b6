// The integer intrinsics against plain loops over bits on the host.
#include <cstdint>
#include <vector>

#include "check.hpp"

struct Answers {
  unsigned long long brevll, umul64hi;
  long long mul64hi;
  unsigned brev, perm, shift_l, shift_r, shift_lc, shift_rc, umul24, umulhi, sad, usad, uhadd, urhadd, udp4a;
  int popc, popcll, clz, clzll, ffs, ffsll, mul24, mulhi, hadd, rhadd, dp4a;
};

__global__ void intrinsics(const unsigned long long* in, Answers* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long x = in[i], y = in[(i + 1) % n];
  auto a = static_cast<unsigned>(x), b = static_cast<unsigned>(y), c = static_cast<unsigned>(y >> 32);
  auto ia = static_cast<int>(a), ib = static_cast<int>(b), ic = static_cast<int>(c);
  Answers r;
  r.brevll = __brevll(x);
  r.umul64hi = __umul64hi(x, y);
  r.mul64hi = __mul64hi(static_cast<long long>(x), static_cast<long long>(y));
  r.brev = __brev(a);
  r.perm = __byte_perm(a, b, c);
  r.shift_l = __funnelshift_l(a, b, c);
  r.shift_r = __funnelshift_r(a, b, c);
  r.shift_lc = __funnelshift_lc(a, b, c % 40);
  r.shift_rc = __funnelshift_rc(a, b, c % 40);
  r.umul24 = __umul24(a, b);
  r.umulhi = __umulhi(a, b);
  r.sad = __sad(ia, ib, c);
  r.usad = __usad(a, b, c);
  r.uhadd = __uhadd(a, b);
  r.urhadd = __urhadd(a, b);
  r.udp4a = __dp4a(a, b, c);
  r.popc = __popc(a);
  r.popcll = __popcll(x);
  r.clz = __clz(ia);
  r.clzll = __clzll(static_cast<long long>(x));
  r.ffs = __ffs(ia);
  r.ffsll = __ffsll(static_cast<long long>(x));
  r.mul24 = __mul24(ia, ib);
  r.mulhi = __mulhi(ia, ib);
  r.hadd = __hadd(ia, ib);
  r.rhadd = __rhadd(ia, ib);
  r.dp4a = __dp4a(ia, ib, ic);
  out[i] = r;
}

// The upper half of a product, digit by digit of 32 bits.
std::uint64_t high_product(std::uint64_t x, std::uint64_t y) {
  std::uint64_t a = x >> 32, b = x & 0xffffffff, c = y >> 32, d = y & 0xffffffff;
  std::uint64_t middle = (b * d >> 32) + (a * d & 0xffffffff) + (b * c & 0xffffffff);
  return a * c + (a * d >> 32) + (b * c >> 32) + (middle >> 32);
}

int half_down(std::int64_t sum) { return static_cast<int>(sum >= 0 || sum % 2 == 0 ? sum / 2 : sum / 2 - 1); }

void check(const Answers& r, std::uint64_t x, std::uint64_t y) {
  auto a = static_cast<std::uint32_t>(x), b = static_cast<std::uint32_t>(y), c = static_cast<std::uint32_t>(y >> 32);
  auto ia = static_cast<std::int32_t>(a), ib = static_cast<std::int32_t>(b);
  std::uint64_t reversed = 0;
  int ones = 0, ones_low = 0, first = 0, last = 0, first_low = 0, last_low = 0;  // bits count from 1
  for (int i = 0; i < 64; ++i) {
    if ((x >> i & 1) == 0) continue;
    reversed |= 1ull << (63 - i);
    ++ones;
    if (first == 0) first = i + 1;
    last = i + 1;
    if (i < 32) {
      ++ones_low;
      if (first_low == 0) first_low = i + 1;
      last_low = i + 1;
    }
  }
  expect(r.brevll == reversed && r.brev == static_cast<std::uint32_t>(reversed >> 32), "__brev");
  expect(r.popc == ones_low && r.popcll == ones, "__popc");
  expect(r.ffs == first_low && r.ffsll == first, "__ffs");
  expect(r.clz == 32 - last_low && r.clzll == 64 - last, "__clz");

  const std::uint8_t bytes[8] = {std::uint8_t(a), std::uint8_t(a >> 8), std::uint8_t(a >> 16), std::uint8_t(a >> 24),
                                 std::uint8_t(b), std::uint8_t(b >> 8), std::uint8_t(b >> 16), std::uint8_t(b >> 24)};
  std::uint32_t perm = 0, udot = c;
  std::uint32_t dot = c;
  for (int i = 0; i < 4; ++i) {
    std::uint32_t byte = bytes[c >> (4 * i) & 7];
    perm |= byte << (8 * i);
    udot += static_cast<std::uint32_t>(bytes[i]) * bytes[4 + i];
    dot += static_cast<std::uint32_t>(static_cast<std::int8_t>(bytes[i]) * static_cast<std::int8_t>(bytes[4 + i]));
  }
  expect(r.perm == perm, "__byte_perm");
  expect(r.udp4a == udot && static_cast<std::uint32_t>(r.dp4a) == dot, "__dp4a");

  auto shifted = [&](unsigned n, bool left) {
    std::uint64_t both = static_cast<std::uint64_t>(b) << 32 | a;
    if (n == 32) return left ? a : b;
    return static_cast<std::uint32_t>(left ? both << n >> 32 : both >> n);
  };
  unsigned clamped = c % 40 > 32 ? 32 : c % 40;
  expect(r.shift_l == shifted(c % 32, true) && r.shift_r == shifted(c % 32, false), "__funnelshift");
  expect(r.shift_lc == shifted(clamped, true) && r.shift_rc == shifted(clamped, false), "__funnelshift, clamped");

  std::int64_t a24 = a & 0xffffff, b24 = b & 0xffffff;
  expect(r.umul24 == static_cast<std::uint32_t>(a24 * b24), "__umul24");
  if (a24 >= 1 << 23) a24 -= 1 << 24;
  if (b24 >= 1 << 23) b24 -= 1 << 24;
  expect(static_cast<std::uint32_t>(r.mul24) == static_cast<std::uint32_t>(a24 * b24), "__mul24");
  expect(r.umulhi == static_cast<std::uint32_t>(static_cast<std::uint64_t>(a) * b >> 32), "__umulhi");
  expect(r.mulhi == static_cast<std::int32_t>(static_cast<std::int64_t>(ia) * ib >> 32), "__mulhi");
  expect(r.umul64hi == high_product(x, y), "__umul64hi");
  std::uint64_t high = high_product(x, y) - (x >> 63 ? y : 0) - (y >> 63 ? x : 0);
  expect(static_cast<std::uint64_t>(r.mul64hi) == high, "__mul64hi");

  std::int64_t apart = static_cast<std::int64_t>(ia) - ib, uapart = static_cast<std::int64_t>(a) - b;
  expect(r.sad == static_cast<std::uint32_t>(c + (apart < 0 ? -apart : apart)), "__sad");
  expect(r.usad == static_cast<std::uint32_t>(c + (uapart < 0 ? -uapart : uapart)), "__usad");
  std::int64_t sum = static_cast<std::int64_t>(ia) + ib;
  std::uint64_t usum = static_cast<std::uint64_t>(a) + b;
  expect(r.hadd == half_down(sum) && r.rhadd == half_down(sum + 1), "__hadd");
  expect(r.uhadd == static_cast<std::uint32_t>(usum / 2) && r.urhadd == static_cast<std::uint32_t>((usum + 1) / 2),
         "__uhadd");
}

int main() {
  std::vector<unsigned long long> in = {0,
                                        1,
                                        2,
                                        ~0ull,
                                        1ull << 63,
                                        1ull << 31,
                                        1ull << 32,
                                        0x7fffffffffffffffull,
                                        0x80000000ull,
                                        0x7fffffffull,
                                        0x8000000080000000ull,
                                        0xffffffff00000000ull,
                                        0x3210765476543210ull,
                                        0xba98fedc80ff7f01ull,
                                        0x2000000020ull,
                                        0x800000ffffffull};
  std::uint64_t x = 88172645463325252ull;
  while (in.size() < 3000) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    in.push_back(in.size() % 3 == 0 ? x & 0xff00ff00ffull : x);
  }
  int n = static_cast<int>(in.size());
  unsigned long long* data;
  Answers* out;
  std::vector<Answers> host(n);
  cudaMalloc(&data, n * sizeof *data);
  cudaMalloc(&out, n * sizeof *out);
  cudaMemcpy(data, in.data(), n * sizeof *data, cudaMemcpyHostToDevice);
  intrinsics<<<(n + 127) / 128, 128>>>(data, out, n);
  expect_error(cudaMemcpy(host.data(), out, n * sizeof *out, cudaMemcpyDeviceToHost), cudaSuccess, "the kernel");
  for (int i = 0; i < n; ++i) check(host[i], in[i], in[(i + 1) % n]);
  cudaFree(data);
  cudaFree(out);
  std::puts("ok");
}
