// nvcuda::wmma: the matrix units through warp-wide fragments. Memory requests are those of a GPU of compute capability 9.0:
// elements of a lane that are neighbours in memory are one access (4 or 8 bytes); 16-bit tiles that are stored the other
// way round are loaded in 4-byte accesses and transposed in registers; other elements are accessed one by one.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "ridge_simt/device.h"
#include "ridge_simt/matrix.h"
#ifndef __CUDACC__
#error "mma.h is for .cu files"
#endif

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

namespace detail {

using ridge_simt::MatrixLayout;
using ridge_simt::MatrixType;

// T of a fragment, its element's type, and the type that memory holds.
template <class T> struct Element;
template <> struct Element<__half> { using type = __half; static constexpr auto kind = MatrixType::fp16; static constexpr int low = 1; };
template <> struct Element<__nv_bfloat16> { using type = __nv_bfloat16; static constexpr auto kind = MatrixType::bf16; static constexpr int low = 1; };
template <> struct Element<precision::tf32> { using type = float; static constexpr auto kind = MatrixType::tf32; static constexpr int low = 0; };
template <> struct Element<signed char> { using type = signed char; static constexpr auto kind = MatrixType::s8; static constexpr int low = 2; };
template <> struct Element<unsigned char> { using type = unsigned char; static constexpr auto kind = MatrixType::u8; static constexpr int low = 2; };
template <> struct Element<float> { using type = float; static constexpr auto kind = MatrixType::fp32; static constexpr int low = 1; };
template <> struct Element<int> { using type = int; static constexpr auto kind = MatrixType::s32; static constexpr int low = 1; };
template <> struct Element<double> { using type = double; static constexpr auto kind = MatrixType::fp64; static constexpr int low = 1; };

template <class T>
constexpr bool legal(int m, int n, int k) {
  constexpr MatrixType t = Element<T>::kind;
  if (t == MatrixType::fp64) return m == 8 && n == 8 && k == 4;
  if (t == MatrixType::tf32) return m == 16 && n == 16 && k == 8;
  if (t == MatrixType::fp32 && m == 16 && n == 16 && k == 8) return true;
  return k == 16 && ((m == 16 && n == 16) || (m == 32 && n == 8) || (m == 8 && n == 32));
}

// Operand a: m rows of k; four lanes share a row. Operand b: its transpose. Steps in the order of the elements.
template <class T>
constexpr MatrixLayout layout_ab(bool is_b, int rows) {
  constexpr MatrixType t = Element<T>::kind;
  MatrixLayout l{t, 0, 0, Element<T>::low, is_b, {0, 0, 0}, {0, 0, 0}};
  // (steps across, steps along k), for operand a.
  unsigned char across[3] = {0, 0, 0}, along[3] = {0, 0, 0};
  if (t == MatrixType::fp64) {
    l.low = 0;
    l.unique = 1;
  } else if (t == MatrixType::tf32) {
    l.unique = 4;
    (is_b ? along : across)[0] = is_b ? 4 : 8;
    (is_b ? across : along)[1] = is_b ? 8 : 4;
  } else if (t == MatrixType::s8 || t == MatrixType::u8) {
    l.unique = static_cast<unsigned char>(rows / 2);
    if (rows > 8) across[0] = 8;
    if (rows > 16) across[1] = 16;
  } else {
    l.unique = static_cast<unsigned char>(rows / 2);
    if (rows == 8) {
      along[0] = 8;
    } else {
      // a: rows first. b of 16 columns: k first; b of 32: columns first.
      const bool k_first = is_b && rows == 16;
      (k_first ? along : across)[0] = 8;
      (k_first ? across : along)[1] = 8;
      if (rows == 32) across[2] = 16;
    }
  }
  l.elements = t == MatrixType::fp16 ? 16 : l.unique;
  for (int i = 0; i < 3; ++i) {
    l.row_step[i] = is_b ? along[i] : across[i];
    l.col_step[i] = is_b ? across[i] : along[i];
  }
  return l;
}

template <class T>
constexpr MatrixLayout layout_c(int m, int n) {
  MatrixLayout l{Element<T>::kind, 8, 8, Element<T>::low, n == 32, {0, 0, 0}, {0, 0, 0}};
  if (m == 8 && n == 8) {
    l.elements = l.unique = 2;
  } else if (m == 32) {
    l.row_step[0] = 8;
    l.row_step[1] = 16;
  } else if (n == 32) {
    l.col_step[0] = 8;
    l.col_step[1] = 16;
  } else {
    l.row_step[0] = 8;
    l.col_step[1] = 8;
  }
  return l;
}

template <class Use, int m, int n, int k, class T> struct LayoutOf;
template <int m, int n, int k, class T> struct LayoutOf<matrix_a, m, n, k, T> { static constexpr MatrixLayout value = layout_ab<T>(false, m); };
template <int m, int n, int k, class T> struct LayoutOf<matrix_b, m, n, k, T> { static constexpr MatrixLayout value = layout_ab<T>(true, n); };
template <int m, int n, int k, class T> struct LayoutOf<accumulator, m, n, k, T> { static constexpr MatrixLayout value = layout_c<T>(m, n); };

template <class Layout> struct IsRow { static constexpr bool value = true; };
template <> struct IsRow<col_major> { static constexpr bool value = false; };

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment {
  static_assert(detail::legal<T>(m, n, k), "wmma: no such shape for this type");

 public:
  using element_type = typename detail::Element<T>::type;
  static constexpr int num_elements = detail::LayoutOf<Use, m, n, k, T>::value.elements;
  static constexpr int num_storage_elements = num_elements;
  element_type x[num_elements];
};

namespace detail {

// Announces the accesses of this lane. `part` counts them.
template <class E>
RIDGE_DEVICE void announce(const MatrixLayout& l, const E* p, unsigned ldm, bool row_major, bool store) {
  const unsigned lane = ridge_simt::lane_id(), group = 1u << l.low;
  const bool together = row_major != l.fast_rows;
  if (((std::uintptr_t)p & 31) != 0 || ldm * sizeof(E) % 16 != 0)
    ridge_simt::misuse(-1, "misaligned matrix", "wmma needs a pointer aligned to 32 bytes and rows a multiple of 16 bytes apart",
                       716 /* cudaErrorMisalignedAddress */);
  unsigned row, col;
  if (together) {
    for (unsigned i = 0; i < l.unique; i += group) {
      l.position(lane, i, row, col);
      ridge_simt::device_access(p + (row_major ? row * ldm + col : col * ldm + row), (unsigned)(group * sizeof(E)), store, i);
    }
  } else if (sizeof(E) == 2) {
    for (unsigned i = 0; i < l.unique; i += group) {
      l.position(0, i, row, col);  // the tile's corner
      (row_major ? row : col) += lane / 4;
      (row_major ? col : row) += lane % 4 * 2;
      ridge_simt::device_access(p + (row_major ? row * ldm + col : col * ldm + row), 4, store, i);
    }
  } else {
    for (unsigned i = 0; i < l.unique; ++i) {
      l.position(lane, i, row, col);
      ridge_simt::device_access(p + (row_major ? row * ldm + col : col * ldm + row), sizeof(E), store, i);
    }
  }
}

template <class F, class L, class E>
RIDGE_DEVICE void load(F& f, const L& layout, const E* p, unsigned ldm, bool row_major, const char* name) {
  char nothing = 0;
  ridge_simt::collective(name, 0xffffffffu, ridge_simt::Operation::meet, &nothing);
  announce(layout, p, ldm, row_major, false);
  ridge_simt::move_matrix(layout, const_cast<E*>(p), ldm, row_major, f.x, false);
}

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout>
RIDGE_DEVICE void fill_fragment(fragment<Use, m, n, k, T, Layout>& f, const typename detail::Element<T>::type& value) {
  const auto v = value;
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = v;
}

template <class Use, int m, int n, int k, class T, class Layout>
RIDGE_DEVICE void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const typename detail::Element<T>::type* p,
                                   const unsigned ldm) {
  detail::load(f, detail::LayoutOf<Use, m, n, k, T>::value, p, ldm, detail::IsRow<Layout>::value, "load_matrix_sync");
}
template <int m, int n, int k, class T>
RIDGE_DEVICE void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const T* p, const unsigned ldm, layout_t layout) {
  detail::load(f, detail::LayoutOf<accumulator, m, n, k, T>::value, p, ldm, layout == mem_row_major, "load_matrix_sync");
}

template <int m, int n, int k, class T>
RIDGE_DEVICE void store_matrix_sync(T* p, const fragment<accumulator, m, n, k, T>& f, const unsigned ldm, layout_t layout) {
  constexpr const auto& l = detail::LayoutOf<accumulator, m, n, k, T>::value;
  char nothing = 0;
  ridge_simt::collective("store_matrix_sync", 0xffffffffu, ridge_simt::Operation::meet, &nothing);
  detail::announce(l, p, ldm, layout == mem_row_major, true);
  ridge_simt::move_matrix(l, p, ldm, layout == mem_row_major, const_cast<T*>(f.x), true);
}

// d = a b + c. satf: int32 sums stay at the ends of their range.
template <int m, int n, int k, class TA, class LA, class TB, class LB, class TC, class TD>
RIDGE_DEVICE void mma_sync(fragment<accumulator, m, n, k, TD>& d, const fragment<matrix_a, m, n, k, TA, LA>& a,
                           const fragment<matrix_b, m, n, k, TB, LB>& b, const fragment<accumulator, m, n, k, TC>& c,
                           const bool satf = false) {
  using namespace detail;
  static_assert(std::is_same<TA, TB>::value, "wmma: a and b have the same type");
  constexpr MatrixType in = Element<TA>::kind, out = Element<TD>::kind, add = Element<TC>::kind;
  static_assert(in == MatrixType::fp16   ? (out == MatrixType::fp16 || out == MatrixType::fp32) &&
                                             (add == MatrixType::fp16 || add == MatrixType::fp32)
                : in == MatrixType::fp64 ? out == in && add == in
                : in == MatrixType::s8 || in == MatrixType::u8 ? out == MatrixType::s32 && add == out
                                                               : out == MatrixType::fp32 && add == out,
                "wmma: no such combination of types");
  ridge_simt::MatrixOperands operands{m, n, k, satf, &LayoutOf<matrix_a, m, n, k, TA>::value,
                                      &LayoutOf<matrix_b, m, n, k, TB>::value, &LayoutOf<accumulator, m, n, k, TC>::value,
                                      &LayoutOf<accumulator, m, n, k, TD>::value, a.x, b.x, c.x, d.x};
  ridge_simt::collective("mma_sync", 0xffffffffu, ridge_simt::Operation::multiply, &operands);
}

// Rounds to the 10 bits of mantissa of tf32, ties away from zero.
RIDGE_DEVICE float __float_to_tf32(const float v) {
  const unsigned bits = (unsigned)__builtin_bit_cast(unsigned, v);
  if ((bits & 0x7f800000u) == 0x7f800000u) return v;
  return __builtin_bit_cast(float, (bits + 0x1000u) & ~0x1fffu);
}

}  // namespace wmma
}  // namespace nvcuda
