// What checks keep between the turns of a timed run, and the first bad element of many.
#include <chrono>
#include <thread>
#include <vector>

#include "checks/memo.hpp"
#include "support/catch.hpp"

using namespace ridge::lab;

namespace {

struct Inputs {
  std::vector<std::byte> bytes;
  std::vector<std::span<const std::byte>> views;
  explicit Inputs(std::size_t count, std::uint64_t seed) : bytes(count) {
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(random_bits(seed, i));
    views.emplace_back(bytes);
  }
};

}  // namespace

TEST_CASE("a memo knows the same inputs again, and no others") {
  const Memo<int> memo(2);
  int made = 0;
  auto get = [&](const Case& c, ConstBuffers in) { return *memo.get(c, in, [&] { return ++made; }); };
  Case c;
  c.size = {7, 3};
  Inputs a(100'003, 1), b(100'003, 2);
  CHECK(get(c, a.views) == 1);
  CHECK(get(c, a.views) == 1);
  CHECK(get(c, b.views) == 2);
  CHECK(get(c, a.views) == 1);

  // One bit of the last bytes, which fill no word.
  b.bytes.back() ^= std::byte{1};
  CHECK(get(c, b.views) == 3);
  // The latest two are kept: a and the changed b.
  CHECK(get(c, a.views) == 1);
  b.bytes.back() ^= std::byte{1};
  CHECK(get(c, b.views) == 4);

  Case other = c;
  other.size[1] = 4;
  CHECK(get(other, b.views) == 5);
}

TEST_CASE("threads make different answers at the same time, and one answer once") {
  const Memo<int> memo(4);
  const Case c;
  std::atomic<int> inside{0}, together{0};
  auto make = [&] {
    ++inside;
    const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (inside < 2 && std::chrono::steady_clock::now() < patience) std::this_thread::yield();
    return together += inside == 2 ? 1 : 0;
  };
  Inputs a(1000, 1), b(1000, 2);
  std::thread other([&] { memo.get(c, a.views, make); });
  memo.get(c, b.views, make);
  other.join();
  CHECK(together == 2);

  std::atomic<int> made{0};
  Inputs d(1000, 3);
  auto slow = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return ++made;
  };
  std::thread asks([&] { CHECK(*memo.get(c, d.views, slow) == 1); });
  const int answer = *memo.get(c, d.views, slow);
  asks.join();
  CHECK(answer == 1);
  CHECK(made == 1);
}

TEST_CASE("a fingerprint tells where bytes lie") {
  const Case c;
  Inputs a(64, 3);
  const std::uint64_t before = fingerprint(c, a.views);
  std::swap_ranges(a.bytes.begin(), a.bytes.begin() + 8, a.bytes.begin() + 8);
  CHECK(fingerprint(c, a.views) != before);
  const std::vector<std::span<const std::byte>> parts = {std::span(a.bytes).first(32), std::span(a.bytes).last(32)};
  CHECK(fingerprint(c, parts) != fingerprint(c, a.views));
}

TEST_CASE("the first bad element is the least one") {
  constexpr std::size_t n = 3'000'001;
  CHECK(first_where(n, [](std::size_t) { return false; }) == n);
  CHECK(first_where(n, [](std::size_t i) { return i % 700'000 == 699'999; }) == 699'999);
  CHECK(first_where(n, [](std::size_t i) { return i == n - 1; }) == n - 1);
  CHECK(first_where(0, [](std::size_t) { return true; }) == 0);
}
