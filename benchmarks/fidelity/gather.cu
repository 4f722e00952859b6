// Accesses through indices: gathers, scatters, sparse matrices, compaction.
#include <numeric>

#include "harness.cuh"

__global__ void gather(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void gather_twice(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[index[i]]];
}

__global__ void gather_double2(const double2* in, const int* index, double2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[index[i]];
}

__global__ void scatter(const float* in, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[index[i]] = in[i];
}

// y = A x with A in compressed rows: a thread for each row.
__global__ void spmv_scalar(const int* start, const int* column, const float* value, const float* x, float* y,
                            int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r]; k < start[r + 1]; ++k) sum += value[k] * x[column[k]];
  y[r] = sum;
}

// A warp for each row.
__global__ void spmv_vector(const int* start, const int* column, const float* value, const float* x, float* y,
                            int rows) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  float sum = 0;
  for (int k = start[r] + lane; k < start[r + 1]; k += 32) sum += value[k] * x[column[k]];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xFFFFFFFFu, sum, offset);
  if (lane == 0) y[r] = sum;
}

// Keeps the elements above a limit; a warp takes its places in the output at once.
__global__ void compact(const float* in, float* out, int* length, int n, float limit) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32;
  float x = i < n ? in[i] : 0.0f;
  bool keep = i < n && x > limit;
  unsigned mask = __ballot_sync(0xFFFFFFFFu, keep);
  int base = 0;
  if (lane == 0) base = atomicAdd(length, __popc(mask));
  base = __shfl_sync(0xFFFFFFFFu, base, 0);
  if (keep) out[base + __popc(mask & ((1u << lane) - 1))] = x;
}

// A walk along a list: every load waits for the one before.
__global__ void walk(const int* next, int* out, int n, int steps) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = i;
  for (int k = 0; k < steps; ++k) at = next[at];
  out[i] = at;
}

struct Csr {
  std::vector<int> start, column;
  std::vector<float> value;
};

// `longest`: rows have 0 to longest - 1 elements, every 64th row 8 times as many.
Csr random_matrix(int rows, int columns, int longest, std::uint64_t seed) {
  Random random(seed);
  Csr m;
  m.start.push_back(0);
  for (int r = 0; r < rows; ++r) {
    int length = random.below(longest) * (r % 64 == 63 ? 8 : 1);
    for (int k = 0; k < length; ++k) {
      m.column.push_back(random.below(columns));
      m.value.push_back(random.unit());
    }
    m.start.push_back(static_cast<int>(m.column.size()));
  }
  return m;
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kSmall = 40007, kLarge = 1 << 23, kSource = 1 << 24;
  std::vector<float> host = random_floats(kSource, 6);
  float* in = to_device(host);
  float* out = device_array<float>(kSource);
  auto clear = [&] { must(cudaMemset(out, 0, sizeof(float) * kSmall * 4), "cudaMemset"); };

  std::vector<int> order = random_ints(kSmall, kSmall, 7), sorted = order, shuffled(kSmall), near_by(kSmall);
  std::sort(sorted.begin(), sorted.end());
  std::iota(shuffled.begin(), shuffled.end(), 0);
  Random random(8);
  for (int i = kSmall - 1; i > 0; --i) std::swap(shuffled[i], shuffled[random.below(i + 1)]);
  for (int i = 0; i < kSmall; ++i) near_by[i] = std::min(kSmall - 1, (i & ~31) + (i * 13 + 5) % 32);  // within the warp
  for (const auto* list : {&order, &sorted, &shuffled, &near_by}) {
    int* index = to_device(*list);
    program.launch("gather", Kind::count, [&] { gather<<<blocks_for(kSmall, 256), 256>>>(in, index, out, kSmall); });
    expect(value_at(out, 4321) == host[(*list)[4321]], "gather");
    program.launch("gather_twice", Kind::count,
                   [&] { gather_twice<<<blocks_for(kSmall, 256), 256>>>(in, index, out, kSmall); });
    expect(value_at(out, 4321) == host[(*list)[(*list)[4321]]], "gather_twice");
    must(cudaFree(index), "cudaFree");
  }
  int* random_index = to_device(order);
  program.launch("gather_double2", Kind::count, [&] {
    gather_double2<<<blocks_for(kSmall, 256), 256>>>(reinterpret_cast<double2*>(in), random_index,
                                                     reinterpret_cast<double2*>(out), kSmall);
  });
  expect(value_at(out, 4 * 99) == host[4 * order[99]], "gather_double2");
  for (const auto* list : {&shuffled, &near_by}) {
    int* index = to_device(*list);
    program.launch(
        "scatter", Kind::count, [&] { scatter<<<blocks_for(kSmall, 256), 256>>>(in, index, out, kSmall); }, clear);
    expect(value_at(out, (*list)[4321]) == host[4321], "scatter");
    must(cudaFree(index), "cudaFree");
  }
  std::vector<int> big = random_ints(kLarge, kSource, 10);
  int* big_index = to_device(big);
  program.launch("gather", Kind::time, [&] { gather<<<blocks_for(kLarge, 256), 256>>>(in, big_index, out, kLarge); });
  expect(value_at(out, 4321) == host[big[4321]], "gather, large");
  program.launch("scatter", Kind::time,
                 [&] { scatter<<<blocks_for(kLarge / 2, 256), 256>>>(in, big_index, out, kLarge / 2); });
  std::sort(big.begin(), big.end());
  int* sorted_index = to_device(big);
  program.launch("gather", Kind::time,
                 [&] { gather<<<blocks_for(kLarge, 256), 256>>>(in, sorted_index, out, kLarge); });

  for (Kind kind : {Kind::count, Kind::time}) {
    int rows = kind == Kind::count ? 5003 : 262144;
    Csr m = random_matrix(rows, rows, kind == Kind::count ? 24 : 32, 11);
    int *start = to_device(m.start), *column = to_device(m.column);
    float* value = to_device(m.value);
    int row = 63;
    double wanted = 0;
    for (int k = m.start[row]; k < m.start[row + 1]; ++k) wanted += double(m.value[k]) * host[m.column[k]];
    program.launch("spmv_scalar", kind,
                   [&] { spmv_scalar<<<blocks_for(rows, 128), 128>>>(start, column, value, in, out, rows); });
    expect(near(value_at(out, row), wanted), "spmv_scalar");
    program.launch("spmv_vector", kind, [&] {
      spmv_vector<<<blocks_for(std::size_t(rows) * 32, 128), 128>>>(start, column, value, in, out, rows);
    });
    expect(near(value_at(out, row), wanted), "spmv_vector");
    must(cudaFree(start), "cudaFree");
    must(cudaFree(column), "cudaFree");
    must(cudaFree(value), "cudaFree");
  }

  int* length = device_array<int>(1);
  auto none = [&] { must(cudaMemset(length, 0, sizeof(int)), "cudaMemset"); };
  for (float limit : {0.5f, 0.95f}) {
    program.launch(
        "compact", Kind::count, [&] { compact<<<blocks_for(kSmall, 256), 256>>>(in, out, length, kSmall, limit); },
        none);
    int wanted = 0;
    for (int i = 0; i < kSmall; ++i) wanted += host[i] > limit;
    expect(value_at(length, 0) == wanted, "compact");
  }
  program.launch(
      "compact", Kind::time, [&] { compact<<<blocks_for(kLarge, 256), 256>>>(in, out, length, kLarge, 0.5f); }, none);

  int* next = to_device(shuffled);
  int* ends = reinterpret_cast<int*>(out);
  program.launch("walk", Kind::count, [&] { walk<<<blocks_for(kSmall, 128), 128>>>(next, ends, kSmall, 17); });
  int at = 77;
  for (int k = 0; k < 17; ++k) at = shuffled[at];
  expect(value_at(ends, 77) == at, "walk");
  for (int& x : big) x = random.below(kLarge);
  int* far_next = to_device(big);
  program.launch("walk", Kind::time, [&] { walk<<<1024, 128>>>(far_next, ends, 1024 * 128, 64); });
}
