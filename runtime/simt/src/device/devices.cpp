#include "device/devices.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace ridge::simt {

namespace {

int count_from_environment() {
  const char* text = std::getenv("RIDGE_DEVICES");
  if (text == nullptr || *text == 0) return 1;
  char* rest = nullptr;
  const long count = std::strtol(text, &rest, 10);
  if (*rest == 0 && count >= 1 && count <= kMaxDevices) return static_cast<int>(count);
  std::fprintf(stderr, "ridge: RIDGE_DEVICES: '%s' is no number of devices\n  give a number from 1 to %d\n", text,
               kMaxDevices);
  std::_Exit(3);
}

// A key, since thread-local variables would become part of shared memory. It holds the device + 1, and nothing in new
// threads.
pthread_key_t key() {
  static const pthread_key_t made = [] {
    pthread_key_t k{};
    pthread_key_create(&k, nullptr);
    return k;
  }();
  return made;
}

std::atomic<int> first_device{0};

}  // namespace

int device_count() {
  static const int count = count_from_environment();
  return count;
}

int current_device() {
  if (device_count() == 1) return 0;
  const auto held = reinterpret_cast<std::uintptr_t>(pthread_getspecific(key()));
  return held == 0 ? first_device.load() : static_cast<int>(held) - 1;
}

void set_current_device(int device) {
  pthread_setspecific(key(), reinterpret_cast<void*>(static_cast<std::uintptr_t>(device) + 1));
}

void set_first_device(int device) { first_device = device; }

Peers& Peers::instance() {
  static Peers peers;
  return peers;
}

Peers::Peers() {
  for (std::size_t d = 0; d < masks_.size(); ++d) masks_[d] = std::uint64_t{1} << d;
}

void Peers::enable(int device, int peer, bool on) {
  const std::uint64_t bit = std::uint64_t{1} << peer;
  std::uint64_t& mask = masks_[static_cast<std::size_t>(device)];
  mask = on ? mask | bit : mask & ~bit;
}

void Peers::reset(int device) {
  for (int other = 0; other < kMaxDevices; ++other) {
    if (other == device) continue;
    enable(device, other, false);
    enable(other, device, false);
  }
}

}  // namespace ridge::simt
