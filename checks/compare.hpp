// Comparisons for check.cpp, spread over the cores: measured cases hold gigabytes.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "check.hpp"
#include "fill.hpp"
#include "picture.hpp"
#include "share.hpp"
#include "tolerance.hpp"

namespace ridge::lab {

// Runs body(first, last) over parts of [0, n) on all cores; a part of fewer than `grain` is not worth a thread.
void parallel_for(std::size_t n, const std::function<void(std::size_t, std::size_t)>& body,
                  std::size_t grain = 1 << 18);

// The least i below n for which bad(i), or n. On all cores; bad is asked about every element up to that one, and may
// write what belongs to it.
template <class Bad>
std::size_t first_where(std::size_t n, Bad bad) {
  std::atomic<std::size_t> least{n};
  parallel_for(n, [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to && i < least; ++i) {
      if (!bad(i)) continue;
      std::size_t known = least;
      while (i < known && !least.compare_exchange_weak(known, i)) {
      }
      return;
    }
  });
  return least;
}

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

// The NaN that an x86 makes of inf - inf. A NaN that was read keeps its bits there, and neither the judge's fill nor
// memory has these; a GPU gives every NaN that it computes the bits 0x7FFFFFFF, whatever it came from.
bool computed_nan(double got);

// What the judge fills outputs and workspace with before a call: a NaN as a float, and as two halves
// (grader/machine/device_kernel.hpp).
inline bool judges_fill(std::uint32_t word) { return (word & 0x7FF07F90u) == 0x7FF07F90u; }

// Where a NaN that no arithmetic made comes from, in words, with a space before; it may be a half's or a float's. x86
// keeps the bits of a NaN that goes through arithmetic; a GPU does not, and there nothing is known but an output that
// still has its fill.
std::string origin_of_nan(double got);

// True where the elements from `first` on are wrong and no others: `wrong` in all, and no more than half.
inline bool only_last(std::size_t first, std::size_t wrong, std::size_t total) {
  return first > 0 && first + wrong == total && wrong <= total / 2;
}
Cause cause_of_nan(double got, bool only_last);

using Where = std::function<std::string(std::size_t)>;  // names an element in a message

std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, double expected, double got,
                     const std::string& where);
std::string mismatch(std::size_t first, std::size_t wrong, std::size_t total, const std::string& expected,
                     const std::string& got, const std::string& where);

// Counts the elements that are not equal bit for bit.
template <class T>
requires std::is_trivially_copyable_v<T>
class ExactTally {
 public:
  explicit ExactTally(std::size_t total) : total_(total), first_(total), picture_(total) {}
  // Elements first, first + 1, ... of the answer.
  void add(std::size_t first, std::span<const T> got, const T* expected) {
    seen_ += got.size();
    if constexpr (std::is_arithmetic_v<T>)
      for (std::size_t i = 0; picture_.wanted() && i < got.size(); ++i)
        picture_.note(first + i, static_cast<double>(expected[i]), static_cast<double>(got[i]),
                      std::memcmp(&got[i], expected + i, sizeof(T)) != 0);
    if (got.empty() || std::memcmp(got.data(), expected, got.size_bytes()) == 0) return;
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (std::memcmp(&got[i], expected + i, sizeof(T)) == 0) continue;
      ++wrong_;
      if (first + i < first_) first_ = first + i, first_got_ = got[i], first_expected_ = expected[i];
    }
  }
  void merge(const ExactTally& other) {
    seen_ += other.seen_;
    wrong_ += other.wrong_;
    picture_.merge(other.picture_);
    if (other.first_ < first_)
      first_ = other.first_, first_got_ = other.first_got_, first_expected_ = other.first_expected_;
  }
  std::size_t seen() const { return seen_; }
  Verdict verdict(const Where& where) const {
    if (wrong_ == 0) return {};
    const T &e = first_expected_, &g = first_got_;
    if constexpr (std::is_floating_point_v<T>)
      return {false,
              mismatch(first_, wrong_, total_, double{e}, double{g}, where(first_)) + picture_.told(where, 0),
              {},
              "correct",
              g != g ? cause_of_nan(g, only_last(first_, wrong_, total_)) : Cause::none,
              picture_.text(where)};
    else if constexpr (std::is_integral_v<T>) {
      const bool unwritten = sizeof(T) == 4 && judges_fill(static_cast<std::uint32_t>(g));
      const double modulo = std::is_unsigned_v<T> ? std::exp2(8.0 * sizeof(T)) : 0;
      return {
          false,
          mismatch(first_, wrong_, total_, std::to_string(e),
                   std::to_string(g) + (unwritten ? " (the judge's fill: no thread wrote it)" : ""), where(first_)) +
              (unwritten ? "" : picture_.told(where, modulo)),
          {},
          "correct",
          unwritten ? cause_of_nan(std::numeric_limits<double>::signaling_NaN(), only_last(first_, wrong_, total_))
                    : Cause::none,
          picture_.text(where)};
    } else
      return {false, mismatch(first_, wrong_, total_, "other bytes", "these", where(first_))};
  }

 private:
  std::size_t total_, seen_ = 0, wrong_ = 0, first_;
  T first_got_{}, first_expected_{};
  Picture picture_;
};

// Serves checks that compute many expected elements at once. body(first, last, tally) adds every element of the parts
// (rows, ...) in [first, last) of an answer of `total` elements to the tally. Extent::share: under a ComparedShare body
// is asked for some parts only, and must not need to see the others.
enum class Extent { whole, share };
template <class Tally, class Body>
Verdict compare_parts(std::size_t total, std::size_t parts, std::size_t grain, Body body, const Where& where,
                      Extent extent = Extent::whole) {
  const bool whole = extent == Extent::whole || compares_all();
  // A share is made of blocks that are small enough to be many.
  const std::size_t together = whole ? 1 : std::max<std::size_t>(1, grain / 16);
  const std::size_t blocks = (parts + together - 1) / together;
  Tally all(total);
  std::mutex mutex;
  parallel_for(
      blocks,
      [&](std::size_t from, std::size_t to) {
        Tally part(total);
        if (whole) body(from, to, part);
        for (std::size_t b = from; b < to && !whole; ++b)
          if (compares(b, blocks)) body(b * together, std::min(parts, (b + 1) * together), part);
        std::lock_guard lock(mutex);
        all.merge(part);
      },
      std::max<std::size_t>(1, grain / together));
  if (whole && all.seen() != total) throw std::logic_error("a check left out elements");
  return all.verdict(where);
}

constexpr std::size_t kTogether = 256;  // elements that are made and compared at a time: they stay in the L1 cache

// Compares bit for bit: element i must equal expected(i).
template <class T, class Element>
requires std::is_trivially_copyable_v<T> Verdict compare_exact(std::span<const T> got, Element expected,
                                                               const Where& where) {
  return compare_parts<ExactTally<T>>(
      got.size(), got.size(), 1 << 18,
      [&](std::size_t from, std::size_t to, ExactTally<T>& tally) {
        T made[kTogether];
        for (std::size_t first = from; first < to; first += kTogether) {
          const std::size_t count = std::min(kTogether, to - first);
          for (std::size_t i = 0; i < count; ++i) made[i] = expected(first + i);
          tally.add(first, got.subspan(first, count), made);
        }
      },
      where, Extent::share);
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

// Expected of up to kTogether neighbouring elements, as arrays: loops over them become vector code.
struct Expecteds {
  double value[kTogether], deviation[kTogether], worst[kTogether], magnitude[kTogether];
  bool leans = false;  // all of them

  void set(std::size_t i, const Expected& e) {
    value[i] = e.value, deviation[i] = e.deviation, worst[i] = e.worst, magnitude[i] = e.magnitude;
  }
  Expected operator[](std::size_t i) const { return {value[i], deviation[i], worst[i], magnitude[i], leans}; }
};

// The errors of many elements: each for itself, and their norms.
class CloseTally {
 public:
  explicit CloseTally(std::size_t total);
  void add(std::size_t i, double got, const Expected& e);
  // Elements first, first + 1, ... of the answer: got[k] is compared with e[k].
  void add(std::size_t first, std::span<const double> got, const Expecteds& e);
  template <class T>
  void add(std::size_t first, std::span<const T> got, const Expecteds& e) {
    double doubles[kTogether];
    for (std::size_t k = 0; k < got.size(); ++k) doubles[k] = static_cast<double>(got[k]);
    add(first, std::span<const double>(doubles, got.size()), e);
  }
  void merge(const CloseTally& other);
  std::size_t seen() const { return seen_; }
  bool ok() const { return wrong_ == 0 && !norms_off(); }
  std::size_t first() const { return first_; }  // the first wrong element
  std::string message(const Where& where) const;
  Cause cause() const;
  Verdict verdict(const Where& where) const {
    if (ok()) return {};
    const char* secret = wrong_ > 0 ? "" : "all elements are nearly right, but their errors are not those of rounding";
    return {false, message(where), secret, "correct", cause(), picture_.text(where)};
  }

 private:
  bool wrong(double got, const Expected& e) const;
  bool norms_off() const;
  std::optional<double> common_factor() const;

  std::size_t total_, seen_ = 0, wrong_ = 0, first_, counted_ = 0;
  Picture picture_;
  double largest_ = 0, squares_ = 0, bias_ = 0;
  double short_ = 0, beyond_ = 0;  // elements nearer to zero than expected, and further away
  double first_got_ = 0;
  Expected first_expected_;
  double most_off_ = 0;  // the largest error of a wrong element over its magnitude
  // The range of got / expected over the wrong elements whose expected value is far from 0.
  std::size_t factors_ = 0;
  double least_factor_ = std::numeric_limits<double>::infinity(), most_factor_ = -least_factor_;
};

// Compares with numbers that are rounded: each element must be as near to its expected value as an honest error is, and
// the errors together must have the size and direction of honest ones. NaN matches NaN only, and an infinity only
// itself. make(first, count, e) makes the elements first, first + 1, ..., at most kTogether of them. `cost`: terms
// behind an element, to share the work out.
template <class T, class Make>
Verdict compare_close_together(std::span<const T> got, Make make, const Where& where, std::size_t cost = 1,
                               Extent extent = Extent::share) {
  return compare_parts<CloseTally>(
      got.size(), got.size(), std::max<std::size_t>(1, (1 << 18) / std::max<std::size_t>(1, cost)),
      [&](std::size_t from, std::size_t to, CloseTally& tally) {
        Expecteds e;
        for (std::size_t first = from; first < to; first += kTogether) {
          const std::size_t count = std::min(kTogether, to - first);
          make(first, count, e);
          tally.add(first, got.subspan(first, count), e);
        }
      },
      where, extent);
}

// The same, with expected(i) for element i. All of them lean or none.
template <class T, class Element>
Verdict compare_close(std::span<const T> got, Element expected, const Where& where, std::size_t cost = 1,
                      Extent extent = Extent::share) {
  return compare_close_together(
      got,
      [&](std::size_t first, std::size_t count, Expecteds& e) {
        for (std::size_t k = 0; k < count; ++k) {
          const Expected one = expected(first + k);
          e.set(k, one);
          e.leans = one.leans;
        }
      },
      where, cost, extent);
}

}  // namespace ridge::lab
