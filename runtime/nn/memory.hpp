// Device memory, accounted for by what it is used for. Everything that lives through training is taken from an Arena:
// once in a measuring pass that allocates nothing (and so answers "does this model fit?" on any machine), once for
// real, from memory of its own or the caller's.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "nn/check.hpp"

namespace nn {

enum class Use { weights, gradients, optimizer, activations, workspace };
constexpr int kUses = 5;
inline const char* name(Use use) {
  constexpr const char* names[kUses] = {"weights", "gradients", "optimizer", "activations", "workspace"};
  return names[static_cast<int>(use)];
}

struct MemoryPlan {
  std::array<std::size_t, kUses> bytes{};
  std::size_t operator[](Use use) const { return bytes[static_cast<std::size_t>(use)]; }
  std::size_t total() const {
    std::size_t sum = 0;
    for (std::size_t b : bytes) sum += b;
    return sum;
  }
};

class Arena {
 public:
  Arena() = default;  // measures
  // Allocates one piece for each use. What take() hands out is not initialised.
  explicit Arena(const MemoryPlan& plan) : plan_(plan), real_(true) {
    try {
      for (int u = 0; u < kUses; ++u)
        if (plan.bytes[static_cast<std::size_t>(u)] != 0)
          check(cudaMalloc(&base_[static_cast<std::size_t>(u)], plan.bytes[static_cast<std::size_t>(u)]),
                "allocating " + std::to_string(plan.bytes[static_cast<std::size_t>(u)]) + " bytes for " +
                    name(static_cast<Use>(u)));
    } catch (...) {
      release();
      throw;
    }
  }
  // Uses `bytes` at `memory`, which stay the caller's; all uses lie one behind the other.
  Arena(void* memory, std::size_t bytes) : real_(true), given_(static_cast<char*>(memory)), left_(bytes) {}
  ~Arena() { release(); }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  Arena(Arena&& other) noexcept { *this = static_cast<Arena&&>(other); }
  Arena& operator=(Arena&& other) noexcept {
    if (this == &other) return *this;
    release();
    plan_ = other.plan_, used_ = other.used_, base_ = other.base_, real_ = other.real_;
    given_ = other.given_, left_ = other.left_;
    other.base_ = {};
    return *this;
  }

  // `count` elements at a multiple of 256 bytes, as cudaMalloc gives; null in a measuring pass.
  template <class E>
  E* take(Use use, std::size_t count) {
    const auto u = static_cast<std::size_t>(use);
    const std::size_t at = used_.bytes[u], bytes = (count * sizeof(E) + 255) / 256 * 256;
    used_.bytes[u] += bytes;
    if (!real_) return nullptr;
    if (given_ != nullptr) {
      if (bytes > left_)
        throw std::logic_error(std::string("nn: the memory that was given ends before what is taken for ") + name(use));
      left_ -= bytes;
      given_ += bytes;
      return reinterpret_cast<E*>(given_ - bytes);
    }
    if (used_.bytes[u] > plan_.bytes[u])
      throw std::logic_error(std::string("nn: more is taken for ") + name(use) + " than was measured");
    return reinterpret_cast<E*>(static_cast<char*>(base_[u]) + at);
  }

  const MemoryPlan& used() const { return used_; }

 private:
  void release() noexcept {
    for (void*& p : base_) {
      if (p != nullptr) cudaFree(p);
      p = nullptr;
    }
  }

  MemoryPlan plan_, used_;
  std::array<void*, kUses> base_{};
  bool real_ = false;
  char* given_ = nullptr;  // the rest of the caller's memory
  std::size_t left_ = 0;
};

}  // namespace nn
