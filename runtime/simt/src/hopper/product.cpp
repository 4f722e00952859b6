#include "hopper/product.hpp"

#include <bit>
#include <cstring>

#include "ridge_simt/bits.h"

namespace ridge::simt {

namespace {

using ridge_simt::wgmma_bytes;
using ridge_simt::WgmmaType;

inline float widened(WgmmaType type, const unsigned char* p) {
  switch (type) {
    case WgmmaType::bf16: {
      std::uint16_t bits;
      std::memcpy(&bits, p, 2);
      return std::bit_cast<float>(std::uint32_t{bits} << 16);
    }
    case WgmmaType::f16: {
      std::uint16_t bits;
      std::memcpy(&bits, p, 2);
      return ridge_simt::Fp16::widen(bits);
    }
    case WgmmaType::tf32: {  // the units ignore the low 13 bits
      std::uint32_t bits;
      std::memcpy(&bits, p, 4);
      return std::bit_cast<float>(bits & ~0x1FFFu);
    }
    case WgmmaType::e4m3:
      return ridge_simt::widen_fp8(*p, false);
    case WgmmaType::e5m2:
      return ridge_simt::widen_fp8(*p, true);
    case WgmmaType::s8:
      return static_cast<std::int8_t>(*p);
    default:
      return *p;
  }
}

// Rows of a or columns of b, `count` of them, as out[row * row_step + k * k_step].
template <WgmmaType type>
void unpack_type(const MatrixTile& tile, unsigned first, unsigned count, bool negative, float* out, unsigned row_step,
                 unsigned k_step) {
  constexpr unsigned bytes = wgmma_bytes(type), per = 16 / bytes, k = 32 / bytes;
  const float sign = negative ? -1.0f : 1.0f;
  auto piece = [&](std::uintptr_t from, float* to, unsigned step) {
    unsigned char p[16];
    std::memcpy(p, reinterpret_cast<const void*>(from), sizeof p);
    for (unsigned e = 0; e < per; ++e) to[e * step] = sign * widened(type, p + e * bytes);
  };
  if (!tile.transposed) {
    for (unsigned r = 0; r < count; ++r)
      for (unsigned j = 0; j < k / per; ++j)
        piece(tile.piece(first + r, j), out + r * row_step + j * per * k_step, k_step);
  } else {
    for (unsigned l = 0; l < k; ++l)
      for (unsigned r = 0; r < count; r += per)
        piece(tile.piece(l, (first + r) / per), out + r * row_step + l * k_step, row_step);
  }
}

void unpack(const MatrixTile& tile, unsigned first, unsigned count, WgmmaType type, bool negative, float* out,
            unsigned row_step, unsigned k_step) {
  auto as = [&]<WgmmaType t>() { unpack_type<t>(tile, first, count, negative, out, row_step, k_step); };
  switch (type) {
    case WgmmaType::bf16:
      return as.operator()<WgmmaType::bf16>();
    case WgmmaType::f16:
      return as.operator()<WgmmaType::f16>();
    case WgmmaType::tf32:
      return as.operator()<WgmmaType::tf32>();
    case WgmmaType::e4m3:
      return as.operator()<WgmmaType::e4m3>();
    case WgmmaType::e5m2:
      return as.operator()<WgmmaType::e5m2>();
    case WgmmaType::s8:
      return as.operator()<WgmmaType::s8>();
    default:
      return as.operator()<WgmmaType::u8>();
  }
}

// sum (16 x n) = a (16 x k) b (k x n), in the order of k. Products of these types are exact in float, so that the
// result does not depend on the processor's instructions.
using Eight = float __attribute__((vector_size(32), aligned(4)));
[[gnu::always_inline]] inline void multiply_rows(const float* a, const float* b, float* sum, unsigned n, unsigned k) {
  for (unsigned i = 0; i < 16; i += 4)
    for (unsigned j = 0; j < n; j += 8) {
      Eight s0 = {}, s1 = {}, s2 = {}, s3 = {};
      for (unsigned l = 0; l < k; ++l) {
        const Eight right = *reinterpret_cast<const Eight*>(b + l * n + j);
        s0 += a[i * k + l] * right, s1 += a[(i + 1) * k + l] * right;
        s2 += a[(i + 2) * k + l] * right, s3 += a[(i + 3) * k + l] * right;
      }
      *reinterpret_cast<Eight*>(sum + i * n + j) = s0, *reinterpret_cast<Eight*>(sum + (i + 1) * n + j) = s1;
      *reinterpret_cast<Eight*>(sum + (i + 2) * n + j) = s2, *reinterpret_cast<Eight*>(sum + (i + 3) * n + j) = s3;
    }
}
void multiply_plain(const float* a, const float* b, float* sum, unsigned n, unsigned k) {
  multiply_rows(a, b, sum, n, k);
}
#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] void multiply_avx2(const float* a, const float* b, float* sum, unsigned n, unsigned k) {
  multiply_rows(a, b, sum, n, k);
}
#endif

void multiply_floats(const float* a, const float* b, float* sum, unsigned n, unsigned k) {
#if defined(__x86_64__)
  static const bool wide = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (wide) return multiply_avx2(a, b, sum, n, k);
#endif
  multiply_plain(a, b, sum, n, k);
}

// Row and column of register i of lane l, of those with one element each.
unsigned row_of(unsigned lane, unsigned i) { return lane / 4 + i % 4 / 2 * 8; }
unsigned column_of(unsigned lane, unsigned i) { return i / 4 * 8 + lane % 4 * 2 + i % 2; }

// f(memory of the register, lane, its number)
template <class F>
void for_registers(const WarpProduct& p, F f) {
  const unsigned count = p.registers();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < count; ++i)
      f(p.each.empty() ? static_cast<char*>(p.first[lane]) + 4 * i : static_cast<char*>(p.each[lane * count + i]), lane,
        i);
}

}  // namespace

MatrixTile MatrixTile::of(std::uint64_t d, std::uintptr_t begin, bool transposed) {
  constexpr Swizzle kSwizzles[] = {Swizzle::none, Swizzle::b128, Swizzle::b64, Swizzle::b32};
  return {begin,
          static_cast<unsigned>(d >> 16 & 0x3FFF) << 4,
          static_cast<unsigned>(d >> 32 & 0x3FFF) << 4,
          static_cast<unsigned>(d >> 49 & 7),
          kSwizzles[d >> 62],
          transposed};
}

bool WarpProduct::same_result(const WarpProduct& other) const {
  return shape.n == other.shape.n && shape.d_type == other.shape.d_type && each == other.each &&
         (!each.empty() || std::memcmp(first, other.first, sizeof first) == 0);
}

bool WarpProduct::holds_result(unsigned lane, std::uintptr_t address, unsigned bytes) const {
  const auto overlaps = [&](const void* p, unsigned size) {
    const auto at = reinterpret_cast<std::uintptr_t>(p);
    return address < at + size && at < address + bytes;
  };
  const unsigned count = registers();
  if (each.empty()) return overlaps(first[lane], 4 * count);
  for (unsigned i = 0; i < count; ++i)
    if (overlaps(each[lane * count + i], 4)) return true;
  return false;
}

std::uint64_t WarpProduct::hash() const {
  std::uint64_t h = 0;
  for_registers(*this, [&](const char* at, unsigned, unsigned) {
    std::uint32_t bits;
    std::memcpy(&bits, at, sizeof bits);
    h = (h ^ bits) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
  });
  return h;
}

void ProductUnit::gather(const WarpProduct& p) {
  const unsigned n = p.shape.n;
  if (p.shape.d_type == WgmmaType::f16) {
    for_registers(p, [&](const char* at, unsigned lane, unsigned i) {
      std::uint16_t two[2];
      std::memcpy(two, at, 4);
      for (unsigned e = 0; e < 2; ++e)
        d_[row_of(lane, 2 * i) * n + column_of(lane, 2 * i + e)] = ridge_simt::Fp16::widen(two[e]);
    });
  } else if (p.shape.d_type == WgmmaType::s32) {
    for_registers(p, [&](const char* at, unsigned lane, unsigned i) {
      std::memcpy(&whole_[row_of(lane, i) * n + column_of(lane, i)], at, 4);
    });
  } else {
    for_registers(p, [&](const char* at, unsigned lane, unsigned i) {
      std::memcpy(&d_[row_of(lane, i) * n + column_of(lane, i)], at, 4);
    });
  }
}

void ProductUnit::scatter(const WarpProduct& p) {
  const unsigned n = p.shape.n;
  if (p.shape.d_type == WgmmaType::f16) {
    for_registers(p, [&](char* at, unsigned lane, unsigned i) {
      std::uint16_t two[2];
      for (unsigned e = 0; e < 2; ++e)
        two[e] = ridge_simt::Fp16::narrow(d_[row_of(lane, 2 * i) * n + column_of(lane, 2 * i + e)]);
      std::memcpy(at, two, 4);
    });
  } else if (p.shape.d_type == WgmmaType::s32) {
    for_registers(p, [&](char* at, unsigned lane, unsigned i) {
      std::memcpy(at, &whole_[row_of(lane, i) * n + column_of(lane, i)], 4);
    });
  } else {
    for_registers(p, [&](char* at, unsigned lane, unsigned i) {
      std::memcpy(at, &d_[row_of(lane, i) * n + column_of(lane, i)], 4);
    });
  }
}

void ProductUnit::unpack_left(const WarpProduct& p) {
  const unsigned k = p.k();
  if (!p.shape.a.in_registers) return unpack(p.a, p.first_row, kRows, p.shape.a_type, p.shape.a_negative, a_, k, 1);
  const unsigned bytes = wgmma_bytes(p.shape.a_type), per = 4 / bytes;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      for (unsigned e = 0; e < per; ++e) {
        unsigned char word[4];
        std::memcpy(word, &p.left[lane][i], 4);
        const float x = widened(p.shape.a_type, word + e * bytes);
        a_[(lane / 4 + i % 2 * 8) * k + lane % 4 * per + e + i / 2 * 4 * per] = p.shape.a_negative ? -x : x;
      }
}

void ProductUnit::unpack_right(const WarpProduct& p) {
  unpack(p.b, 0, p.shape.n, p.shape.b_type, p.shape.b_negative, b_, 1, p.shape.n);
}

void ProductUnit::multiply(const WarpProduct& p) {
  unpack_left(p);
  unpack_right(p);
  const unsigned n = p.shape.n;
  multiply_floats(a_, b_, sum_, n, p.k());
  if (p.shape.d_type == WgmmaType::s32) {
    for (unsigned i = 0; i < kRows * n; ++i) {
      const std::int64_t sum = (p.shape.add ? std::int64_t{whole_[i]} : 0) + static_cast<std::int64_t>(sum_[i]);
      whole_[i] = p.shape.saturate ? static_cast<std::int32_t>(sum > INT32_MAX   ? INT32_MAX
                                                               : sum < INT32_MIN ? INT32_MIN
                                                                                 : sum)
                                   : static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    }
  } else if (p.shape.d_type == WgmmaType::f16) {
    for (unsigned i = 0; i < kRows * n; ++i)
      d_[i] = ridge_simt::Fp16::widen(ridge_simt::Fp16::narrow((p.shape.add ? d_[i] : 0) + sum_[i]));
  } else if (p.shape.add) {
    for (unsigned i = 0; i < kRows * n; ++i) d_[i] += sum_[i];
  } else {
    std::memcpy(d_, sum_, std::size_t{kRows} * n * sizeof *d_);
  }
}

void ProductUnit::begin(WarpProduct& p) {
  if (p.follows) return;
  if (p.shape.add) {
    gather(p);
    keep(p);
  }
  for_registers(p, [](char* at, unsigned, unsigned) { std::memcpy(at, &kUnderWay, sizeof kUnderWay); });
}

void ProductUnit::keep(WarpProduct& p) {
  p.start.resize(std::size_t{kRows} * p.shape.n);
  const void* from = p.shape.d_type == WgmmaType::s32 ? static_cast<const void*>(whole_) : d_;
  std::memcpy(p.start.data(), from, 4 * p.start.size());
}

bool ProductUnit::run(const WarpProduct* products, std::size_t count, WarpProduct* next) {
  if (products->shape.add)
    std::memcpy(products->shape.d_type == WgmmaType::s32 ? static_cast<void*>(whole_) : d_, products->start.data(),
                4 * products->start.size());
  for (std::size_t i = 0; i < count; ++i) multiply(products[i]);
  bool untouched = true;
  for_registers(*products, [&](const char* at, unsigned, unsigned) {
    untouched = untouched && std::memcmp(at, &kUnderWay, sizeof kUnderWay) == 0;
  });
  if (next != nullptr)
    keep(*next);
  else
    scatter(*products);
  return untouched;
}

}  // namespace ridge::simt
