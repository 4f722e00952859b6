// Counts what the warps of a block do: memory requests, executions of basic blocks, traffic of the caches.
//
// Lanes run one after another, so what a warp does is counted late: once its lanes have come to one place of the
// program, the flush point, where those that come first are parked.
#pragma once
#include <cstdint>
#include <unordered_map>

#include "block/block_threads.hpp"
#include "block/launch.hpp"
#include "count/cache.hpp"
#include "count/recorder.hpp"
#include "device/program.hpp"

namespace ridge::simt {

class BlockProfiler {
 public:
  BlockProfiler(const Program& program, BlockThreads& threads) : program_(program), threads_(threads) {}
  void begin_block(const Launch& launch, std::uint64_t linear_block, KernelCounters& counters);
  void end_block(const Launch& launch, std::uint64_t linear_block) {
    cache_.end_block(linear_block, *counters_, *launch.l2);
  }
  // After a fault: what was recorded is not counted.
  void drop() { recorder_.clear(); }

  // Both are true where thread `t`, which is at `path`, is to be parked.
  bool access(const Thread& t, const Path& path, std::uint64_t address, unsigned bytes, Op op, std::uintptr_t pc,
              unsigned part) {
    const unsigned lane = t.linear % kWarpSize;
    const bool graph = program_.graph;
    const std::uint64_t hash = graph ? path.hash() : repetition(t, pc, part);
    recorder_.access(lane, Request::pack(static_cast<std::uint32_t>(pc - program_.base), part, bytes, op), hash,
                     address);
    return !graph && recorder_.position(lane) >= Recorder::kFull;
  }
  // Inline in the hook: it runs at every basic block.
  [[gnu::always_inline]] bool enter_block(const Thread& t, Path& path, const BlockRecord* b) {
    path.enter(b);
    recorder_.block(t.linear % kWarpSize, b, path.hash());
    return (flush_point_ != nullptr || recorder_.full()) && parks(t);
  }

  void bulk(std::uint64_t address, std::uint64_t bytes, bool write) { cache_.bulk(address, bytes, write); }

  // Names the thread's last atomic: see Recorder::ticket.
  std::uint32_t ticket(const Thread& t) const { return recorder_.ticket(t.linear % kWarpSize); }
  void atomic_used(std::uint32_t ticket) { recorder_.used(ticket); }

  // Counts what a warp has recorded.
  void flush(unsigned warp) { recorder_.flush(*counters_, cache_, {warp, threads_.lanes(warp)}); }
  // No lane of the warp can run: all have come to the flush point or wait before it, so what was recorded is complete.
  // Counts it and lets the parked lanes go on. False where no lane is parked.
  bool release_parked(unsigned warp);
  // Whether the last release_parked() counted nothing, since lanes wait for others to converge.
  bool postponed() const { return postponed_; }

 private:
  bool parks(const Thread& t);
  std::uint64_t repetition(const Thread& t, std::uintptr_t pc, unsigned part);

  const Program& program_;
  BlockThreads& threads_;
  KernelCounters* counters_ = nullptr;
  Recorder recorder_;
  CacheModel cache_;
  std::unordered_map<std::uint64_t, std::uint64_t> repetitions_;
  const Path* flush_point_ = nullptr;  // flush point of the warp that runs; null while no lane has to stop
  Path flush_path_;
  bool postponed_ = false;
};

}  // namespace ridge::simt
