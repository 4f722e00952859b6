// A reduction in pairs, as a GPU's tree does it: a sum of floats keeps its digits, and every element keeps its
// place beside its neighbours. CUB and Thrust ask of an operator that it is associative, and no more.
#pragma once
#include <cstddef>

namespace ridge_simt {

// first[0] op ... op first[n - 1], for n >= 1, in values of type T.
template <class T, class It, class Op>
T tree_reduce(It first, std::size_t n, Op& op) {
  constexpr std::size_t kInOrder = 8;  // elements that one thread takes in turn
  if (n > kInOrder) {
    std::size_t left = kInOrder;
    while (left * 2 < n) left *= 2;
    T low = tree_reduce<T>(first, left, op);
    return op(low, tree_reduce<T>(first + left, n - left, op));
  }
  T result = static_cast<T>(*first);
  for (std::size_t i = 1; i < n; ++i) result = op(result, first[i]);
  return result;
}

}  // namespace ridge_simt
