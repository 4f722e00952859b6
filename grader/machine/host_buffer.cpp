#include "grader/machine/host_buffer.hpp"

#include "checks/compare.hpp"
#include "grader/machine/device_kernel.hpp"

namespace ridge {

namespace {

constexpr std::size_t kGrain = std::size_t{1} << 20;  // bytes worth a thread

}  // namespace

void SharedHostBuffer::upload(std::span<const std::byte> from) {
  lab::parallel_for(
      from.size(), [&](std::size_t a, std::size_t b) { std::memcpy(view_ + a, from.data() + a, b - a); }, kGrain);
}

void SharedHostBuffer::download(std::span<std::byte> to) {
  lab::parallel_for(
      to.size(), [&](std::size_t a, std::size_t b) { std::memcpy(to.data() + a, view_ + a, b - a); }, kGrain);
}

void SharedHostBuffer::poison(std::uint64_t seed, bool output) {
  auto* words = reinterpret_cast<std::uint32_t*>(view_);
  lab::parallel_for(
      bytes_ / 4,
      [&](std::size_t a, std::size_t b) {
        for (std::size_t i = a; i < b; ++i) words[i] = poison_word(seed, i, output);
      },
      kGrain / 4);
}

void SharedHostBuffer::wipe() {
  lab::parallel_for(
      bytes_, [&](std::size_t a, std::size_t b) { std::memset(view_ + a, 0, b - a); }, kGrain);
}

}  // namespace ridge
