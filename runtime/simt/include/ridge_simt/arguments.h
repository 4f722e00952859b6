// A kernel's arguments. Not std::tuple: its functions would be counted as parts of the kernel.
#pragma once
#include "device.h"

namespace ridge_simt {

template <class... A>
struct Arguments {};
template <class T, class... A>
struct Arguments<T, A...> {
  T first;
  Arguments<A...> rest;
};

RIDGE_UNCOUNTED inline Arguments<> pack() { return {}; }
template <class T, class... A>
Arguments<T, A...> pack(T first, A... rest) {
  return {first, pack(rest...)};
}

// The same from pointers to the arguments; the first parameter has their types only.
inline Arguments<> pack_pointers(Arguments<>*, void**) { return {}; }
template <class T, class... A>
Arguments<T, A...> pack_pointers(Arguments<T, A...>*, void** given) {
  return {*static_cast<T*>(*given), pack_pointers(static_cast<Arguments<A...>*>(nullptr), given + 1)};
}

// call(arguments...). `done`: those that have been taken out.
template <class F, class... Done>
RIDGE_UNCOUNTED void call_with(F& call, Arguments<>&, Done&... done) {
  call(done...);
}
template <class F, class T, class... Rest, class... Done>
RIDGE_UNCOUNTED void call_with(F& call, Arguments<T, Rest...>& left, Done&... done) {
  call_with(call, left.rest, done..., left.first);
}

}  // namespace ridge_simt
