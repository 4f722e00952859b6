// An open-addressing hash table with atomicCAS: counts keys, looks keys up, and deletes by tombstones.
#include <algorithm>
#include <map>

#include "sample.hpp"

constexpr unsigned kEmpty = 0xFFFFFFFFu, kDeleted = 0xFFFFFFFEu;

struct Table {
  unsigned* keys;
  unsigned* counts;
  unsigned capacity;  // a power of two

  static __host__ __device__ unsigned hash(unsigned k) {
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    k *= 0xc2b2ae35u;
    return k ^ (k >> 16);
  }

  // The slot of `key`, which is claimed where it is new; capacity where the table is full.
  __device__ unsigned claim(unsigned key) {
    unsigned slot = hash(key) & (capacity - 1);
    for (unsigned tries = 0; tries < capacity; ++tries) {
      unsigned old = atomicCAS(&keys[slot], kEmpty, key);
      if (old == kEmpty || old == key) return slot;
      slot = (slot + 1) & (capacity - 1);
    }
    return capacity;
  }

  __device__ unsigned find(unsigned key) const {
    unsigned slot = hash(key) & (capacity - 1);
    for (unsigned tries = 0; tries < capacity; ++tries) {
      unsigned here = keys[slot];
      if (here == key) return slot;
      if (here == kEmpty) break;
      slot = (slot + 1) & (capacity - 1);
    }
    return capacity;
  }
};

__device__ unsigned failures;

__global__ void insert(Table table, const unsigned* keys, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = table.claim(keys[i]);
  if (slot == table.capacity)
    atomicInc(&failures, 0xFFFFFFFFu);
  else
    atomicAdd(&table.counts[slot], 1u);
}

__global__ void lookup(Table table, const unsigned* keys, unsigned* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = table.find(keys[i]);
  out[i] = slot == table.capacity ? 0 : table.counts[slot];
}

// One thread a slot, so nobody else touches it.
__global__ void erase_odd(Table table, unsigned* erased) {
  unsigned slot = blockIdx.x * blockDim.x + threadIdx.x;
  if (slot >= table.capacity) return;
  unsigned key = table.keys[slot];
  if (key == kEmpty || key == kDeleted || key % 2 == 0) return;
  table.keys[slot] = kDeleted;
  table.counts[slot] = 0;
  atomicAdd(erased, 1u);
}

int main() {
  const int n = 3001, distinct = 700, asked = 1001;
  Random random(16);
  std::vector<unsigned> keys(n), questions(asked), wanted(asked);
  std::map<unsigned, unsigned> counts;
  for (unsigned& k : keys) ++counts[k = 17u * random.below(distinct)];
  for (unsigned& k : questions) k = static_cast<unsigned>(random.below(17 * distinct));
  for (int i = 0; i < asked; i += 3) questions[i] = keys[i];

  Table table{device_array<unsigned>(1024), device_array<unsigned>(1024), 1024};
  CUDA_CHECK(cudaMemset(table.keys, 0xFF, 1024 * sizeof(unsigned)));
  CUDA_CHECK(cudaMemset(table.counts, 0, 1024 * sizeof(unsigned)));
  unsigned *d_keys = to_device(keys), *d_questions = to_device(questions), *d_out = device_array<unsigned>(asked);
  unsigned* d_erased = device_array<unsigned>(1);
  CUDA_CHECK(cudaMemset(d_erased, 0, sizeof(unsigned)));
  insert<<<blocks_for(n, 128), 128>>>(table, d_keys, n);
  lookup<<<blocks_for(asked, 96), 96>>>(table, d_questions, d_out, asked);
  CUDA_CHECK(cudaGetLastError());
  unsigned failed = 1, odd = 0;
  CUDA_CHECK(cudaMemcpyFromSymbol(&failed, failures, sizeof failed));
  expect(failed == 0, "every key finds a slot");
  auto answers = [&](bool even_only) {
    for (int i = 0; i < asked; ++i) {
      auto found = counts.find(questions[i]);
      wanted[i] = found == counts.end() || (even_only && found->first % 2 == 1) ? 0 : found->second;
    }
  };
  answers(false);
  expect_equal(to_host(d_out, asked), wanted, "counts of keys");

  for (const auto& entry : counts) odd += entry.first % 2;
  erase_odd<<<1024 / 128, 128>>>(table, d_erased);
  lookup<<<blocks_for(asked, 96), 96>>>(table, d_questions, d_out, asked);
  CUDA_CHECK(cudaGetLastError());
  expect(to_host(d_erased, 1)[0] == odd, "odd keys are erased once");
  answers(true);
  expect_equal(to_host(d_out, asked), wanted, "the rest is found behind tombstones");

  // A table of 4 slots takes 4 of 5 keys.
  Table small{table.keys, table.counts, 4};
  CUDA_CHECK(cudaMemset(table.keys, 0xFF, 4 * sizeof(unsigned)));
  std::vector<unsigned> five = {1, 2, 3, 4, 5};
  CUDA_CHECK(cudaMemcpy(d_keys, five.data(), sizeof(unsigned) * 5, cudaMemcpyHostToDevice));
  insert<<<1, 32>>>(small, d_keys, 5);
  CUDA_CHECK(cudaMemcpyFromSymbol(&failed, failures, sizeof failed));
  expect(failed == 1, "a full table says so");
  for (unsigned* p : {table.keys, table.counts, d_keys, d_questions, d_out, d_erased}) CUDA_CHECK(cudaFree(p));
  std::puts("ok");
}
