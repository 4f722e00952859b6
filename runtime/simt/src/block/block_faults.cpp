// The slow path of a block: accesses that are neither local, global nor shared memory, and deadlocks.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "block/block.hpp"
#include "device/tls.hpp"

// Where `ridge cc` puts __constant__ variables; null where the program has none.
extern "C" {
[[gnu::weak]] extern const char __start_ridge_constant[];
[[gnu::weak]] extern const char __stop_ridge_constant[];
}

namespace ridge::simt {

namespace {

std::string hex(std::uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", value);
  return text;
}

const Object* object_at(const std::vector<Object>& objects, std::uintptr_t address) {
  auto at = std::upper_bound(objects.begin(), objects.end(), address,
                             [](std::uintptr_t a, const Object& o) { return a < o.begin; });
  return at == objects.begin() ? nullptr : &*(at - 1);
}

// "the address is 4 bytes past the end of tile (1024 bytes)"
std::string beside(const Variable& v, std::uintptr_t address) {
  if (v.name.empty()) return "no variable is at address " + hex(address);
  std::string whose = v.name + " (" + std::to_string(v.bytes) + " bytes)";
  if (address < v.begin) return "the address is " + std::to_string(v.begin - address) + " bytes before " + whose;
  if (address >= v.begin + v.bytes)
    return "the address is " + std::to_string(address - v.begin - v.bytes) + " bytes past the end of " + whose;
  return "the access runs past the end of " + whose;
}

bool is_constant(std::uintptr_t address) {
  return address >= reinterpret_cast<std::uintptr_t>(__start_ridge_constant) &&
         address < reinterpret_cast<std::uintptr_t>(__stop_ridge_constant);
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

// Neither device memory nor shared: parameters, variables and tables of the program, or nothing that a kernel may
// touch.
void BlockRunner::classify(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
                           unsigned part) {
  const bool store = kind != AccessKind::load;
  // Kernel parameters: in constant memory on a GPU, not counted.
  if (address - reinterpret_cast<std::uintptr_t>(launch_->closure) < launch_->closure_bytes) return;
  for (const Segment& s : program_.segments) {
    if (address < s.begin || address >= s.end || (store && !s.writable)) continue;
    if (!s.writable) return;  // tables that the compiler made
    if (!store && address >= program_.constants.begin && address < program_.constants.end) return;
    if (!program_.own(address)) break;
    const Object* o = object_at(program_.objects, address);
    if (!program_.objects.empty() && (o == nullptr || address + bytes > o->end)) break;
    if (is_constant(address)) {
      if (store) break;
      return;
    }
    if (launch_->sanitize)
      sanitizer_.access(
          {address, bytes, kind, is_volatile, static_cast<std::uint32_t>(pc - program_.base), current_->linear, false});
    // __device__ variables are global memory; numbered behind the reserved range.
    Op op = kind == AccessKind::load ? Op::global_load : kind == AccessKind::store ? Op::global_store : Op::global_red;
    record(DeviceMemory::kReserve + (address - program_.base), bytes, op, pc, part);
    if (is_volatile || kind == AccessKind::atomic) spin(address, pc);
    return;
  }
  out_of_bounds(address, bytes, store, pc);
}

Fault BlockRunner::fault_of(const Thread& t) const {
  Fault f;
  f.kernel = launch_->kernel;
  const unsigned b[3] = {block_.x, block_.y, block_.z};
  const unsigned i[3] = {t.index.x, t.index.y, t.index.z};
  std::memcpy(f.block, b, sizeof b);
  std::memcpy(f.thread, i, sizeof i);
  return f;
}

void BlockRunner::stop(Fault f) {
  report_fault(f);
  faulted_ = true;
}

void BlockRunner::fault(Fault f) {
  Fault where = fault_of(*current_);
  f.kernel = where.kernel;
  std::memcpy(f.block, where.block, sizeof f.block);
  std::memcpy(f.thread, where.thread, sizeof f.thread);
  if (f.error == 0) f.error = 700;  // cudaErrorIllegalAddress
  stop(std::move(f));
  leave();
  __builtin_unreachable();
}

void BlockRunner::misuse(int blamed, const char* kind, const char* detail, int error, std::uintptr_t pc) {
  if (current_ == nullptr) {  // a work function: its lanes wait, the scheduler runs
    const Thread* t = last_;
    if (blamed >= 0)
      if (const Thread* named = lane(last_->linear / kWarpSize, static_cast<unsigned>(blamed))) t = named;
    Fault f = fault_of(*t);
    f.kind = kind;
    f.detail = detail;
    f.pc = static_cast<std::uint32_t>(wait_of(*t).pc - program_.base);
    f.error = error;
    stop(std::move(f));
    return;
  }
  Fault f;
  f.kind = kind;
  f.detail = detail;
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  f.error = error;
  fault(std::move(f));
}

void BlockRunner::foreign_stack(std::uintptr_t pc) {
  Fault f;
  f.kind = "access to foreign local memory";
  f.detail = "a thread's local variables are its own: hand values to others through shared memory or shuffles";
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  f.error = 700;  // cudaErrorIllegalAddress
  fault(std::move(f));
}

void BlockRunner::frame_fault(std::uintptr_t pc, bool too_deep) {
  Fault f;
  f.kind = too_deep ? "stack overflow" : "overwritten stack";
  f.detail = too_deep
                 ? "1000 calls within calls: a GPU's threads have little stack; use a loop"
                 : "a function's return address or saved registers changed: a local array was written past its end";
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  f.error = 719;  // cudaErrorLaunchFailure
  fault(std::move(f));
}

// Not a hook: the CPU itself found the access, so it was not instrumented (--plain, a library) or ran over the stack.
void BlockRunner::crashed(std::uintptr_t address, std::uintptr_t pc) {
  Fault f;
  f.pc = pc >= program_.base ? static_cast<std::uint32_t>(pc - program_.base) : 0;
  std::uintptr_t begin =
      stacks_begin_ + static_cast<std::uintptr_t>(current_->slot) * (stacks_bytes_ / kMaxThreadsPerBlock);
  std::uintptr_t size = stacks_bytes_ / kMaxThreadsPerBlock;
  if (address - (begin - size) < size + (size - kFiberStackBytes)) {
    f.kind = "stack overflow";
    f.detail = "a thread has " + std::to_string(kFiberStackBytes / 1024) +
               " KiB of stack here: large local arrays or deep recursion need more";
    f.error = 719;
  } else {
    f.kind = "illegal access";
    f.detail = "address " + hex(address) + " cannot be read or written; build without --plain to hear more";
  }
  fault(std::move(f));
}

void BlockRunner::out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  Fault f;
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  std::string what = std::string(store ? "store" : "load") + " of " + std::to_string(bytes) + " bytes";
  if (address - shared_begin_ < shared_bytes_) {
    f.kind = "out-of-bounds shared " + what;
    if (address - dynamic_shared_ < kDynamicSharedMax)
      f.detail = "the launch asked for " + std::to_string(launch_->dynamic_shared) + " bytes of dynamic shared memory";
    else
      f.detail = beside(variable_near(address - shared_begin_, true), address - shared_begin_);
  } else if (address < 4096) {
    f.kind = "null-pointer " + what;
    f.detail = "the address is " + hex(address) + ": a pointer argument was null or was never set";
  } else if (is_constant(address)) {
    f.kind = std::string(store ? "store to" : "out-of-bounds load from") + " __constant__ memory of " +
             std::to_string(bytes) + " bytes";
    f.detail = store ? "kernels can only read __constant__ variables" : beside(variable_near(address, false), address);
  } else if (program_.in_data(address)) {
    f.kind = "out-of-bounds global " + what;
    f.detail = beside(variable_near(address, false), address);
  } else if (!memory_.contains(address)) {
    f.kind = "illegal " + what;
    f.detail = "address " + hex(address) + " is host memory; a kernel can only follow pointers from cudaMalloc";
  } else {
    const Allocation* a = memory_.nearest(address);
    if (a != nullptr && a->kind == MemoryKind::freed && address < a->begin + a->bytes) {
      f.kind = "use after free: global " + what;
      f.detail = "the address is " + std::to_string(address - a->begin) + " bytes into an allocation of " +
                 std::to_string(a->bytes) + " bytes that was freed";
    } else if (a != nullptr && address + bytes <= a->end) {
      f.kind = "global " + what + " to a read-only buffer";
      f.detail = "the buffer is an input of the task; write to the outputs only";
    } else {
      f.kind = "out-of-bounds global " + what;
      const Allocation* above = memory_.next(address);
      const std::size_t behind = a == nullptr ? SIZE_MAX : address - a->begin - a->bytes;
      if (above != nullptr && above->begin - address < behind && (a == nullptr || address >= a->begin + a->bytes))
        f.detail = "the address is " + std::to_string(above->begin - address) +
                   " bytes before the beginning of an allocation of " + std::to_string(above->bytes) + " bytes";
      else if (a == nullptr)
        f.detail = "nothing is allocated at or below address " + hex(address);
      else if (address < a->begin + a->bytes)
        f.detail = "the access starts " + std::to_string(a->begin + a->bytes - address) +
                   " bytes before the end of an allocation of " + std::to_string(a->bytes) + " bytes and runs past it";
      else
        f.detail = "the address is " + std::to_string(address - a->begin - a->bytes) +
                   " bytes past the end of an allocation of " + std::to_string(a->bytes) + " bytes";
    }
  }
  fault(std::move(f));
}

void BlockRunner::foreign_memory(unsigned bytes, bool store, std::uintptr_t pc) {
  if (allocation_->kind != MemoryKind::device) return;  // pinned and managed memory is everybody's
  Fault f;
  f.kind = std::string("global ") + (store ? "store" : "load") + " of " + std::to_string(bytes) +
           " bytes without peer access";
  f.detail = "memory of device " + std::to_string(allocation_->device) + ", from a kernel on device " +
             std::to_string(launch_->device) + " without cudaDeviceEnablePeerAccess";
  f.pc = static_cast<std::uint32_t>(pc - program_.base);
  fault(std::move(f));
}

// Threads at a barrier do not write down where they wait: most come to the same.
void BlockRunner::settle_waits() {
  for (unsigned i = 0; i < thread_count_; ++i)
    if (threads_[i].state == State::at_barrier &&
        std::find(strays_.begin(), strays_.end(), &threads_[i]) == strays_.end())
      waits_of_[i] = barrier_;
}

std::string BlockRunner::describe(const Thread& t) const {
  std::string text =
      "thread (" + std::to_string(t.index.x) + "," + std::to_string(t.index.y) + "," + std::to_string(t.index.z) + ")";
  if (t.state == State::done) return text + " has returned";
  text += std::string(" waits at ") + (wait_of(t).name != nullptr ? wait_of(t).name : "a barrier");
  std::string where = wait_of(t).file != nullptr ? base_name(wait_of(t).file) + ":" + std::to_string(wait_of(t).line)
                                                 : source_of(static_cast<std::uint32_t>(wait_of(t).pc - program_.base));
  return where.empty() ? text : text + " (" + where + ")";
}

// Every lane of the warp waits; those at a warp operation can't get on.
void BlockRunner::check_collectives(unsigned warp) {
  if (at_barrier_ != 0) settle_waits();
  for (unsigned l = 0; l < kWarpSize; ++l) {
    Thread* t = lane(warp, l);
    if (t == nullptr || t->state != State::at_collective) continue;
    for (unsigned m = 0; m < kWarpSize; ++m) {
      Thread* other = lane(warp, m);
      if ((wait_of(*t).mask >> m & 1) == 0 || other == nullptr || other->state == State::done) continue;
      const bool same = other->state == State::at_collective && wait_of(*other).work == wait_of(*t).work;
      if (same && wait_of(*other).mask == wait_of(*t).mask) continue;
      Fault f = fault_of(*t);
      char mask[16], others[16];
      std::snprintf(mask, sizeof mask, "0x%08x", wait_of(*t).mask);
      std::snprintf(others, sizeof others, "0x%08x", wait_of(*other).mask);
      if (same) {
        f.kind = std::string(wait_of(*t).name) + ": different masks";
        f.detail =
            "lane " + std::to_string(l) + " gives " + mask + ", lane " + std::to_string(m) + " of it gives " + others;
      } else {
        f.kind = std::string(wait_of(*t).name) + ": lane " + std::to_string(m) + " of the mask waits elsewhere";
        f.detail = "the mask is " + std::string(mask) + ", and " + describe(*other);
      }
      f.pc = static_cast<std::uint32_t>(wait_of(*t).pc - program_.base);
      f.error = 719;
      stop(std::move(f));
      return;
    }
  }
}

void BlockRunner::deadlock() {
  settle_waits();
  const Thread *first = nullptr, *second = nullptr;
  unsigned waiting = 0;
  for (unsigned i = 0; i < thread_count_; ++i) {
    const Thread& t = threads_[i];
    if (t.state == State::done) continue;
    if (first == nullptr) first = &t;
    if (t.state == first->state)
      ++waiting;
    else if (second == nullptr)
      second = &t;
  }
  if (first == nullptr) return;
  Fault f = fault_of(*first);
  f.kind = "deadlock at a barrier";
  f.detail = std::to_string(waiting) + " of " + std::to_string(thread_count_) + " threads wait there; " +
             (second != nullptr ? describe(*second) : std::string("another block has ended without coming to it"));
  if (wait_of(*first).file != nullptr) {
    f.file = wait_of(*first).file;
    f.line = wait_of(*first).line;
  } else {
    f.pc = static_cast<std::uint32_t>(wait_of(*first).pc - program_.base);
  }
  f.error = 719;  // cudaErrorLaunchFailure
  stop(std::move(f));
}

}  // namespace ridge::simt
