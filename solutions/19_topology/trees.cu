// Lab 19, task `trees`: recursive halving and doubling, two trees, and where they beat the ring.
//
// Run: ./ridge check 19 --task trees
#include "trees.hpp"

// Helpers belong in an unnamed namespace: other files of the lab may have some of the same name.
namespace {

// in, received, out: n floats; out may be in. out = in + received.
__global__ void add_kernel(const float* in, const float* received, float* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + received[i];
}

}  // namespace

// TASK(trees)
#include <algorithm>
#include <cmath>
#include <vector>

void halving_doubling(const float* in, float* out, std::size_t n, void* workspace, std::size_t, ncclComm_t comm,
                      cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  auto* received = static_cast<float*>(workspace);
  int q = 1;
  while (2 * q <= p) q *= 2;
  const int pairs = p - q;
  const float* from = in;  // what the next addition or transfer starts from
  auto add = [&](std::size_t first, std::size_t count) {
    add_kernel<<<static_cast<unsigned>((count + 255) / 256), 256, 0, stream>>>(from + first, received + first,
                                                                               out + first, count);
  };
  if (r < 2 * pairs && r % 2 == 0) {  // this rank waits for the sum
    ncclSend(in, n, ncclFloat, r + 1, comm, stream);
    ncclRecv(out, n, ncclFloat, r + 1, comm, stream);
    return;
  }
  if (r < 2 * pairs) {
    ncclRecv(received, n, ncclFloat, r - 1, comm, stream);
    add(0, n);
    from = out;
  }
  const int v = r < 2 * pairs ? r / 2 : r - pairs;
  auto rank_of = [&](int number) { return number < pairs ? 2 * number + 1 : number + pairs; };

  struct Part {
    std::size_t first, count;
  };
  struct Step {
    int peer;
    Part kept, sent;
  };
  std::vector<Step> steps;
  Part part{0, n};
  for (int distance = 1; distance < q; distance *= 2) {
    const std::size_t low = (part.count + 1) / 2;
    const Part lower{part.first, low}, upper{part.first + low, part.count - low};
    const bool keeps_lower = (v & distance) == 0;
    const Step s{rank_of(v ^ distance), keeps_lower ? lower : upper, keeps_lower ? upper : lower};
    ncclGroupStart();
    if (s.sent.count > 0) ncclSend(from + s.sent.first, s.sent.count, ncclFloat, s.peer, comm, stream);
    if (s.kept.count > 0) ncclRecv(received + s.kept.first, s.kept.count, ncclFloat, s.peer, comm, stream);
    ncclGroupEnd();
    if (s.kept.count > 0) add(s.kept.first, s.kept.count);
    from = out;
    part = s.kept;
    steps.push_back(s);
  }
  for (auto s = steps.rbegin(); s != steps.rend(); ++s) {
    ncclGroupStart();
    if (s->kept.count > 0) ncclSend(out + s->kept.first, s->kept.count, ncclFloat, s->peer, comm, stream);
    if (s->sent.count > 0) ncclRecv(out + s->sent.first, s->sent.count, ncclFloat, s->peer, comm, stream);
    ncclGroupEnd();
  }
  if (r < 2 * pairs) ncclSend(out, n, ncclFloat, r - 1, comm, stream);
  if (p == 1) cudaMemcpyAsync(out, in, n * sizeof(float), cudaMemcpyDeviceToDevice, stream);
}

namespace {

// The tree over the positions [first, end), in order from left to right; even ones are leaves. Returns its root, and
// finds the place of `position`.
int subtree(int first, int end, int parent, int position, TreeNode& place) {
  if (first >= end) return -1;
  const int count = end - first, root = first + (count == 1 ? 0 : (count / 2) | 1);
  const int left = subtree(first, root, root, position, place), right = subtree(root + 1, end, root, position, place);
  if (root == position) place = {parent, {left, right}};
  return root;
}

}  // namespace

void double_tree(int ranks, int rank, TreeNode tree[2]) {
  subtree(0, ranks, -1, rank, tree[0]);
  // In the second tree rank r has position r + 1, so that even ranks have children in place of odd ones.
  subtree(0, ranks, -1, (rank + 1) % ranks, tree[1]);
  for (int* other : {&tree[1].parent, &tree[1].child[0], &tree[1].child[1]})
    if (*other >= 0) *other = (*other + ranks - 1) % ranks;
}

double crossover(Algorithm algorithm, int ranks, double alpha, double beta) {
  const double p = ranks, steps = 2 * (p - 1), of_byte = 2 * (p - 1) / p;  // of the ring
  // Where a alpha + b n / beta is the ring's time.
  auto equal = [&](double a, double b) {
    return a >= steps ? 0 : b <= of_byte ? INFINITY : alpha * beta * (steps - a) / (b - of_byte);
  };
  if (algorithm == Algorithm::halving_doubling) {
    const double levels = std::floor(std::log2(p)), q = std::exp2(levels), more = q < p ? 2 : 0;
    return equal(2 * levels + more, 2 * (q - 1) / q + more);
  }
  // With each number of slices up to some size; the ring must be faster than all.
  const double h = std::ceil(std::log2(p));
  double most = 0;
  for (double k = 1; 4 * (h + k - 1) < steps; ++k) most = std::max(most, equal(4 * (h + k - 1), 2 * (h + k - 1) / k));
  return most;
}
// END(trees)
