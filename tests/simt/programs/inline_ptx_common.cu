// Inline PTX that C++ says too: special registers, arithmetic, bits, conversions, memory, atomics, shuffles, a predicate.
#include <cmath>
#include <cstdint>

#include "sample.hpp"

struct Results {
  unsigned lane, below, sum, low, high, wide_low, table, field, inserted, permuted, shifted, count, text, from_float;
  unsigned long long packed;
  unsigned first, second, neighbour, old, guarded, skipped;
  float product, power, half;
  unsigned vector[4];
};

__global__ void run(Results* out, unsigned* memory) {
  __shared__ unsigned tile[32];
  const unsigned t = threadIdx.x;
  Results r = {};
  asm("mov.u32 %0, %%laneid;" : "=r"(r.lane));
  asm volatile("mov.u32 %0, %lanemask_lt;" : "=r"(r.below));
  asm("add.s32 %0, %1, %2;" : "=r"(r.sum) : "r"(40), "r"(2));
  asm("mul.lo.u32 %0, %1, %2;" : "=r"(r.low) : "r"(0x10001u), "r"(0x10001u));
  asm("mul.hi.u32 %0, %1, %2;" : "=r"(r.high) : "r"(0x80000000u), "r"(6u));
  unsigned long long wide;
  asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(0xffffffffu), "r"(2u), "l"(5ull));
  r.wide_low = (unsigned)(wide >> 32);
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r.table) : "r"(0xf0f0u), "r"(0xff00u), "r"(0x1u));
  asm("bfe.u32 %0, %1, 4, 8;" : "=r"(r.field) : "r"(0x12345u));
  asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r.inserted) : "r"(0xau), "r"(0xffffu), "r"(4), "r"(4));
  asm("prmt.b32 %0, %1, %2, 0x7210;" : "=r"(r.permuted) : "r"(0x44332211u), "r"(0x88776655u));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r.shifted) : "r"(0x80000000u), "r"(1u), "r"(1));
  asm("popc.b32 %0, %1;" : "=r"(r.count) : "r"(0xff00ffu));
  asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r.product) : "f"(3.0f), "f"(4.0f), "f"(0.5f));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(r.power) : "f"(5.0f));
  asm("cvt.rzi.s32.f32 %0, %1;" : "=r"(r.from_float) : "f"(7.9f));
  std::uint16_t bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(1.5f));
  asm("cvt.f32.f16 %0, %1;" : "=f"(r.half) : "h"(bits));
  asm("mov.b64 %0, {%1, %2};" : "=l"(r.packed) : "r"(1u), "r"(2u));
  asm("mov.b64 {%0, %1}, %2;" : "=r"(r.first), "=r"(r.second) : "l"(r.packed));

  tile[t] = t;
  __syncthreads();
  const unsigned address = (unsigned)__cvta_generic_to_shared(&tile[31 - t]);
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(r.text) : "r"(address) : "memory");
  asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=r"(r.neighbour) : "r"(t), "r"(1));
  asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(r.old) : "l"(memory), "r"(1u) : "memory");
  asm volatile("red.relaxed.gpu.global.max.u32 [%0], %1;" ::"l"(memory + 1), "r"(t) : "memory");
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(memory + 4 + 4 * t), "r"(t), "r"(t + 1), "r"(t + 2),
               "r"(t + 3)
               : "memory");
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(r.vector[0]), "=r"(r.vector[1]), "=r"(r.vector[2]), "=r"(r.vector[3])
               : "l"(memory + 4 + 4 * t));
  const int yes = t<100, no = t> 100;
  r.skipped = 7;
  asm volatile(
      "{\n"
      "  .reg .pred p;\n"
      "  setp.ne.b32 p, %1, 0;\n"
      "  @p mov.u32 %0, 3;\n"
      "}\n"
      : "+r"(r.guarded)
      : "r"(yes));
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %1, 0; @p mov.u32 %0, 3; }" : "+r"(r.skipped) : "r"(no));
  asm volatile("membar.gl;");
  asm volatile("" ::: "memory");
  out[t] = r;
}

int main() {
  Results* out = nullptr;
  unsigned* memory = nullptr;
  CUDA_CHECK(cudaMallocManaged(&out, 32 * sizeof *out));
  CUDA_CHECK(cudaMallocManaged(&memory, (4 + 128) * sizeof *memory));
  for (int i = 0; i < 132; ++i) memory[i] = 0;
  run<<<1, 32>>>(out, memory);
  CUDA_CHECK(cudaDeviceSynchronize());
  const Results& r = out[5];
  expect(r.lane == 5 && r.below == 31, "special registers");
  expect(r.sum == 42 && r.low == 0x20001u && r.high == 3, "products");
  expect(r.wide_low == 2, "mad.wide");
  expect(r.table == (0xf0f0u ^ 0xff00u ^ 1u) && r.field == 0x34 && r.inserted == 0xffafu, "bits");
  expect(r.permuted == 0x88332211u && r.shifted == 3 && r.count == 16, "bytes and shifts");
  expect(r.product == 12.5f && r.power == 32 && r.from_float == 7 && r.half == 1.5f, "floats");
  expect(r.packed == (2ull << 32 | 1) && r.first == 1 && r.second == 2, "halves");
  expect(r.text == 26 && r.neighbour == 4, "shared memory and lanes");
  expect(memory[0] == 32 && memory[1] == 31, "atomics");
  expect(r.vector[0] == 5 && r.vector[3] == 8, "vectors");
  expect(r.guarded == 3 && r.skipped == 7, "predicates");
  std::puts("ok");
}
