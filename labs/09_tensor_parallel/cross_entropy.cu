// Lab 09, task `cross_entropy`: the loss without the logits in one place.
//
// For each row the ranks exchange three numbers: the maximum, the sum of exponentials, the target's logit.
// Run: ./ridge check 09 --task cross_entropy
#include "tensor_parallel.hpp"

// TASK(cross_entropy)
namespace {

// logits, dlogits: (N, Vs), of which `valid` columns count; targets, losses: (N). A thread a row: cross entropy if these were
// all columns.
__global__ void row_kernel(const float* logits, const int* targets, float* losses, float* dlogits, int N, int Vs,
                           int valid) {
  const int n = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (n >= N) return;
  const float* row = logits + static_cast<std::size_t>(n) * Vs;
  float top = -INFINITY, sum = 0;
  for (int v = 0; v < valid; ++v) top = fmaxf(top, row[v]);
  for (int v = 0; v < valid; ++v) sum += expf(row[v] - top);
  const int target = targets[n] < valid ? targets[n] : 0;
  losses[n] = valid > 0 ? logf(sum) + top - row[target] : 0.0f;
  for (int v = 0; v < Vs; ++v) {
    const float p = v < valid ? expf(row[v] - top) / sum : 0.0f;
    dlogits[static_cast<std::size_t>(n) * Vs + v] = (p - (v == targets[n] ? 1.0f : 0.0f)) / static_cast<float>(N);
  }
}

}  // namespace

void cross_entropy(const float* logits, const int* targets, float* losses, float* dlogits, float*, int N, int Vs, int V,
                   const Group& group) {
  // TODO: the columns of the other ranks count too. Tell each other what is needed, a few numbers a row. And a thread a row
  // reads memory as badly as can be.
  const int rest = V - group.rank * Vs, valid = rest < 0 ? 0 : rest < Vs ? rest : Vs;
  row_kernel<<<nn::blocks_for(N, 32), 32, 0, group.stream>>>(logits, targets, losses, dlogits, N, Vs, valid);
}
// END(cross_entropy)
