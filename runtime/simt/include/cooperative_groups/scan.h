// cg::inclusive_scan and exclusive_scan over tiles and coalesced groups.
#pragma once
#include "reduce.h"

namespace cooperative_groups {

template <class G, class T, class Op>
RIDGE_DEVICE T inclusive_scan(const G& g, T value, Op op) {
  int rank = (int)g.thread_rank();
  T sum = value;
  for (int d = 1; d < (int)g.size(); d *= 2) {
    T other = g.shfl_up(sum, d);
    if (rank >= d) sum = op(other, sum);
  }
  return sum;
}
template <class G, class T>
RIDGE_DEVICE T inclusive_scan(const G& g, T value) { return inclusive_scan(g, value, plus<T>()); }

// The first thread gets T().
template <class G, class T, class Op>
RIDGE_DEVICE T exclusive_scan(const G& g, T value, Op op) {
  T before = g.shfl_up(inclusive_scan(g, value, op), 1);
  return g.thread_rank() == 0 ? T() : before;
}
template <class G, class T>
RIDGE_DEVICE T exclusive_scan(const G& g, T value) { return exclusive_scan(g, value, plus<T>()); }

}  // namespace cooperative_groups
