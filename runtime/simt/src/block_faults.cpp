// The slow path of a block: accesses that are neither local, global nor shared memory, and deadlocks.
#include <link.h>

#include <cstdio>

#include "block.hpp"

namespace ridge::simt {

namespace {

// Segments of the program: __device__ and __constant__ variables are writable data, tables are read-only.
struct Segment {
  std::uintptr_t begin, end;
  bool writable;
};

const std::vector<Segment>& program_segments() {
  static const std::vector<Segment> segments = [] {
    std::vector<Segment> found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
          for (int i = 0; i < info->dlpi_phnum; ++i) {
            const auto& h = info->dlpi_phdr[i];
            if (h.p_type == PT_LOAD)
              static_cast<std::vector<Segment>*>(out)->push_back(
                  {info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz, (h.p_flags & PF_W) != 0});
          }
          return 1;
        },
        &found);
    return found;
  }();
  return segments;
}

std::string hex(std::uintptr_t value) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%zx", value);
  return text;
}

}  // namespace

void BlockRunner::classify(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  auto closure = reinterpret_cast<std::uintptr_t>(launch_->closure);
  if (address - closure < launch_->closure_bytes) return;  // kernel parameters
  for (const Segment& s : program_segments())
    if (address >= s.begin && address < s.end && (s.writable || !store)) return;
  out_of_bounds(address, bytes, store, pc);
}

void BlockRunner::out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  Fault f;
  f.pc = static_cast<std::uint32_t>(pc - text_);
  std::string what = std::string(store ? "store" : "load") + " of " + std::to_string(bytes) + " bytes";
  if (address - shared_begin_ < shared_bytes_) {
    f.kind = "out-of-bounds shared " + what;
    f.detail = "the launch asked for " + std::to_string(launch_->dynamic_shared) + " bytes of dynamic shared memory";
  } else if (address < 4096) {
    f.kind = "null-pointer " + what;
    f.detail = "the address is " + hex(address) + ": a pointer argument was null or was never set";
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
      if (a == nullptr)
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

void BlockRunner::deadlock() {
  Fault f;
  unsigned waiting = 0;
  const Thread* first = nullptr;
  for (unsigned i = 0; i < thread_count_; ++i) {
    if (threads_[i].state != State::at_barrier) continue;
    if (first == nullptr) first = &threads_[i];
    ++waiting;
  }
  f.kind = "deadlock at a barrier";
  f.detail = std::to_string(waiting) + " of " + std::to_string(thread_count_) +
             " threads wait at __syncthreads() and the others can never reach it";
  if (first != nullptr) {
    f.file = first->wait_file;
    f.line = first->wait_line;
  }
  f.kernel = launch_->kernel;
  f.error = 719;  // cudaErrorLaunchFailure
  report_fault(f);
  faulted_ = true;
}

}  // namespace ridge::simt
