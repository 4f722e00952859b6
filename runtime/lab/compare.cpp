#include "compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <thread>
#include <vector>

namespace ridge::lab {

void parallel_for(std::size_t n, const std::function<void(std::size_t, std::size_t)>& body) {
  std::size_t workers = std::clamp<std::size_t>(n / (1 << 18), 1, std::max(1u, std::thread::hardware_concurrency()));
  if (workers == 1) {
    body(0, n);
    return;
  }
  std::vector<std::jthread> threads;
  for (std::size_t w = 0; w < workers; ++w)
    threads.emplace_back([&, w] { body(n * w / workers, n * (w + 1) / workers); });
}

void fill_normal(std::span<float> values, std::uint64_t seed) {
  parallel_for(values.size(), [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      std::uint64_t r = random_bits(seed, i);
      auto sum = static_cast<std::int64_t>((r & 0xFFFF) + (r >> 16 & 0xFFFF) + (r >> 32 & 0xFFFF) + (r >> 48));
      // Mean 2 x 65535, variance 4 x (65536^2 - 1) / 12.
      values[i] = static_cast<float>(sum - 131070) * 2.6428853e-5f;
    }
  });
}

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, float expected, float got,
                     const std::string& where) {
  std::string note;
  if (std::isnan(got)) note = " (NaN: never written, or computed from memory that was not set)";
  return fmt::format("first wrong element: {} (index {}): expected {:.8g}, got {:.8g}{}; {} of {} are wrong", where,
                     first, expected, got, note, wrong, total);
}

namespace {
std::map<std::string, Factory>& factories() {
  static std::map<std::string, Factory> map;
  return map;
}
}  // namespace

bool add_lab(const char* lab, Factory factory) { return factories().emplace(lab, factory).second; }

TaskChecks checks_of(const std::string& lab) {
  auto at = factories().find(lab);
  return at == factories().end() ? TaskChecks{} : at->second();
}

}  // namespace ridge::lab
