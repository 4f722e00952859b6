// CUB's scans of a warp with what they add up to.
#include <cstdio>
#include <cub/cub.cuh>

struct Largest {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};

__global__ void scans(int* out, int* all) {
  using Scan = cub::WarpScan<int>;
  __shared__ typename Scan::TempStorage temp;
  const int i = threadIdx.x, v = i + 1;
  Scan(temp).ExclusiveSum(v, out[i], all[0]);
  Scan(temp).ExclusiveScan(v, out[32 + i], 100, Largest(), all[1]);
  Scan(temp).InclusiveScan(v, out[64 + i], Largest(), all[2]);
  out[96 + i] = Scan(temp).Broadcast(v, 5);
}

int main() {
  int *out = nullptr, *all = nullptr;
  cudaMallocManaged(&out, 128 * sizeof(int));
  cudaMallocManaged(&all, 3 * sizeof(int));
  scans<<<1, 32>>>(out, all);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  bool ok = all[1] == 32 && all[2] == 32;
  for (int i = 0; i < 32; ++i)
    ok = ok && out[i] == i * (i + 1) / 2 && out[32 + i] == 100 && out[64 + i] == i + 1 && out[96 + i] == 6;
  ok = ok && all[0] == 32 * 33 / 2;
  std::printf(ok ? "ok\n" : "wrong\n");
}
