// cg::reduce and its operators.
#pragma once
#include "../cooperative_groups.h"

namespace cooperative_groups {

#define RIDGE_OPERATOR(name, expression) \
  template <class T = void>              \
  struct name {                          \
    RIDGE_DEVICE T operator()(T a, T b) const { return expression; } \
  };
RIDGE_OPERATOR(plus, a + b)
RIDGE_OPERATOR(less, b < a ? b : a)
RIDGE_OPERATOR(greater, a < b ? b : a)
RIDGE_OPERATOR(bit_and, a & b)
RIDGE_OPERATOR(bit_or, a | b)
RIDGE_OPERATOR(bit_xor, a ^ b)
#undef RIDGE_OPERATOR

// Takes tiles and coalesced groups. Every thread gets the result, combined in the order of ranks.
template <class G, class T, class Op>
RIDGE_DEVICE T reduce(const G& g, T value, Op op) {
  T sum = g.shfl(value, 0);
  for (int r = 1; r < (int)g.size(); ++r) sum = op(sum, g.shfl(value, r));
  return sum;
}

}  // namespace cooperative_groups
