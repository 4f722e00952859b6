#include "kernel_calls.hpp"

#include <set>

namespace ridge::simt {

namespace {

using View = std::string_view;

// Functions of <math.h>, without those that write through a pointer. The suffix f is for float.
const std::set<View>& math() {
  static const std::set<View> names = {
      "acos",   "acosh",  "asin",      "asinh",     "atan", "atan2",     "atanh", "cbrt",  "ceil",    "copysign",
      "cos",    "cosh",   "erf",       "erfc",      "exp",  "exp10",     "exp2",  "expm1", "fabs",    "fdim",
      "floor",  "fma",    "fmax",      "fmin",      "fmod", "hypot",     "ilogb", "j0",    "j1",      "jn",
      "ldexp",  "lgamma", "llrint",    "llround",   "log",  "log10",     "log1p", "log2",  "logb",    "lrint",
      "lround", "nan",    "nearbyint", "nextafter", "pow",  "remainder", "rint",  "round", "scalbln", "scalbn",
      "sin",    "sinh",   "sqrt",      "tan",       "tanh", "tgamma",    "trunc", "y0",    "y1",      "yn"};
  return names;
}

bool in_math(View name) {
  if (math().count(name) != 0) return true;
  return name.size() > 1 && name.back() == 'f' && math().count(name.substr(0, name.size() - 1)) != 0;
}

}  // namespace

bool kernels_may_call(View s) {
  // Instrumentation; the emulator's device functions and its API, which refuses kernels itself.
  for (View prefix : {"__tsan_", "__ridge_", "__sanitizer_cov", "_ZN10ridge_simt", "_ZNK10ridge_simt", "_ZGV", "cuda"})
    if (s.starts_with(prefix)) return true;
  // The compiler's own arithmetic, guards of local statics, and ways out of the program.
  for (View prefix :
       {"__udiv", "__div", "__umod", "__mod", "__mul", "__float", "__fix", "__extend", "__trunc", "__popcount",
        "__parity", "__clz", "__ctz", "__gnu_", "__cxa_guard_", "__cxa_pure_virtual", "__clang_call_terminate"})
    if (s.starts_with(prefix)) return true;
  for (View name : {"puts", "putchar", "__assert_fail", "abort", "abs", "labs", "llabs", "__stack_chk_fail",
                    "__chk_fail", "_Unwind_Resume", "_ZSt9terminatev", "__tls_get_addr"})
    if (s == name) return true;
  // Calls into which <cmath> and compilers turn isnan() and the like.
  for (View prefix : {"__fpclassify", "__isnan", "__isinf", "__finite", "__signbit"})
    if (s.starts_with(prefix)) return true;
  if (s.starts_with("__") && s.ends_with("_finite")) s = s.substr(2, s.size() - 9);
  return in_math(s);
}

std::string heap_call(View s) {
  if (s == "malloc" || s == "free") return "__ridge_" + std::string(s);
  if (s == "_Znwm" || s == "_Znam") return "__ridge_new";
  for (View name : {"_ZdlPv", "_ZdlPvm", "_ZdaPv", "_ZdaPvm"})
    if (s == name) return "__ridge_delete";
  return {};
}

std::string watched_call(View s) {
  for (View name : {"memcpy", "memmove", "memset"})
    if (s == name) return "__tsan_" + std::string(s);
  // Functions of _FORTIFY_SOURCE: the fourth argument, the size of the destination, goes unread.
  for (View name : {"__memcpy_chk", "__memmove_chk", "__memset_chk"})
    if (s == name) return "__tsan_" + std::string(s.substr(2, s.size() - 6));
  for (View name : {"sincos", "frexp", "modf", "remquo", "sincosf", "frexpf", "modff", "remquof", "printf", "clock"})
    if (s == name) return "__ridge_" + std::string(s);
  if (s == "__printf_chk") return "__ridge_printf_chk";
  return {};
}

}  // namespace ridge::simt
