// A trace of device work, repeated by another process; and traces of somebody who lies.
#include <cuda_runtime_api.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/stream/device_log.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

constexpr std::size_t kBytes = 1000;

char* in_device = nullptr;  // the same address in every process

// What a host program might do; everything but launches, which need a program of `ridge cc`.
void work() {
  char* a = nullptr;
  char* b = nullptr;
  char* pinned = nullptr;
  std::vector<char> host(kBytes);
  for (std::size_t i = 0; i < kBytes; ++i) host[i] = static_cast<char>(i * 7);
  cudaMalloc(reinterpret_cast<void**>(&a), kBytes);
  cudaMalloc(reinterpret_cast<void**>(&b), kBytes);
  cudaMallocHost(reinterpret_cast<void**>(&pinned), 64);
  cudaMemcpy(a, host.data(), kBytes, cudaMemcpyHostToDevice);
  std::memset(pinned, 5, 64);
  cudaMemcpy2D(b, 32, a, 16, 16, 10, cudaMemcpyDeviceToDevice);
  cudaMemset(b + 500, 9, 100);
  cudaMemcpy(b + 700, pinned, 64, cudaMemcpyHostToDevice);
  cudaMemcpy(host.data(), b, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(a);
  in_device = b;
}

// The exit status of `body` in a child, and what it wrote to a pipe.
std::pair<int, std::vector<char>> in_child(const std::function<std::vector<char>()>& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_t pid = fork();
  if (pid == 0) {
    std::vector<char> bytes = body();
    for (std::size_t at = 0; at < bytes.size();) {
      ssize_t n = write(ends[1], bytes.data() + at, bytes.size() - at);
      if (n <= 0) _exit(9);
      at += static_cast<std::size_t>(n);
    }
    _exit(0);
  }
  close(ends[1]);
  std::vector<char> all;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) all.insert(all.end(), buffer, buffer + n);
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  return {status, all};
}

std::vector<char> recorded() {
  auto [status, bytes] = in_child([] {
    Trace::start();
    work();
    bool overflow = true;
    std::vector<char> trace = Trace::take(overflow);
    if (overflow) _exit(8);
    return trace;
  });
  REQUIRE(status == 0);
  return bytes;
}

// What a replay leaves in b, its transfers, or its error.
std::string replayed(const std::vector<char>& trace) {
  auto [status, bytes] = in_child([&] {
    Replay r = replay_trace(trace.data(), trace.size(), nullptr);
    std::string text = r.ok
                           ? "ok " + std::to_string(r.transfers.from_host) + " " + std::to_string(r.transfers.to_host) +
                                 " " + std::to_string(r.transfers.on_device) + " " + std::to_string(r.transfers.filled)
                           : r.error;
    return std::vector<char>(text.begin(), text.end());
  });
  INFO("status " << status);
  REQUIRE(WIFEXITED(status));
  return {bytes.begin(), bytes.end()};
}

// The trace up to its first record of a kind, with other fields.
template <class Fields>
std::vector<char> forged(std::vector<char> trace, trace::Kind kind, const Fields& fields) {
  const char* p = reinterpret_cast<const char*>(&kind);
  trace.insert(trace.end(), p, p + sizeof kind);
  p = reinterpret_cast<const char*>(&fields);
  trace.insert(trace.end(), p, p + sizeof fields);
  return trace;
}

}  // namespace

TEST_CASE("another process repeats what a program did on the device") {
  std::vector<char> trace = recorded();
  // 1000 bytes and 64 of pinned memory, which is recorded when the host has written it, and as a copy's source.
  CHECK(replayed(trace).rfind("ok ", 0) == 0);
  auto [status, bytes] = in_child([&] {
    work();  // finds the addresses and what should be there
    std::vector<char> expected(in_device, in_device + kBytes);
    expected.resize(kBytes + sizeof in_device);
    std::memcpy(expected.data() + kBytes, &in_device, sizeof in_device);
    return expected;
  });
  REQUIRE(status == 0);
  REQUIRE(bytes.size() == kBytes + sizeof in_device);
  char* where = nullptr;
  std::memcpy(&where, bytes.data() + kBytes, sizeof where);
  auto [again, got] = in_child([&] {
    Replay r = replay_trace(trace.data(), trace.size(), nullptr);
    return r.ok ? std::vector<char>(where, where + kBytes) : std::vector<char>();
  });
  REQUIRE(again == 0);
  bytes.resize(kBytes);
  CHECK(got == bytes);
}

TEST_CASE("all that comes from the host is counted") {
  std::string text = replayed(recorded());
  // Copies of 1000 and 64 bytes, and pinned memory after the host's memset (as zeros before it is not recorded).
  CHECK(text == "ok 1128 1000 160 100");
}

TEST_CASE("a trace that lies is refused") {
  const std::vector<char> good = recorded();
  using namespace trace;
  const std::uint64_t outside = reinterpret_cast<std::uintptr_t>(&outside);
  CHECK(replayed({good.begin(), good.end() - 1}) == "it ends inside a record");
  CHECK(replayed(forged(good, static_cast<Kind>(99), Free{0})) == "it holds an unknown record");
  CHECK(replayed(forged(good, Kind::free, Free{outside})) == "it frees what was not allocated");
  CHECK(replayed(forged(good, Kind::begin, Begin{kVersion, 0, 1, 1})).rfind("its addresses", 0) == 0);
  CHECK(replayed(forged(good, Kind::begin, Begin{kVersion + 1, 0, 1, 1})) == "it has another version");
  CHECK(replayed(forged(good, Kind::allocate, Allocate{0, 64, 1, 0})) == "an allocation lies elsewhere");
  CHECK(replayed(forged(good, Kind::allocate, Allocate{0, 64, 1, 4000})) != "ok");
  CHECK(replayed(forged(good, Kind::fill, Fill{9, outside, 4, 4, 4, 1, 1, 0, 1})) ==
        "a copy touches what is not the device's");
  CHECK(replayed(forged(good, Kind::copy, Copy{9, outside, 4, 4, outside, 4, 4, 4, 1, 1, 0, 0, 0, 0})) ==
        "a copy touches what is not the device's");
  const auto huge = std::uint64_t{1} << 62;
  CHECK(replayed(forged(good, Kind::copy,
                        Copy{9, outside, huge, huge, outside, huge, huge, huge, huge, huge, 0, 0, 0, 0})) ==
        "a copy is too large");
  Kernel k{};
  k.run = reinterpret_cast<std::uintptr_t>(&std::abort);
  for (int i = 0; i < 3; ++i) k.grid[i] = k.block[i] = 1;
  CHECK(replayed(forged(good, Kind::kernel, k)) == "a launch enters the program where no kernel begins");
}

TEST_CASE("damaged traces never bring the process down") {
  const std::vector<char> good = recorded();
  std::mt19937 random(20261121);
  for (int i = 0; i < 300; ++i) {
    std::vector<char> bad = good;
    for (int flips = 1 + static_cast<int>(random() % 3); flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1 << random() % 8);
    if (random() % 4 == 0) bad.resize(random() % bad.size());
    CHECK_FALSE(replayed(bad).empty());
  }
}
