#include "block.hpp"

#include <link.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tls.hpp"

namespace ridge::simt {

// The only thread-local of the emulator, so that all else in the program's TLS segment is __shared__ memory.
__thread BlockRunner* tls_runner = nullptr;

namespace {

constexpr std::size_t kGuardBytes = 4096;
constexpr std::size_t kSlotBytes = kFiberStackBytes + kGuardBytes;
constexpr unsigned char kSharedPoison = 0xFF;  // a NaN in every floating-point format

void program_tls(std::uintptr_t& begin, std::uintptr_t& bytes) {
  struct Found {
    std::uintptr_t begin, bytes;
  } found{0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        for (int i = 0; i < info->dlpi_phnum; ++i)
          if (info->dlpi_phdr[i].p_type == PT_TLS)
            *static_cast<Found*>(out) = {reinterpret_cast<std::uintptr_t>(info->dlpi_tls_data),
                                         info->dlpi_phdr[i].p_memsz};
        return 1;
      },
      &found);
  begin = found.begin;
  bytes = found.bytes;
}

void poison(std::uintptr_t begin, std::uintptr_t end) {
  if (begin < end) std::memset(reinterpret_cast<void*>(begin), kSharedPoison, end - begin);
}

}  // namespace

BlockRunner* BlockRunner::current() { return tls_runner; }

BlockRunner::BlockRunner() : memory_(DeviceMemory::instance()) {
  threads_.resize(kMaxThreadsPerBlock);
  slots_.resize(kMaxThreadsPerBlock);
  stacks_bytes_ = kSlotBytes * kMaxThreadsPerBlock;
  void* p = mmap(nullptr, stacks_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr, "ridge: no memory for the stacks of a block's threads\n");
    std::_Exit(3);
  }
  stacks_ = static_cast<char*>(p);
  stacks_begin_ = reinterpret_cast<std::uintptr_t>(p);
  for (std::size_t i = 0; i < kMaxThreadsPerBlock; ++i) mprotect(stacks_ + i * kSlotBytes, kGuardBytes, PROT_NONE);
  program_tls(shared_begin_, shared_bytes_);
  text_ = program_base();
  tls_runner = this;

  // Static shared memory is the TLS segment without the emulator's own pointer and without the dynamic area.
  auto self = reinterpret_cast<std::uintptr_t>(&tls_runner);
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> holes = {{self, self + sizeof tls_runner}};
  if (ridge_dynamic_shared != nullptr) {
    dynamic_shared_ = reinterpret_cast<std::uintptr_t>(ridge_dynamic_shared());
    holes.emplace_back(dynamic_shared_, dynamic_shared_ + kDynamicSharedMax);
    std::sort(holes.begin(), holes.end());
  }
  std::uintptr_t at = shared_begin_;
  for (const auto& [begin, end] : holes) {
    if (at < begin) static_shared_.emplace_back(at, begin);
    at = end;
  }
  if (at < shared_begin_ + shared_bytes_) static_shared_.emplace_back(at, shared_begin_ + shared_bytes_);
}

BlockRunner::~BlockRunner() {
  tls_runner = nullptr;
  munmap(stacks_, stacks_bytes_);
}

void BlockRunner::fiber_main(void* self) {
  auto& r = *static_cast<BlockRunner*>(self);
  for (;;) {
    Thread* t = r.current_;
    r.launch_->run(r.launch_->closure);
    t->state = State::done;
    ++r.done_;
    // A fiber that ends one thread takes the next one, which saves two switches.
    if (Thread* next = r.next_unstarted()) {
      next->slot = t->slot;
      next->state = State::ready;
      r.current_ = next;
      continue;
    }
    r.free_slots_.push_back(t->slot);
    r.leave();
  }
}

// Lanes run in an order drawn from the seed: code that needs a certain order is wrong, and shows it.
unsigned BlockRunner::lane_at(unsigned i) const { return i ^ static_cast<unsigned>(order_ % kWarpSize); }

Thread* BlockRunner::next_unstarted() {
  while (warp_next_ < kWarpSize) {
    unsigned linear = warp_ * kWarpSize + lane_at(warp_next_++);
    if (linear < thread_count_ && threads_[linear].state == State::unstarted) return &threads_[linear];
  }
  return nullptr;
}

void BlockRunner::resume(Thread& t) {
  if (t.state == State::unstarted) {
    if (t.slot < 0) {
      t.slot = free_slots_.back();
      free_slots_.pop_back();
    }
    Slot& slot = slots_[static_cast<std::size_t>(t.slot)];
    if (!slot.made) {
      fiber_create(slot.fiber, stacks_ + static_cast<std::size_t>(t.slot) * kSlotBytes + kGuardBytes, kFiberStackBytes,
                   &fiber_main, this);
      slot.made = true;
    }
    t.state = State::ready;
  }
  current_ = &t;
  fiber_switch(scheduler_, slots_[static_cast<std::size_t>(t.slot)].fiber);
  current_ = nullptr;
}

void BlockRunner::leave() {
  Fiber& self = slots_[static_cast<std::size_t>(current_->slot)].fiber;
  fiber_switch(self, scheduler_);
}

void BlockRunner::run_warp(unsigned warp) {
  warp_ = warp;
  for (bool again = true; again && !faulted_;) {
    again = false;
    warp_next_ = 0;
    for (unsigned i = 0; i < kWarpSize && !faulted_; ++i) {
      unsigned linear = warp * kWarpSize + lane_at(i);
      if (linear >= thread_count_) continue;
      Thread& t = threads_[linear];
      if (t.state == State::unstarted) warp_next_ = i + 1;
      if (t.state == State::unstarted || t.state == State::ready) resume(t);
    }
    if (launch_->record) merge_warp(events_, kWarpSize, *counters_);
    for (unsigned l = 0; l < kWarpSize; ++l) {
      unsigned linear = warp * kWarpSize + l;
      if (linear < thread_count_ && threads_[linear].state == State::parked) {
        threads_[linear].state = State::ready;
        again = true;
      }
    }
  }
}

bool BlockRunner::run(const Launch& launch, Index3 index, KernelCounters& counters) {
  launch_ = &launch;
  block_ = index;
  counters_ = &counters;
  faulted_ = false;
  done_ = 0;
  thread_count_ = launch.block.x * launch.block.y * launch.block.z;
  std::uint64_t linear_block =
      index.x + std::uint64_t{launch.grid.x} * (index.y + std::uint64_t{launch.grid.y} * index.z);
  order_ = launch.order == 0 ? 0 : ((linear_block + launch.order) * 0x9E3779B97F4A7C15ull) >> 32;

  free_slots_.clear();
  for (unsigned i = 0; i < thread_count_; ++i) free_slots_.push_back(static_cast<int>(thread_count_ - 1 - i));
  for (unsigned i = 0; i < thread_count_; ++i) {
    unsigned x = i % launch.block.x, y = i / launch.block.x % launch.block.y, z = i / launch.block.x / launch.block.y;
    threads_[i] = Thread{{x, y, z}, i, State::unstarted, -1, nullptr, 0};
  }

  // __shared__ memory starts with garbage, not with the last block's values.
  for (const auto& [begin, end] : static_shared_) poison(begin, end);
  poison(dynamic_shared_, dynamic_shared_ + launch.dynamic_shared);

  unsigned warps = (thread_count_ + kWarpSize - 1) / kWarpSize;
  unsigned first = static_cast<unsigned>((order_ >> 5) % warps);
  while (!faulted_) {
    for (unsigned w = 0; w < warps && !faulted_; ++w) run_warp((first + w) % warps);
    if (faulted_ || done_ == thread_count_) break;
    if (!release_barrier()) deadlock();
  }
  if (faulted_) {
    for (auto& slot : slots_) slot.made = false;  // their stacks hold abandoned calls
    for (auto& lane : events_) lane.clear();
  }
  return !faulted_;
}

bool BlockRunner::release_barrier() {
  for (unsigned i = 0; i < thread_count_; ++i)
    if (threads_[i].state != State::done && threads_[i].state != State::at_barrier) return false;
  for (unsigned i = 0; i < thread_count_; ++i)
    if (threads_[i].state == State::at_barrier) threads_[i].state = State::ready;
  ++counters_->barriers;
  return true;
}

void BlockRunner::barrier(const char* file, int line) {
  current_->state = State::at_barrier;
  current_->wait_file = file;
  current_->wait_line = line;
  leave();
}

void BlockRunner::fault(Fault f) {
  f.kernel = launch_->kernel;
  const unsigned b[3] = {block_.x, block_.y, block_.z};
  const unsigned t[3] = {current_->index.x, current_->index.y, current_->index.z};
  std::memcpy(f.block, b, sizeof b);
  std::memcpy(f.thread, t, sizeof t);
  if (f.error == 0) f.error = 700;  // cudaErrorIllegalAddress
  report_fault(f);
  faulted_ = true;
  leave();
  __builtin_unreachable();
}

void BlockRunner::access(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc, unsigned part) {
  if (address - stacks_begin_ < stacks_bytes_) return;  // local memory
  std::uint64_t where = address;
  Op op;
  if (memory_.contains(address)) {
    const Allocation& owner = memory_.owner(address);
    if (address + bytes > owner.end || (store && !owner.writable)) out_of_bounds(address, bytes, store, pc);
    op = store ? Op::global_store : Op::global_load;
  } else if (address - shared_begin_ < shared_bytes_) {
    where = address - shared_begin_;
    op = store ? Op::shared_store : Op::shared_load;
    std::uintptr_t offset = address - dynamic_shared_;
    if (offset < kDynamicSharedMax && offset + bytes > launch_->dynamic_shared)
      out_of_bounds(address, bytes, store, pc);
  } else {
    classify(address, bytes, store, pc);
    return;
  }
  if (address % bytes != 0) {
    Fault f;
    f.kind = std::string("misaligned ") + (store ? "store" : "load") + " of " + std::to_string(bytes) + " bytes";
    f.detail = "the address is not a multiple of " + std::to_string(bytes) + ": a GPU stops here";
    f.pc = static_cast<std::uint32_t>(pc - text_);
    f.error = 716;  // cudaErrorMisalignedAddress
    fault(std::move(f));
  }
  if (!launch_->record) return;
  auto& events = events_[current_->linear % kWarpSize];
  events.push_back({where, static_cast<std::uint32_t>(pc - text_), static_cast<std::uint8_t>(bytes), op,
                    static_cast<std::uint16_t>(part)});
  if (events.size() >= kMaxEvents) {
    current_->state = State::parked;
    leave();
  }
}

}  // namespace ridge::simt
