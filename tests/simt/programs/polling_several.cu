// Warps that poll several addresses in turn: a warp goes on once three others, which may come later in the block, have.
#include "check.hpp"

constexpr int kWarps = 16, kFlags = 3;

// flags: (kWarps), 0 at first. A warp waits for its three neighbours to the left, or to the right where `down`; the
// outermost one waits for nobody.
__global__ void chain(volatile int* flags, bool down) {
  if (threadIdx.x % 32 != 0) return;
  const int own = static_cast<int>(threadIdx.x / 32), step = down ? 1 : -1;
  bool waits;
  do {
    waits = false;
    for (int k = 1; k <= kFlags; ++k) {
      const int other = own + k * step;
      if (other >= 0 && other < kWarps && flags[other] == 0) waits = true;
    }
  } while (waits);
  flags[own] = 1 + own;
}

int main() {
  int *flags, host[kWarps];
  cudaMalloc(&flags, sizeof host);
  for (const bool down : {false, true}) {
    cudaMemset(flags, 0, sizeof host);
    chain<<<1, 32 * kWarps>>>(flags, down);
    expect_error(cudaMemcpy(host, flags, sizeof host, cudaMemcpyDeviceToHost), cudaSuccess, "the chain ends");
    for (int i = 0; i < kWarps; ++i) expect(host[i] == 1 + i, "each warp has set its flag");
  }
  cudaFree(flags);
  std::puts("ok");
}
