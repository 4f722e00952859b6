// thrust::reduce in pairs, as on a GPU: Thrust's own for hosts adds up one by one, which loses the digits of float sums.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/function.h>
#include <thrust/iterator/iterator_traits.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/detail/sequential/reduce.h>

#include <iterator>
#include <type_traits>

#include "ridge_simt/tree_reduce.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {
template <class Policy, class In, class T, class Op>
T reduce(execution_policy<Policy>& policy, In begin, In end, T initial, Op op) {
  using Item = typename thrust::iterator_value<In>::type;
  if constexpr (std::is_convertible<Item, T>::value) {
    const auto n = end - begin;
    if (n <= 0) return initial;
    thrust::detail::wrapped_function<Op, T> wrapped{op};
    return wrapped(initial, ::ridge_simt::tree_reduce<T>(begin, static_cast<std::size_t>(n), wrapped));
  } else {
    return thrust::system::detail::sequential::reduce(policy, begin, end, initial, op);
  }
}
}  // namespace detail
}  // namespace cpp
}  // namespace system
THRUST_NAMESPACE_END
