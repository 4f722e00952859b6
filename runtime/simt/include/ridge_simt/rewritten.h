// The launch rewriter's output uses these macros and functions besides Launch.
#pragma once
#include <type_traits>

// A kernel's name in a macro's body, with the macro's parameters filled in.
#define RIDGE_TEXT(...) #__VA_ARGS__

// `#pragma unroll` before a loop becomes one of these macros. GCC's pragma needs a count; 32 stands for "all of it".
#define RIDGE_PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define RIDGE_UNROLL_ALL _Pragma("unroll")
#define RIDGE_UNROLL(count) RIDGE_PRAGMA(unroll count)
#else
#define RIDGE_UNROLL_ALL _Pragma("GCC unroll 32")
#define RIDGE_UNROLL(count) RIDGE_PRAGMA(GCC unroll count)
#endif

namespace ridge_simt {

// Kernel arguments that are written 0 and NULL: a pointer parameter takes them, a template's parameter is a number.
struct Zero {};
struct Null {};
struct NullPointer {
  template <class T>
  operator T*() const { return nullptr; }
};
struct NumberOrPointer {
  template <class T>
  operator T*() const { return nullptr; }
  template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
  operator T() const { return 0; }
};

// Readings of the arguments, in the order in which they are tried: NULL is a pointer and 0 a number; all are numbers;
// each is what its parameter wants.
template <int reading, class A>
RIDGE_UNCOUNTED inline auto read_as(A a) {
  if constexpr (!std::is_same<A, Zero>::value && !std::is_same<A, Null>::value) return a;
  else if constexpr (reading == 2) return NumberOrPointer{};
  else if constexpr (reading == 0 && std::is_same<A, Null>::value) return NullPointer{};
  else return 0;
}

// `call` runs the kernel; `probe` takes the arguments that the kernel takes.
template <class F, class P>
struct CallWithZeros {
  F call;
  P probe;
  template <class... A>
  RIDGE_UNCOUNTED void operator()(A... a) const {
    if constexpr (std::is_invocable<P, decltype(read_as<0>(a))...>::value) call(read_as<0>(a)...);
    else if constexpr (std::is_invocable<P, decltype(read_as<1>(a))...>::value) call(read_as<1>(a)...);
    else if constexpr (std::is_invocable<P, decltype(read_as<2>(a))...>::value) call(read_as<2>(a)...);
    else call(read_as<0>(a)...);  // does not fit: the compiler says why
  }
};
template <class F, class P>
CallWithZeros<F, P> with_zeros(F call, P probe) { return {call, probe}; }


// A launch that converts its arguments to the kernel's parameters: {...} has no type of its own.
template <class K, class... P>
struct WithParameters {
  K launch;
  void operator()(P... p) const { launch(p...); }
};
template <class K, class... P>
WithParameters<K, P...> with_parameters(void (*)(P...), K launch) { return {launch}; }

}  // namespace ridge_simt
