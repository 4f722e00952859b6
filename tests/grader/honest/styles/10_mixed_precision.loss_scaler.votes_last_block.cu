// Style: one kernel; votes (__syncthreads_or, __any_sync), a flag by atomicOr, and the last block applies the rules.
#include "precision.hpp"

namespace {

struct Board {
  unsigned found, done;
};

__device__ bool broken(unsigned half_pair) {
  return (half_pair & 0x7C00u) == 0x7C00u || (half_pair & 0x7C000000u) == 0x7C000000u;
}
template <class G>
__device__ bool broken16(uint4 v);
template <>
__device__ bool broken16<__half>(uint4 v) {
  return broken(v.x) || broken(v.y) || broken(v.z) || broken(v.w);
}
template <>
__device__ bool broken16<float>(uint4 v) {
  const auto bad = [](unsigned u) { return (u & 0x7F800000u) == 0x7F800000u; };
  return bad(v.x) || bad(v.y) || bad(v.z) || bad(v.w);
}
__device__ bool broken1(__half x) { return __hisinf(x) != 0 || __hisnan(x); }
__device__ bool broken1(float x) { return !isfinite(x); }

// gradient: (n); state, next: one; board: one, 0 before
template <class G>
__global__ void find_and_rule(const G* gradient, std::size_t n, const LossScale* state, LossScale* next, int interval,
                              Board* board) {
  constexpr std::size_t kPack = 16 / sizeof(G);
  const std::size_t packs = n / kPack, stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  const std::size_t me = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  bool mine = false;
  for (std::size_t i = me; i < packs; i += stride) mine |= broken16<G>(reinterpret_cast<const uint4*>(gradient)[i]);
  if (packs * kPack + me < n) mine |= broken1(gradient[packs * kPack + me]);
  const int any = __syncthreads_or(mine);
  if (threadIdx.x != 0) return;
  if (any) atomicOr(&board->found, 1u);
  __threadfence();
  if (atomicAdd(&board->done, 1u) != gridDim.x - 1) return;
  __threadfence();
  LossScale s = *state;
  s.unscale = 1.0f / s.scale;
  s.skip = static_cast<int>(atomicOr(&board->found, 0u));
  if (s.skip) {
    s.scale = fmaxf(0.5f * s.scale, kLeastScale);
    s.good_steps = 0;
  } else {
    ++s.updates;
    if (++s.good_steps == interval) {
      s.good_steps = 0;
      s.scale = fminf(2 * s.scale, kMostScale);
    }
  }
  *next = s;
}

}  // namespace

template <class G>
void loss_scaler(const G* gradient, std::size_t n, const LossScale* state, LossScale* next, int interval,
                 void* workspace, std::size_t, cudaStream_t stream) {
  Board* board = static_cast<Board*>(workspace);
  cudaMemsetAsync(board, 0, sizeof(Board), stream);
  const std::size_t need = (n * sizeof(G) / 16 + 255) / 256 + 1;
  find_and_rule<G>
      <<<static_cast<unsigned>(need < 1056 ? need : 1056), 256, 0, stream>>>(gradient, n, state, next, interval, board);
}

template void loss_scaler(const __half*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
template void loss_scaler(const float*, std::size_t, const LossScale*, LossScale*, int, void*, std::size_t,
                          cudaStream_t);
