// The matrix units: one multiplication of a warp's fragments.
#include "ridge_simt/matrix.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "block/block.hpp"
#include "kernel/warp_operations.hpp"
#include "ridge_simt/bits.h"
#include "ridge_simt/device.h"
#include "ridge_simt/ptx.h"

#define RIDGE_PC (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

namespace ridge_simt {

namespace {

constexpr unsigned kLanes = 32, kMost = 32 * 16;  // elements of the largest operand

unsigned element_bytes(MatrixType type) {
  switch (type) {
    case MatrixType::fp64:
      return 8;
    case MatrixType::fp16:
    case MatrixType::bf16:
      return 2;
    case MatrixType::s8:
    case MatrixType::u8:
      return 1;
    default:
      return 4;
  }
}

template <class T>
T read(const void* base, unsigned i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(base) + i * sizeof(T), sizeof value);
  return value;
}
template <class T>
void write(void* base, unsigned i, T value) {
  std::memcpy(static_cast<char*>(base) + i * sizeof(T), &value, sizeof value);
}

double element(MatrixType type, const void* base, unsigned i) {
  switch (type) {
    case MatrixType::fp16:
      return Fp16::widen(read<std::uint16_t>(base, i));
    case MatrixType::bf16:
      return Bf16::widen(read<std::uint16_t>(base, i));
    // The units ignore the low 13 bits.
    case MatrixType::tf32:
      return std::bit_cast<float>(read<std::uint32_t>(base, i) & ~0x1fffu);
    case MatrixType::fp32:
      return read<float>(base, i);
    case MatrixType::fp64:
      return read<double>(base, i);
    case MatrixType::s8:
      return read<std::int8_t>(base, i);
    case MatrixType::u8:
      return read<std::uint8_t>(base, i);
    case MatrixType::s32:
      return read<std::int32_t>(base, i);
  }
  return 0;
}

void set_element(MatrixType type, void* base, unsigned i, double value, bool saturate) {
  switch (type) {
    case MatrixType::fp16:
      return write(base, i, Fp16::narrow(value, Round::nearest));
    case MatrixType::fp32:
      return write(base, i, static_cast<float>(value));
    case MatrixType::s32: {
      // Exact: below 2^53.
      auto wide = static_cast<std::int64_t>(value);
      if (saturate) wide = wide > INT32_MAX ? INT32_MAX : wide < INT32_MIN ? INT32_MIN : wide;
      return write(base, i, static_cast<std::uint32_t>(wide));
    }
    default:
      return write(base, i, value);
  }
}

const char* name_of(MatrixType type) {
  switch (type) {
    case MatrixType::fp16:
      return "fp16";
    case MatrixType::bf16:
      return "bf16";
    case MatrixType::tf32:
      return "tf32";
    case MatrixType::fp64:
      return "fp64";
    default:
      return "int8";
  }
}

using ridge::simt::BlockRunner;

constexpr unsigned kMostElements = 16;  // of a lane
constexpr int kMisuse = 719;            // cudaErrorLaunchFailure

// A layout is a constant of the headers: one that a kernel could write may change between a check and its use.
bool is_layout(const MatrixLayout* l) {
  if (l == nullptr || BlockRunner::current()->is_writable(reinterpret_cast<std::uintptr_t>(l))) return false;
  return l->unique != 0 && l->unique <= kMostElements && l->elements <= kMostElements && l->low <= 4 &&
         l->type <= MatrixType::s32;
}

// The last lane has the largest row and the largest column of each element.
bool inside(const MatrixLayout& l, unsigned rows, unsigned columns) {
  for (unsigned i = 0; i < l.unique; ++i) {
    unsigned row, col;
    l.position(kLanes - 1, i, row, col);
    if (row >= rows || col >= columns) return false;
  }
  return true;
}

// The accesses that load_matrix_sync and store_matrix_sync of mma.h announce, in the same order.
template <class F>
void for_pieces(const MatrixLayout& l, const char* p, unsigned ldm, bool row_major, F f) {
  const unsigned lane = lane_id(), group = 1u << l.low, bytes = element_bytes(l.type);
  const bool together = row_major != l.fast_rows;
  auto piece = [&](unsigned row, unsigned col, unsigned size, unsigned i) {
    f(p + std::size_t{bytes} * (row_major ? row * ldm + col : col * ldm + row), size, i);
  };
  unsigned row, col;
  for (unsigned i = 0; i < l.unique; i += together || bytes == 2 ? group : 1) {
    if (!together && bytes == 2) {
      l.position(0, i, row, col);
      (row_major ? row : col) += lane / 4;
      (row_major ? col : row) += lane % 4 * 2;
      piece(row, col, 4, i);
    } else {
      l.position(lane, i, row, col);
      piece(row, col, together ? group * bytes : bytes, i);
    }
  }
}

void gather(const MatrixLayout& layout, const void* const* fragments, unsigned cols, double* out) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < layout.unique; ++i) {
      unsigned row, col;
      layout.position(lane, i, row, col);
      out[row * cols + col] = element(layout.type, fragments[lane], i);
    }
  }
}

// The products of fp64, fused, beginning with c.
void multiply_fused(unsigned m, unsigned n, unsigned k, const double* a, const double* b, double* c) {
  for (unsigned i = 0; i < m; ++i)
    for (unsigned j = 0; j < n; ++j) {
      double sum = c[i * n + j];
      for (unsigned l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
      c[i * n + j] = sum;
    }
}

// Sums in the order of k, c last. Two rows of eight columns at a time: their accumulators stay in registers.
void multiply(unsigned m, unsigned n, unsigned k, const double* a, const double* b, double* c) {
  using Pair = double __attribute__((vector_size(16)));
  for (unsigned i = 0; i < m; i += 2)
    for (unsigned j = 0; j < n; j += 8) {
      Pair sum[2][4] = {};
      for (unsigned l = 0; l < k; ++l) {
        const Pair* right = reinterpret_cast<const Pair*>(b + l * n + j);
        const Pair upper = {a[i * k + l], a[i * k + l]}, lower = {a[(i + 1) * k + l], a[(i + 1) * k + l]};
        sum[0][0] += upper * right[0], sum[0][1] += upper * right[1];
        sum[0][2] += upper * right[2], sum[0][3] += upper * right[3];
        sum[1][0] += lower * right[0], sum[1][1] += lower * right[1];
        sum[1][2] += lower * right[2], sum[1][3] += lower * right[3];
      }
      for (unsigned row = 0; row < 2; ++row)
        for (unsigned col = 0; col < 8; ++col) c[(i + row) * n + j + col] += sum[row][col / 2][col % 2];
    }
}

}  // namespace

namespace {

void check_shape(const MatrixOperands& own, std::uintptr_t pc) {
  BlockRunner& runner = *BlockRunner::current();
  const ridge::simt::MatrixShape shape = {{own.a_layout, own.b_layout, own.c_layout, own.d_layout},
                                          {own.m, own.n, own.k}};
  if (shape == runner.checked_shape()) return;
  auto refuse = [&] { runner.misuse(-1, "mma: no such operands", "use wmma or mma.sync", kMisuse, pc); };
  if (!is_layout(own.a_layout) || !is_layout(own.b_layout) || !is_layout(own.c_layout) || !is_layout(own.d_layout))
    refuse();
  auto of = [](int size, unsigned most) { return size > 0 && static_cast<unsigned>(size) <= most; };
  if (!of(own.m, kLanes) || !of(own.n, kLanes) || !of(own.k, kLanes) || own.m % 2 != 0 || own.n % 8 != 0) refuse();
  const auto m = static_cast<unsigned>(own.m), n = static_cast<unsigned>(own.n), k = static_cast<unsigned>(own.k);
  if (m * k > kMost || k * n > kMost || m * n > kMost) refuse();
  if (!inside(*own.a_layout, m, k) || !inside(*own.b_layout, k, n) || !inside(*own.c_layout, m, n) ||
      !inside(*own.d_layout, m, n))
    refuse();
  runner.checked_shape() = shape;
}

}  // namespace

void check_operands(const MatrixOperands& own, std::uintptr_t pc) {
  check_shape(own, pc);
  // Fragments are registers; elsewhere they are memory, and counted.
  unsigned part = 0;
  auto read = [&](const MatrixLayout& l, const void* p) {
    library_access(p, element_bytes(l.type) * l.unique, false, pc, part += kMostElements);
  };
  read(*own.a_layout, own.a);
  read(*own.b_layout, own.b);
  read(*own.c_layout, own.c);
  library_access(own.d, element_bytes(own.d_layout->type) * own.d_layout->elements, true, pc, part + kMostElements);
}

void check_rows(const LoadMatrix& own, std::uintptr_t pc) {
  if (own.matrices < 1 || own.matrices > 4)
    BlockRunner::current()->misuse(-1, "ldmatrix: no such number of matrices", "1, 2 or 4", kMisuse, pc);
  for (int i = 0; i < own.matrices; ++i) library_access(own.to[i], 4, true, pc, 1 + static_cast<unsigned>(i) * 4);
  if (lane_id() >= 8 * static_cast<unsigned>(own.matrices)) return;
  auto& pieces = BlockRunner::current()->pieces();
  const ridge::simt::Pieces::Piece row = {reinterpret_cast<std::uintptr_t>(own.row), 16, false};
  if (pieces.count != 1 || !(pieces.piece[0] == row)) library_access(own.row, 16, false, pc);
}

void check_stored_rows(const StoreMatrix& own, std::uintptr_t pc) {
  if (own.matrices < 1 || own.matrices > 4)
    BlockRunner::current()->misuse(-1, "stmatrix: no such number of matrices", "1, 2 or 4", kMisuse, pc);
  if (lane_id() >= 8 * static_cast<unsigned>(own.matrices)) return;
  auto& pieces = BlockRunner::current()->pieces();
  const ridge::simt::Pieces::Piece row = {reinterpret_cast<std::uintptr_t>(own.row), 16, true};
  if (pieces.count != 1 || !(pieces.piece[0] == row)) library_access(own.row, 16, true, pc);
}

void multiply_matrices(void* const* lanes, unsigned mask) {
  const auto& first = *static_cast<const MatrixOperands*>(lanes[0]);
  for (unsigned l = 0; l < kLanes; ++l) {
    const auto* own = static_cast<const MatrixOperands*>(lanes[l]);
    if ((mask >> l & 1) == 0 || own->m != first.m || own->n != first.n || own->k != first.k ||
        own->a_layout != first.a_layout || own->b_layout != first.b_layout || own->c_layout != first.c_layout ||
        own->d_layout != first.d_layout)
      return misuse(static_cast<int>(l), "mma: lanes without the same operands", "all 32 lanes call the same mma",
                    kMisuse);
  }
  const auto m = static_cast<unsigned>(first.m), n = static_cast<unsigned>(first.n), k = static_cast<unsigned>(first.k);
  alignas(16) double a[kMost], b[kMost], c[kMost];
  const void* fragments[kLanes];
  auto each = [&](auto member) {
    for (unsigned l = 0; l < kLanes; ++l) fragments[l] = static_cast<const MatrixOperands*>(lanes[l])->*member;
    return fragments;
  };
  gather(*first.a_layout, each(&MatrixOperands::a), k, a);
  gather(*first.b_layout, each(&MatrixOperands::b), n, b);
  gather(*first.c_layout, each(&MatrixOperands::c), n, c);
  if (first.a_layout->type == MatrixType::fp64)
    multiply_fused(m, n, k, a, b, c);
  else
    multiply(m, n, k, a, b, c);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const auto& own = *static_cast<const MatrixOperands*>(lanes[lane]);
    const MatrixLayout& layout = *first.d_layout;
    for (unsigned i = 0; i < layout.elements; ++i) {
      unsigned row, col;
      layout.position(lane, i, row, col);
      set_element(layout.type, own.d, i, c[row * n + col], own.saturate);
    }
  }
  count_matrix(name_of(first.a_layout->type), 2ull * m * n * k);
}

void move_matrix(const MatrixLayout& layout, void* memory, unsigned ldm, bool row_major, void* fragment, bool store) {
  BlockRunner& runner = *BlockRunner::current();
  const std::uintptr_t pc = RIDGE_PC;
  if (!is_layout(&layout)) runner.misuse(-1, "wmma: no such layout", "use load_matrix_sync", kMisuse, pc);
  const unsigned lane = lane_id(), bytes = element_bytes(layout.type);
  unsigned announced = 0;
  bool all = true;
  const auto& known = runner.pieces();
  for_pieces(layout, static_cast<const char*>(memory), ldm, row_major, [&](const char* p, unsigned size, unsigned) {
    const ridge::simt::Pieces::Piece piece = {reinterpret_cast<std::uintptr_t>(p), size, store};
    all = all && announced < known.count && announced < known.kMost && known.piece[announced] == piece;
    ++announced;
  });
  if (!all || announced != known.count)
    for_pieces(layout, static_cast<const char*>(memory), ldm, row_major,
               [&](const char* p, unsigned size, unsigned i) { library_access(p, size, store, pc, i); });
  runner.pieces().count = 0;
  library_access(fragment, bytes * layout.elements, !store, pc, kMostElements);
  // Pieces that hold the lane's own elements have been checked; others are what the hardware's lanes read for others.
  const bool own_pieces = row_major != layout.fast_rows || bytes != 2;
  for (unsigned i = 0; i < layout.elements; ++i) {
    unsigned row, col;
    layout.position(lane, i, row, col);
    char* there = static_cast<char*>(memory) + std::size_t{bytes} * (row_major ? row * ldm + col : col * ldm + row);
    if (!own_pieces) runner.check(reinterpret_cast<std::uintptr_t>(there), bytes, store, pc);
    char* here = static_cast<char*>(fragment) + std::size_t{bytes} * i;
    std::memcpy(store ? there : here, store ? here : there, bytes);
  }
}

void exchange_matrices(void* const* lanes, unsigned mask) {
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) == 0 ||
        static_cast<LoadMatrix*>(lanes[lane])->matrices != static_cast<LoadMatrix*>(lanes[0])->matrices)
      return misuse(static_cast<int>(lane), "ldmatrix: lanes without the same operands", "all 32 lanes call it",
                    kMisuse);
  const auto at = [&](unsigned lane) { return static_cast<LoadMatrix*>(lanes[lane]); };
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < at(lane)->matrices; ++i) {
      const unsigned first = 8 * static_cast<unsigned>(i), slow = lane / 4, fast = lane % 4 * 2;
      std::uint16_t pair[2];
      for (unsigned e = 0; e < 2; ++e)
        pair[e] = at(lane)->transposed ? at(first + fast + e)->row[slow] : at(first + slow)->row[fast + e];
      std::memcpy(at(lane)->to[i], pair, sizeof pair);
    }
  }
}

void scatter_matrices(void* const* lanes, unsigned mask) {
  const auto at = [&](unsigned lane) { return static_cast<StoreMatrix*>(lanes[lane]); };
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) == 0 || at(lane)->matrices != at(0)->matrices)
      return misuse(static_cast<int>(lane), "stmatrix: lanes without the same operands", "all 32 lanes call it",
                    kMisuse);
  ++BlockRunner::current()->counters().async.stmatrix;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (int i = 0; i < at(lane)->matrices; ++i) {
      const unsigned first = 8 * static_cast<unsigned>(i), slow = lane / 4, fast = lane % 4 * 2;
      std::uint16_t pair[2];
      std::memcpy(pair, &at(lane)->from[i], sizeof pair);
      for (unsigned e = 0; e < 2; ++e)
        (at(lane)->transposed ? at(first + fast + e)->row[slow] : at(first + slow)->row[fast + e]) = pair[e];
    }
  }
}

}  // namespace ridge_simt

#undef RIDGE_PC
