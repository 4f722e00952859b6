// The matrix units: one multiplication of a warp's fragments.
#include "ridge_simt/matrix.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ridge_simt/bits.h"
#include "ridge_simt/device.h"
#include "ridge_simt/ptx.h"

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

void gather(const MatrixLayout& layout, const void* const* fragments, unsigned cols, double* out) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned i = 0; i < layout.unique; ++i) {
      unsigned row, col;
      layout.position(lane, i, row, col);
      out[row * cols + col] = element(layout.type, fragments[lane], i);
    }
  }
}

}  // namespace

void multiply_matrices(void* const* lanes, unsigned) {
  const auto& first = *static_cast<const MatrixOperands*>(lanes[0]);
  const auto m = static_cast<unsigned>(first.m), n = static_cast<unsigned>(first.n), k = static_cast<unsigned>(first.k);
  double a[kMost], b[kMost], c[kMost];
  const void* fragments[kLanes];
  auto each = [&](auto member) {
    for (unsigned l = 0; l < kLanes; ++l) fragments[l] = static_cast<const MatrixOperands*>(lanes[l])->*member;
    return fragments;
  };
  gather(*first.a_layout, each(&MatrixOperands::a), k, a);
  gather(*first.b_layout, each(&MatrixOperands::b), n, b);
  gather(*first.c_layout, each(&MatrixOperands::c), n, c);
  for (unsigned i = 0; i < m; ++i) {
    double sum[32] = {};
    if (first.a_layout->type == MatrixType::fp64) {
      // Fused, beginning with c.
      for (unsigned j = 0; j < n; ++j) {
        sum[j] = c[i * n + j];
        for (unsigned l = 0; l < k; ++l) sum[j] = std::fma(a[i * k + l], b[l * n + j], sum[j]);
        c[i * n + j] = sum[j];
      }
      continue;
    }
    for (unsigned l = 0; l < k; ++l)
      for (unsigned j = 0; j < n; ++j) sum[j] += a[i * k + l] * b[l * n + j];
    for (unsigned j = 0; j < n; ++j) c[i * n + j] += sum[j];
  }
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
  const unsigned lane = lane_id(), bytes = element_bytes(layout.type);
  for (unsigned i = 0; i < layout.elements; ++i) {
    unsigned row, col;
    layout.position(lane, i, row, col);
    char* there = static_cast<char*>(memory) + std::size_t{bytes} * (row_major ? row * ldm + col : col * ldm + row);
    char* here = static_cast<char*>(fragment) + std::size_t{bytes} * i;
    std::memcpy(store ? there : here, store ? here : there, bytes);
  }
}

void exchange_matrices(void* const* lanes, unsigned) {
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

}  // namespace ridge_simt
