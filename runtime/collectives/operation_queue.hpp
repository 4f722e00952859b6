// The operations that wait in a stream.
#pragma once
#include <cstdint>
#include <memory_resource>

namespace ridge::collectives {

enum class OperationKind : std::uint8_t { group, kernel, record, wait };

// Half a cache line, with room for the two messages of most groups. A group of more goes on in the operations that
// follow.
struct Operation {
  static constexpr std::uint32_t kMostNumber = (1u << 28) - 1;

  double issued = 0;
  double amount[2] = {0, 0};      // bytes of the messages, or a kernel's seconds
  std::uint32_t number : 28 = 0;  // number of the first message's channel, or of an event
  bool sends : 1 = false;
  OperationKind kind : 2 = OperationKind::group;
  bool goes_on : 1 = false;
  std::uint32_t second_number : 28 = 0;
  bool second_sends : 1 = false;
  std::uint32_t messages : 2 = 0;

  void add(double bytes, std::uint32_t channel, bool sends_it) {
    if (messages == 0)
      number = channel & kMostNumber, sends = sends_it;
    else
      second_number = channel & kMostNumber, second_sends = sends_it;
    amount[messages] = bytes;
    messages = (messages + 1u) & 3;
  }
};
static_assert(sizeof(Operation) == 32);

// A queue in a circle, whose length is a power of two. All queues share a pool of memory: thousands of them on pages of
// their own would take more entries of the TLB than there are.
class OperationQueue {
 public:
  using Pool = std::pmr::monotonic_buffer_resource;
  static constexpr std::uint32_t kLeast = 32;

  bool empty() const { return size_ == 0; }
  const Operation& front() const { return items_[first_]; }
  void push(const Operation& item, Pool& pool) {
    if (size_ == room_) grow(pool);
    items_[(first_ + size_++) & (room_ - 1)] = item;
  }
  void pop() {
    first_ = (first_ + 1) & (room_ - 1);
    --size_;
  }

 private:
  void grow(Pool& pool) {
    const std::uint32_t room = room_ == 0 ? kLeast : 2 * room_;
    auto* larger = static_cast<Operation*>(pool.allocate(room * sizeof(Operation), 64));
    for (std::uint32_t i = 0; i < size_; ++i) larger[i] = items_[(first_ + i) & (room_ - 1)];
    items_ = larger;  // the smaller one stays with the pool
    room_ = room;
    first_ = 0;
  }

  Operation* items_ = nullptr;
  std::uint32_t room_ = 0, first_ = 0, size_ = 0;
};

}  // namespace ridge::collectives
