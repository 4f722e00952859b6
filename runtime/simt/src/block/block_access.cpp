// Every access of a kernel comes here: which memory it is, whether it is allowed, and who is to know of it.
#include <algorithm>

#include "block/block.hpp"
#include "block/memory_faults.hpp"

namespace ridge::simt {

Pieces& BlockRunner::pieces() {
  if (pieces_.empty()) pieces_.resize(kMaxThreadsPerBlock);
  return pieces_[current_->linear];
}

void BlockRunner::check(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  if (stacks_.contains(address)) {
    if (!own_stack(address, bytes)) foreign_stack(pc);
  } else if (memory_.contains(address)) {
    const Allocation& a = memory_.owner(address);
    if (address + bytes > a.end || (store && !a.writable)) out_of_bounds(address, bytes, store, pc);
    if ((launch_->reachable >> a.device & 1) == 0 && a.kind == MemoryKind::device)
      fault(peer_access_fault(a, *launch_, bytes, store), pc);
  } else if (shared_.contains(address)) {
    if (!shared_.holds(address, bytes, launch_->dynamic_shared)) out_of_bounds(address, bytes, store, pc);
  } else if (const BlockRunner* other = neighbour(address); other != nullptr) {
    if (!other->holds_shared(address, bytes)) out_of_bounds(address, bytes, store, pc);
  } else {
    variable_access(address, bytes, store ? AccessKind::store : AccessKind::load, false, pc, 0);
  }
}

void BlockRunner::must_run(const BlockRunner& other, std::uintptr_t pc) {
  if (!cluster_->has_ended(other.rank_in_cluster())) return;
  misuse(-1, "shared memory of a block that has ended",
         "a block whose shared memory others of its cluster use ends behind a cluster.sync() with them", 719, pc);
}

void BlockRunner::access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile, std::uintptr_t pc,
                         unsigned part) {
  if (stacks_.contains(address)) {  // local memory
    if (!own_stack(address, bytes)) foreign_stack(pc);
    local_access(bytes, kind != AccessKind::load);
    if (launch_->sanitize && async_) async_->local_accessed(address, bytes, kind != AccessKind::load, pc_offset(pc));
    return;
  }
  const bool store = kind != AccessKind::load;
  std::uint64_t where = address;
  Op op;
  bool shared = false;
  if (memory_.contains(address)) {
    if (allocation_ == nullptr || address < allocation_->begin || address + bytes > allocation_->end ||
        (store && !allocation_->writable)) {
      allocation_ = &memory_.owner(address);
      if (address + bytes > allocation_->end || (store && !allocation_->writable))
        out_of_bounds(address, bytes, store, pc);
      if (allocation_->kept) fault(kept_memory_fault(bytes, store), pc);
      // Pinned and managed memory is everybody's.
      if ((launch_->reachable >> allocation_->device & 1) == 0 && allocation_->kind == MemoryKind::device)
        fault(peer_access_fault(*allocation_, *launch_, bytes, store), pc);
    }
    where = address - memory_.base() + (allocation_->kind == MemoryKind::host ? kHostMemory : 0);
    op = kind == AccessKind::load ? Op::global_load : kind == AccessKind::store ? Op::global_store : Op::global_red;
    if (launch_->footprint != nullptr) {
      Footprint& f = footprint_;
      (kind == AccessKind::load    ? f.read
       : kind == AccessKind::store ? f.written
                                   : f.atomic)
          .add(address, address + bytes);
    }
  } else if (shared_.contains(address)) {
    where = address - shared_.begin();
    op = kind == AccessKind::load ? Op::shared_load : kind == AccessKind::store ? Op::shared_store : Op::shared_atom;
    shared = true;
    if (!shared_.holds(address, bytes, launch_->dynamic_shared)) out_of_bounds(address, bytes, store, pc);
  } else if (const BlockRunner* other = neighbour(address); other != nullptr) {  // of the cluster
    if (!other->holds_shared(address, bytes)) out_of_bounds(address, bytes, store, pc);
    must_run(*other, pc);
    record(address - other->shared_.begin(), bytes,
           kind == AccessKind::load    ? Op::shared_load
           : kind == AccessKind::store ? Op::shared_store
                                       : Op::shared_atom,
           pc, part);
    if (is_volatile || kind == AccessKind::atomic) spin(address, kind, pc);
    return;
  } else {
    variable_access(address, bytes, kind, is_volatile, pc, part);
    return;
  }
  // A division takes longer than all else here, and sizes are powers of 2 but for some copies.
  const bool power = (bytes & (bytes - 1)) == 0;
  if (power ? (address & (bytes - 1)) != 0 : address % bytes != 0) fault(misaligned_fault(bytes, kind), pc);
  if (launch_->sanitize) {
    sanitizer_.access(
        {address, bytes, kind, is_volatile, static_cast<std::uint32_t>(pc - program_.base), current_->linear, shared});
    if (shared && async_) async_->accessed(address, bytes, store, pc_offset(pc));
    if (store && async_) async_->stored(address, bytes, pc_offset(pc));
  }
  // What repeats a thread's last poll is counted once: how often a thread polls depends on the machine.
  const bool waits = is_volatile || kind == AccessKind::atomic;
  if (shared || !waits || !repeats_poll(address, kind)) record(where, bytes, op, pc, part);
  if (waits) {
    current_->polled = kind == AccessKind::load ? address : 0;
    current_->polled_by_atomic = false;
    if (store && !shared) publish();
    spin(address, kind, pc);
  }
}

namespace {

const Object* object_at(const std::vector<Object>& objects, std::uintptr_t address) {
  auto at = std::upper_bound(objects.begin(), objects.end(), address,
                             [](std::uintptr_t a, const Object& o) { return a < o.begin; });
  return at == objects.begin() ? nullptr : &*(at - 1);
}

}  // namespace

// An access to what is neither device memory nor shared: parameters, variables and tables of the program, or nothing
// that a kernel may touch.
void BlockRunner::variable_access(std::uintptr_t address, unsigned bytes, AccessKind kind, bool is_volatile,
                                  std::uintptr_t pc, unsigned part) {
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
      record(address - program_.base, bytes, Op::constant_load, pc, part);
      return;
    }
    if (launch_->sanitize)
      sanitizer_.access(
          {address, bytes, kind, is_volatile, static_cast<std::uint32_t>(pc - program_.base), current_->linear, false});
    // __device__ variables are global memory; numbered behind the reserved range.
    Op op = kind == AccessKind::load ? Op::global_load : kind == AccessKind::store ? Op::global_store : Op::global_red;
    const bool waits = is_volatile || kind == AccessKind::atomic;
    if (!waits || !repeats_poll(address, kind))
      record(DeviceMemory::kReserve + (address - program_.base), bytes, op, pc, part);
    if (waits) {
      current_->polled = kind == AccessKind::load ? address : 0;
      current_->polled_by_atomic = false;
      if (store) publish();
      spin(address, kind, pc);
    }
    return;
  }
  out_of_bounds(address, bytes, store, pc);
}

// A part of what a lane does through addresses to a frame that registers cannot hold.
void BlockRunner::local_access(unsigned bytes, bool store) {
  if (!launch_->record) return;
  const BlockRecord* b = threads_.path_of(*current_).block();
  if (b == nullptr || b->local_share == 0) return;
  (store ? counters_->lane_local_stores : counters_->lane_local_loads) +=
      std::uint64_t{std::max(bytes / 4, 1u)} * b->local_share;
}

void BlockRunner::out_of_bounds(std::uintptr_t address, unsigned bytes, bool store, std::uintptr_t pc) {
  fault(out_of_bounds_fault(shared_, *launch_, address, bytes, store), pc);
}

void BlockRunner::count_bulk(std::uintptr_t address, std::size_t bytes, bool write,
                             std::uint64_t AsyncCounters::*sectors) {
  if (launch_->footprint != nullptr) (write ? footprint_.written : footprint_.read).add(address, address + bytes);
  if (!launch_->record || !memory_.contains(address)) return;
  AsyncCounters& c = counters_->async;
  (write ? c.bytes_written : c.bytes_read) += bytes;
  c.*sectors += (address + bytes - 1) / kSectorBytes - address / kSectorBytes + 1;
  const bool host = memory_.owner(address).kind == MemoryKind::host;
  profiler_.bulk(address - memory_.base() + (host ? kHostMemory : 0), bytes, write);
}

Pipeline& BlockRunner::pipeline() {
  if (pipelines_.size() < threads_.size()) pipelines_.resize(threads_.size());
  return pipelines_[current_->linear];
}

void BlockRunner::pipeline_copy(void* to, const void* from, unsigned bytes, unsigned zeros, std::uintptr_t pc) {
  pipeline().copy(to, from, bytes, zeros);
  if (launch_->sanitize)
    sanitizer_.copy_begun(reinterpret_cast<std::uintptr_t>(to), bytes, current_->linear,
                          static_cast<std::uint32_t>(pc - program_.base));
}

void BlockRunner::pipeline_wait(unsigned left) {
  pipeline().wait(left, [&](const void* to, unsigned bytes) {
    if (launch_->sanitize) sanitizer_.copy_arrived(reinterpret_cast<std::uintptr_t>(to), bytes, current_->linear);
  });
}

}  // namespace ridge::simt
