// Library functions that kernels may call and that write through a pointer, which the instrumentation of their caller
// does not see. `ridge cc` renames the calls (rewrite/assembly/kernel_calls.hpp) to these.
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "block/block.hpp"
#include "device/program.hpp"
#include "ridge_simt/device.h"

namespace ridge::simt {

extern __thread BlockRunner* tls_runner;

namespace {

BlockRunner* in_kernel() {
  BlockRunner* r = tls_runner;
  return r != nullptr && r->in_kernel() ? r : nullptr;
}

template <class T>
void write(T* to, T value, void* pc) {
  if (BlockRunner* r = in_kernel())
    r->access(reinterpret_cast<std::uintptr_t>(to), sizeof(T), AccessKind::store, false,
              reinterpret_cast<std::uintptr_t>(pc) - 1, 0);
  *to = value;
}

// %n writes through a pointer; CUDA's printf does not know it.
bool stores(const char* format) {
  for (const char* p = format; (p = std::strchr(p, '%')) != nullptr;) {
    p += 1 + std::strspn(p + 1, "-+ #'0123456789.*$hlLqjztI");
    if (*p == 'n') return true;
    if (*p != 0) ++p;
  }
  return false;
}

// Checks the arguments of a printf that returns to `pc`.
void check_print(const char* format, void* pc) {
  BlockRunner* r = in_kernel();
  if (r == nullptr || !stores(format)) return;
  Fault f;
  f.cause = Cause::device_printf;
  f.kind = "printf with %n in a kernel";
  f.detail = "CUDA's printf does not write through pointers";
  f.pc = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(pc) - 1 - Program::instance().base);
  f.error = 719;  // cudaErrorLaunchFailure
  r->fault(std::move(f));
}

}  // namespace
}  // namespace ridge::simt

using ridge::simt::write;

#define RIDGE_PC __builtin_return_address(0)

#define RIDGE_MATH(T, suffix)                         \
  void __ridge_sincos##suffix(T x, T* s, T* c) {      \
    const T sine = std::sin(x), cosine = std::cos(x); \
    write(s, sine, RIDGE_PC);                         \
    write(c, cosine, RIDGE_PC);                       \
  }                                                   \
  T __ridge_frexp##suffix(T x, int* exponent) {       \
    int e = 0;                                        \
    const T fraction = std::frexp(x, &e);             \
    write(exponent, e, RIDGE_PC);                     \
    return fraction;                                  \
  }                                                   \
  T __ridge_modf##suffix(T x, T* whole) {             \
    T w = 0;                                          \
    const T fraction = std::modf(x, &w);              \
    write(whole, w, RIDGE_PC);                        \
    return fraction;                                  \
  }                                                   \
  T __ridge_remquo##suffix(T x, T y, int* quotient) { \
    int q = 0;                                        \
    const T remainder = std::remquo(x, y, &q);        \
    write(quotient, q, RIDGE_PC);                     \
    return remainder;                                 \
  }

#pragma GCC diagnostic ignored "-Wmissing-declarations"
extern "C" {

RIDGE_MATH(float, f)
RIDGE_MATH(double, )

[[gnu::format(printf, 1, 2)]] int __ridge_printf(const char* format, ...) {
  ridge::simt::check_print(format, RIDGE_PC);
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vprintf(format, arguments);
  va_end(arguments);
  return n;
}

// CUDA overloads the C library's.
std::clock_t __ridge_clock() {
  return ridge::simt::in_kernel() != nullptr ? static_cast<std::clock_t>(ridge_simt::clock()) : std::clock();
}

// As _FORTIFY_SOURCE calls it, with how much it is to check first.
[[gnu::format(printf, 2, 3)]] int __ridge_printf_chk(int, const char* format, ...) {
  ridge::simt::check_print(format, RIDGE_PC);
  va_list arguments;
  va_start(arguments, format);
  const int n = std::vprintf(format, arguments);
  va_end(arguments);
  return n;
}

}  // extern "C"

#undef RIDGE_PC
