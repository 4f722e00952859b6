// Every atomic of every type in all scopes, all threads at one address, in global and in shared memory.
#include <type_traits>

#include "check.hpp"

constexpr int kBlocks = 5, kThreads = 70, kAll = kBlocks * kThreads;

template <class T>
struct Cells {
  T add, sub, min, max, bits_and, bits_or, bits_xor, exchanged, exchange_sum, cas;
};

template <class T>
__host__ __device__ T number(int i) {
  return static_cast<T>(static_cast<long long>(i * 2654435761ull % 1000003) - (std::is_signed_v<T> ? 500000 : 0));
}

template <class T>
__device__ void all_of_integers(Cells<T>* c, int i) {
  T v = number<T>(i);
  if constexpr (!std::is_same_v<T, long long>) {
    T one = static_cast<T>(1);
    i % 3 == 0 ? atomicAdd(&c->add, v) : i % 3 == 1 ? atomicAdd_block(&c->add, T(0)) : atomicAdd_system(&c->add, v);
    atomicExch(&c->exchanged, v);
    T seen = c->cas, old;  // a first guess; the loop repairs it
    do {
      old = seen;
      seen = atomicCAS(&c->cas, old, static_cast<T>(old + one));
    } while (seen != old);
    if constexpr (sizeof(T) == 4) atomicSub(&c->sub, v);
  }
  atomicMin(&c->min, v);
  atomicMax(&c->max, v);
  if constexpr (!std::is_same_v<T, long long>) {
    atomicAnd(&c->bits_and, static_cast<T>(v | 0x10));
    atomicOr(&c->bits_or, v);
    atomicXor(&c->bits_xor, v);
  }
}

template <class T>
__global__ void global_cells(Cells<T>* c) {
  all_of_integers(c, blockIdx.x * blockDim.x + threadIdx.x);
}

template <class T>
__global__ void shared_cells(Cells<T>* c) {
  __shared__ Cells<T> s;
  if (threadIdx.x == 0) s = *c;
  __syncthreads();
  for (int b = 0; b < kBlocks; ++b) all_of_integers(&s, b * kThreads + static_cast<int>(threadIdx.x));
  __syncthreads();
  if (threadIdx.x == 0) *c = s;
}

template <class T>
void check(const char* type) {
  Cells<T>*c, start{}, right, got;
  start.min = start.max = number<T>(0);
  start.bits_and = static_cast<T>(~T(0));
  right = start;
  bool exchanged = std::is_same_v<T, long long>;
  for (int i = 0; i < kAll; ++i) {
    T v = number<T>(i);
    if (i % 3 != 1) right.add = static_cast<T>(right.add + v);
    if (sizeof(T) == 4) right.sub = static_cast<T>(right.sub - v);
    if (v < right.min) right.min = v;
    if (v > right.max) right.max = v;
    right.bits_and &= v | 0x10;
    right.bits_or |= v;
    right.bits_xor ^= v;
    ++right.cas;
  }
  cudaMalloc(&c, sizeof *c);
  for (bool shared : {false, true}) {
    cudaMemcpy(c, &start, sizeof start, cudaMemcpyHostToDevice);
    if (shared)
      shared_cells<T><<<1, kThreads>>>(c);
    else
      global_cells<T><<<kBlocks, kThreads>>>(c);
    expect_error(cudaMemcpy(&got, c, sizeof got, cudaMemcpyDeviceToHost), cudaSuccess, type);
    expect(got.min == right.min && got.max == right.max, type);
    for (int i = 0; i < kAll; ++i) exchanged |= got.exchanged == number<T>(i);
    expect(exchanged, type);
    if (std::is_same_v<T, long long>) continue;
    expect(got.add == right.add && got.sub == right.sub && got.cas == right.cas, type);
    expect(got.bits_and == right.bits_and && got.bits_or == right.bits_or && got.bits_xor == right.bits_xor, type);
  }
  cudaFree(c);
}

struct Others {
  float add_float, exchanged_float;
  double add_double;
  float2 two;
  float4 four;
  unsigned inc, dec;
  unsigned short cas16[2];
  int turns[8];  // how often atomicInc gave this number
};

__global__ void others(Others* o) {
  atomicAdd(&o->add_float, 0.5f);
  atomicAdd_block(&o->add_double, 0.0);
  atomicAdd(&o->add_double, 0.25);
  atomicExch(&o->exchanged_float, 3.5f);
  atomicAdd(&o->turns[atomicInc(&o->inc, 6)], 1);
  atomicDec(&o->dec, 9);
  unsigned short seen = 0, old;
  do {
    old = seen;
    seen = atomicCAS(&o->cas16[1], old, static_cast<unsigned short>(old + 3));
  } while (seen != old);
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  atomicAdd(&o->two, make_float2(1, 2));
  atomicAdd(&o->four, make_float4(1, 2, 3, 4));
#endif
}

int main() {
  check<int>("int");
  check<unsigned>("unsigned");
  check<unsigned long long>("unsigned long long");
  check<long long>("long long");

  Others *data, o;
  cudaMalloc(&data, sizeof o);
  cudaMemset(data, 0, sizeof o);
  others<<<kBlocks, kThreads>>>(data);
  expect_error(cudaMemcpy(&o, data, sizeof o, cudaMemcpyDeviceToHost), cudaSuccess, "others");
  expect(o.add_float == kAll / 2.0f && o.add_double == kAll / 4.0 && o.exchanged_float == 3.5f, "float and double");
  expect(o.inc == kAll % 7, "atomicInc");
  for (int i = 0; i < 8; ++i) expect(o.turns[i] == (i < 7 ? kAll / 7 : 0), "old values of atomicInc");
  expect(o.dec == (10 - kAll % 10) % 10, "atomicDec");
  expect(o.cas16[0] == 0 && o.cas16[1] == kAll * 3, "atomicCAS of 16 bits");
  expect(o.two.x == kAll && o.two.y == 2 * kAll, "float2");
  expect(o.four.x == kAll && o.four.y == 2 * kAll && o.four.z == 3 * kAll && o.four.w == 4 * kAll, "float4");
  cudaFree(data);
  std::puts("ok");
}
