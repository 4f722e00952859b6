#include "attention.hpp"

#include <random>

namespace ridge::lab::flash_attention {

namespace {

constexpr float kLarge = 64;

}  // namespace

void enlarge_keys(std::span<float> k, const Sizes& s) {
  for (std::size_t head = 0; head < s.batch * s.kv_heads; ++head)
    for (std::size_t c = 0; c < s.d; ++c) k[(head * s.keys + large_key(head, s)) * s.d + c] *= kLarge;
}
void enlarge_keys(std::span<Bf16> k, const Sizes& s) {
  for (std::size_t head = 0; head < s.batch * s.kv_heads; ++head)
    for (std::size_t c = 0; c < s.d; ++c) {
      Bf16& x = k[(head * s.keys + large_key(head, s)) * s.d + c];
      x = rounded(x.as_float() * kLarge);
    }
}

std::uint64_t fresh_seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

}  // namespace ridge::lab::flash_attention
