// Comparisons for check.cpp, spread over the cores: measured cases hold gigabytes.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "fill.hpp"
#include "tolerance.hpp"

namespace ridge::lab {

// Runs body(first, last) over parts of [0, n) on all cores; a part of fewer than `grain` is not worth a thread.
void parallel_for(std::size_t n, const std::function<void(std::size_t, std::size_t)>& body,
                  std::size_t grain = 1 << 18);

// The span of Ts behind a buffer.
template <class T>
std::span<T> as(std::span<std::byte> b) {
  return {reinterpret_cast<T*>(b.data()), b.size() / sizeof(T)};
}
template <class T>
std::span<const T> as(std::span<const std::byte> b) {
  return {reinterpret_cast<const T*>(b.data()), b.size() / sizeof(T)};
}
inline std::span<float> floats(std::span<std::byte> b) { return as<float>(b); }
inline std::span<const float> floats(std::span<const std::byte> b) { return as<float>(b); }

using Where = std::function<std::string(std::size_t)>;  // names an element in a message

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, double expected, double got,
                     const std::string& where);
std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, const std::string& expected,
                     const std::string& got, const std::string& where);

// Compares bit for bit: element i must equal expected(i).
template <class T, class Element>
requires std::is_trivially_copyable_v<T> Verdict compare_exact(std::span<const T> got, Element expected,
                                                               const Where& where) {
  std::atomic<std::size_t> wrong{0}, first{got.size()};
  parallel_for(got.size(), [&](std::size_t from, std::size_t to) {
    std::size_t count = 0, at = to;
    for (std::size_t i = from; i < to; ++i) {
      const T e = expected(i);
      if (std::memcmp(&e, &got[i], sizeof(T)) != 0 && count++ == 0) at = i;
    }
    if (count == 0) return;
    wrong += count;
    std::size_t seen = first.load();
    while (at < seen && !first.compare_exchange_weak(seen, at)) {
    }
  });
  if (wrong == 0) return {};
  const T e = expected(first), g = got[first];
  if constexpr (std::is_floating_point_v<T>)
    return {false, mismatch(first, wrong, got.size(), double{e}, double{g}, where(first))};
  else if constexpr (std::is_integral_v<T>)
    return {false, mismatch(first, wrong, got.size(), std::to_string(e), std::to_string(g), where(first))};
  else
    return {false, mismatch(first, wrong, got.size(), "other bytes", "these", where(first))};
}

// Compares as sets in which elements may repeat: for answers whose order is free. T has < and ==.
template <class T>
Verdict compare_unordered(std::span<const T> got, std::span<const T> expected, const Where& where) {
  std::vector<T> sorted_got(got.begin(), got.end()), sorted_expected(expected.begin(), expected.end());
  std::sort(sorted_got.begin(), sorted_got.end());
  std::sort(sorted_expected.begin(), sorted_expected.end());
  Verdict v = compare_exact<T>(
      sorted_got, [&](std::size_t i) { return sorted_expected[i]; }, where);
  if (!v.ok) v.message = "in sorted order, " + v.message;
  return v;
}

// The errors of many elements: each for itself, and their norms.
class CloseTally {
 public:
  explicit CloseTally(std::size_t total);
  void add(std::size_t i, double got, const Expected& e);
  void merge(const CloseTally& other);
  bool ok() const { return wrong_ == 0 && !norms_off(); }
  std::size_t first() const { return first_; }  // the first wrong element
  std::string message(const Where& where) const;

 private:
  bool wrong(double got, const Expected& e) const;
  bool norms_off() const;

  std::size_t total_, wrong_ = 0, first_, counted_ = 0;
  double largest_ = 0, squares_ = 0, bias_ = 0;
  double first_got_ = 0;
  Expected first_expected_;
};

// Compares with numbers that are rounded: element i must be as near to expected(i).value as an honest error is, and the
// errors together must have the size and direction of honest ones. NaN matches NaN only, and an infinity only itself.
// `cost`: terms behind an element, to share the work out.
template <class T, class Element>
Verdict compare_close(std::span<const T> got, Element expected, const Where& where, std::size_t cost = 1) {
  CloseTally all(got.size());
  std::mutex mutex;
  parallel_for(
      got.size(),
      [&](std::size_t from, std::size_t to) {
        CloseTally part(got.size());
        for (std::size_t i = from; i < to; ++i) part.add(i, static_cast<double>(got[i]), expected(i));
        std::lock_guard lock(mutex);
        all.merge(part);
      },
      std::max<std::size_t>(1, (1 << 18) / std::max<std::size_t>(1, cost)));
  if (all.ok()) return {};
  return {false, all.message(where)};
}

}  // namespace ridge::lab
