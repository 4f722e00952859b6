#include "stream/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "device/device_profile.hpp"
#include "device/devices.hpp"
#include "device/fault.hpp"
#include "device/memory.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"
#include "stream/nvtx.hpp"
#include "stream/timeline.hpp"

// Present where the program was compiled with counting: `--plain` leaves the hooks out.
extern "C" [[gnu::weak]] void __tsan_init();

namespace ridge::simt {

namespace {

constexpr std::size_t kMaxPending = 1024;
constexpr std::size_t kMaxBacklog = 16384;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a + 0x9E3779B97F4A7C15ull) ^ (b * 0xBF58476D1CE4E5B9ull);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

std::uint64_t order_from_environment() {
  const char* text = std::getenv("RIDGE_LANE_ORDER");
  if (text == nullptr) return 1;
  return std::strcmp(text, "forward") == 0 ? 0 : std::strtoull(text, nullptr, 10);
}

void at_exit() { Engine::instance().finish(); }

std::string row_name(std::string stream, int device) {
  return device_count() == 1 ? stream : stream + " of device " + std::to_string(device);
}

char* row(const Box& box, std::size_t y, std::size_t z) { return box.data + z * box.slice + y * box.pitch; }

void copy_rows(const Work& w) {
  if (w.to.data == w.from.data) return;  // a prefetch
  const bool told = Sanitizer::enabled();
  for (std::size_t z = 0; z < w.extent.depth; ++z)
    for (std::size_t y = 0; y < w.extent.height; ++y) {
      std::memmove(row(w.to, y, z), row(w.from, y, z), w.extent.width);
      if (told) Sanitizer::written(reinterpret_cast<std::uintptr_t>(row(w.to, y, z)), w.extent.width);
    }
}

void fill_rows(const Work& w) {
  const bool told = Sanitizer::enabled();
  for (std::size_t z = 0; z < w.extent.depth; ++z)
    for (std::size_t y = 0; y < w.extent.height; ++y) {
      char* to = row(w.to, y, z);
      if (w.element_size == 1) {
        std::memset(to, static_cast<int>(w.value), w.extent.width);
      } else {  // the low bytes of a little-endian value
        for (std::size_t x = 0; x < w.extent.width; x += w.element_size) std::memcpy(to + x, &w.value, w.element_size);
      }
      if (told) Sanitizer::written(reinterpret_cast<std::uintptr_t>(to), w.extent.width);
    }
}

}  // namespace

Engine& Engine::instance() {
  static Engine* engine = new Engine;  // never destroyed: threads of the program may outlive main
  return *engine;
}

Engine::Engine() : order_(order_from_environment()), next_stream_(device_count()) {
  std::atexit(at_exit);
  for (int d = 0; d < device_count(); ++d) {
    legacy_.push_back(std::make_unique<CUstream_st>());
    legacy_.back()->id = legacy_.back()->device = d;
    legacy_.back()->legacy = true;
  }
  if (!Timeline::instance().on()) return;
  count();
  for (const auto& s : legacy_) Timeline::instance().name_stream(s->id, row_name("default stream", s->device));
}

void Engine::count() {
  if (counting_) return;
  drain();  // what was issued before is not counted, in whatever order it would have run
  counting_ = true;
  start_counting();
  std::atexit(at_exit);  // again, to run before the destructor of what that has made
}

CUstream_st* Engine::stream(CUstream_st* handle) {
  const auto value = reinterpret_cast<std::uintptr_t>(handle);
  if (value <= 1) return &legacy(current_device());  // 0 and cudaStreamLegacy
  if (value == 2) {                                  // cudaStreamPerThread
    const int device = current_device();
    CUstream_st*& own = per_thread_[{std::this_thread::get_id(), device}];
    if (own == nullptr) own = make_stream(0, 0, device);
    return own;
  }
  return streams_.alive(handle) ? handle : nullptr;
}

CUstream_st* Engine::make_stream(unsigned flags, int priority, int device) {
  CUstream_st* s = streams_.make();
  s->id = next_stream_++;
  s->device = device;
  s->flags = flags;
  s->priority = priority;
  s->blocking = (flags & 1) == 0;
  Timeline::instance().name_stream(s->id, row_name("stream " + std::to_string(s->id), device));
  return s;
}

void Engine::end_stream(CUstream_st* stream) {
  // Later work of the legacy stream still waits for what this one has queued.
  if (stream->blocking && stream->tail != nullptr && !stream->tail->done) {
    CUstream_st& later = legacy(stream->device);
    Work nothing;
    nothing.device = stream->device;
    OperationPtr join = make(later, std::move(nothing), {stream->tail});
    if (later.tail != nullptr) join->after.push_back(later.tail);
    later.tail = join;
    queue(join);
    time_.issue("", join, 0);
  }
  streams_.end(stream);
}

std::vector<CUstream_st*> Engine::streams() {
  std::vector<CUstream_st*> all(streams_.live().begin(), streams_.live().end());
  for (const auto& s : legacy_) all.push_back(s.get());
  return all;
}

std::vector<OperationPtr> Engine::predecessors(CUstream_st& stream) {
  std::vector<OperationPtr> before;
  if (stream.tail != nullptr) before.push_back(stream.tail);
  const CUstream_st& legacy_stream = legacy(stream.device);
  if (stream.legacy) {
    for (CUstream_st* other : streams_.live())
      if (other->blocking && other->device == stream.device && other->tail != nullptr) before.push_back(other->tail);
  } else if (stream.blocking && legacy_stream.tail != nullptr) {
    before.push_back(legacy_stream.tail);
  }
  return before;
}

OperationPtr Engine::make(CUstream_st& stream, Work work, std::vector<OperationPtr> after) {
  auto op = std::make_shared<Operation>();
  op->work = std::move(work);
  op->work.config.device = op->work.device;
  op->work.config.reachable = Peers::instance().reachable(op->work.device);
  op->number = numbers_++;
  op->stream = stream.id;
  op->after = std::move(after);
  return op;
}

void Engine::queue(const OperationPtr& op) {
  if (sticky_ != 0) {
    op->done = true;
    return;
  }
  pending_.push_back(op);
  ++activity_;
  if (blocked_ > 0) idle_.notify_all();
  if (op->work.kind == WorkKind::exchange && exchange_queued_) exchange_queued_();
  if (op->work.kind != WorkKind::kernel || kernels_queued_) return;
  kernels_queued_ = true;
  std::atexit(at_exit);  // again, to run before the destructors of what describes the program
}

OperationPtr Engine::submit(CUstream_st& stream, Work work, const char* call, double seconds,
                            std::vector<OperationPtr> after) {
  for (auto& before : predecessors(stream)) after.push_back(std::move(before));
  work.device = stream.device;
  work.callers = Trace::callers();
  OperationPtr op = make(stream, std::move(work), std::move(after));
  stream.tail = op;
  queue(op);
  time_.issue(op->work.kind == WorkKind::kernel ? named_by_range(call) : call, op, seconds);
  if (pending_.size() > kMaxPending || time_.backlog() > kMaxBacklog) drain();
  return op;
}

OperationPtr Engine::submit_node(CUstream_st& stream, Work work, std::vector<OperationPtr> after) {
  OperationPtr op = make(stream, std::move(work), std::move(after));
  op->in_graph = true;
  queue(op);
  time_.issue("", op, 0);
  return op;
}

// Where the order is free it is adversarial: 0 runs as issued; 1, the default, runs what was issued last as early as it
// can; other seeds draw for each wait between that and a random order of the streams.
OperationPtr Engine::pick(const std::unordered_set<const Operation*>* allowed, std::uint64_t draw) const {
  auto ready = [&](const OperationPtr& op) {
    if (op->exchange != nullptr || (allowed != nullptr && allowed->count(op.get()) == 0)) return false;
    return std::all_of(op->after.begin(), op->after.end(), [](const OperationPtr& before) { return before->done; });
  };
  if (order_ == 0) {
    auto first = std::find_if(pending_.begin(), pending_.end(), ready);
    return first == pending_.end() ? nullptr : *first;
  }
  if (order_ == 1 || draw % 2 == 0) {
    auto last = std::find_if(pending_.rbegin(), pending_.rend(), ready);
    return last == pending_.rend() ? nullptr : *last;
  }
  OperationPtr best;
  std::pair<std::uint64_t, std::uint64_t> best_rank;
  for (const auto& op : pending_) {
    if (!ready(op)) continue;
    std::pair rank{mixed(draw, static_cast<std::uint64_t>(op->stream)), mixed(draw, op->number)};
    if (best == nullptr || rank < best_rank) {
      best = op;
      best_rank = rank;
    }
  }
  return best;
}

namespace {

// The operations that these wait for, and these.
void add_with_ancestors(std::unordered_set<const Operation*>& set, const std::vector<OperationPtr>& operations) {
  std::vector<const Operation*> open;
  for (const auto& op : operations) open.push_back(op.get());
  while (!open.empty()) {
    const Operation* op = open.back();
    open.pop_back();
    if (op->done || !set.insert(op).second) continue;
    for (const auto& before : op->after) open.push_back(before.get());
  }
}

}  // namespace

void Engine::run_until(const std::vector<OperationPtr>& targets, bool lazy) {
  std::unique_lock lock(mutex, std::adopt_lock);
  // One thread runs operations at a time; others wait here while a host function of its runs without the lock.
  while (running_thread_.load() != std::thread::id() && running_thread_.load() != std::this_thread::get_id())
    idle_.wait(lock);
  if (running_thread_.load() == std::this_thread::get_id()) {
    lock.release();
    return;
  }
  running_thread_ = std::this_thread::get_id();

  const std::uint64_t draw = mixed(order_, draws_++);
  std::unordered_set<const Operation*> ancestors;
  if (lazy) add_with_ancestors(ancestors, targets);
  auto all_done = [&] {
    return std::all_of(targets.begin(), targets.end(), [](const OperationPtr& t) { return t->done; });
  };
  while (!all_done()) {
    if (advance_exchanges()) continue;
    OperationPtr op = pick(lazy ? &ancestors : nullptr, draw);
    if (op == nullptr && lazy && !begun_.empty()) {  // what other ranks of this process wait for
      std::vector<OperationPtr> exchanges;
      for (const auto& p : pending_)
        if (p->work.kind == WorkKind::exchange) exchanges.push_back(p);
      add_with_ancestors(ancestors, exchanges);
      op = pick(&ancestors, draw);
    }
    if (op != nullptr) {
      run(op);
    } else if (begun_.empty() || closing_) {
      break;
    } else {
      wait_for_peers(lock);
    }
  }
  running_thread_ = std::thread::id();
  idle_.notify_all();
  time_.advance();
  lock.release();
}

bool Engine::advance_exchanges() {
  const std::uint64_t before = activity_;
  for (const OperationPtr& op : begun_)
    if (op->exchange->advance()) {
      end(OperationPtr(op));
      return true;
    }
  return activity_ != before;  // one has sent something to another
}

void Engine::wait_for_peers(std::unique_lock<std::mutex>& lock) {
  constexpr std::chrono::milliseconds kLook{100};
  const std::uint64_t before = activity_;
  const auto since = std::chrono::steady_clock::now();
  running_thread_ = std::thread::id();
  looked_ = before;
  ++blocked_, ++runners_;
  idle_.notify_all();
  while (activity_ == before && !begun_.empty()) {
    if (idle_.wait_for(lock, kLook) == std::cv_status::no_timeout || begun_.empty()) continue;
    const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - since;
    if (activity_ == before) begun_.front()->exchange->stalled(waited.count());
  }
  --blocked_, --runners_;
  while (running_thread_.load() != std::thread::id()) idle_.wait(lock);
  running_thread_ = std::this_thread::get_id();
}

void Engine::arrived() {
  ++activity_;
  idle_.notify_all();
  if (running_thread_.load() != std::thread::id() || runners_ > 0) return;  // that thread sees to it
  // No thread waits: peers do, and what they wait for must not stay in the queue until one does.
  running_thread_ = std::this_thread::get_id();
  const std::uint64_t draw = mixed(order_, draws_++);
  for (;;) {
    if (advance_exchanges()) continue;
    std::vector<OperationPtr> exchanges;
    for (const auto& p : pending_)
      if (p->work.kind == WorkKind::exchange) exchanges.push_back(p);
    std::unordered_set<const Operation*> ancestors;
    add_with_ancestors(ancestors, exchanges);
    OperationPtr op = pick(&ancestors, draw);
    if (op == nullptr) break;
    run(op);
  }
  running_thread_ = std::thread::id();
  idle_.notify_all();
  time_.advance();
}

void Engine::give_up(const OperationPtr& operation) {
  if (operation == nullptr || operation->done) return;
  if (operation->exchange == nullptr)
    operation->work.kind = WorkKind::nothing;  // not begun: it never will
  else
    end(operation);
  idle_.notify_all();
}

void Engine::wait_for_arrival(double seconds) {
  std::unique_lock lock(mutex, std::adopt_lock);
  const std::uint64_t before = looked_ = activity_;
  ++blocked_;
  idle_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return activity_ != before; });
  --blocked_;
  lock.release();
}

void Engine::run(const OperationPtr& op) {
  ++activity_;
  Work& w = op->work;
  const DeviceProfile& profile = device_profile();
  const bool traced =
      Trace::on() && (w.kind == WorkKind::kernel || w.kind == WorkKind::copy || w.kind == WorkKind::fill);
  if (traced) Trace::before(*op);
  switch (w.kind) {
    case WorkKind::kernel:
      run_kernel(*op);
      break;
    case WorkKind::copy:
      copy_rows(w);
      op->seconds = copy_seconds(profile, w.path, w.extent.bytes(), w.pageable);
      op->share = 1;
      break;
    case WorkKind::fill:
      fill_rows(w);
      op->seconds = fill_seconds(profile, w.extent.bytes());
      op->share = 1;
      break;
    case WorkKind::host:
      run_host(*op, 0);
      break;
    case WorkKind::release:
      if (Sanitizer::enabled()) Sanitizer::freed(reinterpret_cast<std::uintptr_t>(w.pointer));
      Trace::freed(reinterpret_cast<std::uintptr_t>(w.pointer));
      DeviceMemory::instance().free(w.pointer);
      break;
    case WorkKind::exchange:
      op->exchange = w.exchange();
      Trace::exchange_begins(*op);
      op->exchange->begin();
      begun_.push_back(op);
      return;
    case WorkKind::nothing:
    case WorkKind::record:
    case WorkKind::wait:
      break;
  }
  if (traced) Trace::after();
  end(op);
}

void Engine::end(const OperationPtr& op) {
  Work& w = op->work;
  if (op->exchange != nullptr) {
    op->seconds = op->exchange->seconds();
    Trace::exchange_ended(*op);
    begun_.erase(std::remove(begun_.begin(), begun_.end(), op), begun_.end());
  }
  ++activity_;
  op->done = true;
  w.closure.reset();
  w.staged.reset();
  w.call = nullptr;
  w.exchange = nullptr;
  pending_.erase(std::remove(pending_.begin(), pending_.end(), op), pending_.end());
  if (sticky_ != 0) abandon();
}

void Engine::run_kernel(Operation& op) {
  Work& w = op.work;
  const DeviceProfile& profile = device_profile();
  set_launch(w.callers);
  const auto begin = std::chrono::steady_clock::now();
  const LaunchOutcome outcome = run_launch(w.config, w.run, w.closure.get(), w.closure_bytes);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (!kernels_ran_) {
    // Registered again, so that it runs before the statics that the first launch has made are destroyed.
    kernels_ran_ = true;
    std::atexit(at_exit);
  }
  if (!outcome.ok) {
    const Fault* fault = last_fault();
    sticky_ = fault != nullptr ? fault->error : 719;  // cudaErrorLaunchFailure
  }
  op.footprint = outcome.footprint;
  op.share = chip_share(profile, w.config, outcome.static_shared);
  if (&__tsan_init == nullptr) {
    op.seconds = elapsed;  // a program without counters has only the host's clock
    return;
  }
  op.seconds = kernel_seconds(profile, w.config, outcome.static_shared, outcome.counters) +
               (op.in_graph ? profile.graph_node_latency : profile.kernel_latency);
  set_link_shares(profile, outcome.counters, op.seconds, op.link_in, op.link_out);
  // Managed memory moves at the first kernel after its allocation, as if that touched all of it.
  op.seconds += static_cast<double>(DeviceMemory::instance().migrate_managed()) / profile.managed_migration;
}

void Engine::run_host(Operation& op, int error) {
  auto call = op.work.call;
  callback_thread_ = std::this_thread::get_id();
  mutex.unlock();
  call(error);
  mutex.lock();
  callback_thread_ = std::thread::id();
}

void Engine::abandon() {
  begun_.clear();
  for (auto rest = std::exchange(pending_, {}); const auto& op : rest) {
    if (op->work.kind == WorkKind::host && op->work.call_after_error) run_host(*op, sticky_);
    op->done = true;
  }
}

void Engine::wait(const char* call, std::vector<OperationPtr> operations) {
  operations.erase(std::remove(operations.begin(), operations.end(), nullptr), operations.end());
  // Seed 1 runs only what the wait needs, others draw it: both what runs too late and what runs too early may show.
  const bool lazy = order_ == 1 || (order_ != 0 && mixed(order_ + 1, draws_) % 2 == 0);
  run_until(operations, lazy);
  time_.wait(call, std::move(operations), device_profile().sync_call);
}

void Engine::wait_stream(const char* call, CUstream_st& stream) {
  wait(call, stream.legacy ? predecessors(stream) : std::vector<OperationPtr>{stream.tail});
}

void Engine::wait_all(const char* call) {
  run_until(pending_, false);
  wait_streams(call, streams());
}

void Engine::wait_device(const char* call, int device) {
  if (device_count() == 1) return wait_all(call);
  std::vector<OperationPtr> of_device;
  for (const auto& op : pending_)
    if (op->work.device == device) of_device.push_back(op);
  const bool lazy = order_ != 0 && (order_ == 1 || mixed(order_ + 1, draws_) % 2 == 0);  // as wait()
  run_until(of_device, lazy);
  std::vector<CUstream_st*> own;
  for (CUstream_st* s : streams())
    if (s->device == device) own.push_back(s);
  wait_streams(call, own);
}

void Engine::wait_streams(const char* call, const std::vector<CUstream_st*>& streams) {
  std::vector<OperationPtr> tails;
  for (CUstream_st* s : streams)
    if (s->tail != nullptr) tails.push_back(s->tail);
  time_.wait(call, std::move(tails), device_profile().sync_call);
}

bool Engine::progress(const char* call, const OperationPtr& op) {
  if (op == nullptr) return true;
  if (op->done) {
    time_.wait(call, {op}, 0);
    return true;
  }
  time_.issue(call, nullptr, device_profile().event_call);
  // Any one of the operations that it waits for.
  OperationPtr next = op;
  for (bool deeper = true; deeper;) {
    deeper = false;
    for (const auto& before : next->after)
      if (!before->done) {
        next = before;
        deeper = true;
        break;
      }
  }
  run_until({next}, true);
  return false;
}

void Engine::drain() { run_until(std::vector<OperationPtr>(pending_), false); }

void Engine::settle(const OperationPtr& op) {
  std::vector<OperationPtr> earlier;
  for (const auto& p : pending_)
    if (p->number <= op->number) earlier.push_back(p);
  run_until(earlier, true);
}

void Engine::clear() {
  sticky_ = 0;
  clear_fault();
}

void Engine::finish() {
  std::unique_lock lock(mutex, std::try_to_lock);
  // A program may call exit() inside a host function.
  if (!lock.owns_lock() || running_thread_.load() == std::this_thread::get_id()) return;
  closing_ = true;
  drain();
  closing_ = false;
  if (finished_) return;
  finished_ = true;
  Timeline::instance().write();
}

void drain() {
  Engine& engine = Engine::instance();
  std::lock_guard lock(engine.mutex);
  engine.drain();
}

void set_queue_order(std::uint64_t seed) { Engine::instance().set_order(seed); }

}  // namespace ridge::simt
