// The reading end of a trace. Whoever wrote it may be hostile: every address, size and entry is checked against what
// this process itself has allocated and what its program holds.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "api/api.hpp"
#include "device/device_profile.hpp"
#include "device/fault.hpp"
#include "device/program.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/device_log.hpp"
#include "stream/schedule.hpp"

namespace ridge::simt {

namespace {

struct Bad {
  const char* why;
};

ExchangeMaker maker_of_exchanges = nullptr;

// Fields and bytes in order; throws Bad where the trace ends too early.
class Reader {
 public:
  Reader(const char* data, std::size_t bytes) : at_(data), left_(bytes) {}
  bool end() const { return left_ == 0; }
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, bytes(sizeof value), sizeof value);
    return value;
  }
  const char* bytes(std::size_t n) {
    if (n > left_) throw Bad{"it ends inside a record"};
    const char* p = at_;
    at_ += n;
    left_ -= n;
    return p;
  }

 private:
  const char* at_;
  std::size_t left_;
};

class Player {
 public:
  Player(const char* data, std::size_t bytes, void (*at_mark)(bool)) : in_(data, bytes), at_mark_(at_mark) {
    Reader look(data, bytes);
    marks_ = count_marks(look);
  }

  void play(Replay& result) {
    transfers_ = &result.transfers;
    Footprint::enable(true);
    while (!in_.end() && Engine::instance().sticky_error() == 0) record(in_.take<trace::Kind>());
    if (Engine::instance().sticky_error() != 0) return;
    if (const char* wrong = schedule_.build(result.schedule)) throw Bad{wrong};
    result.race = schedule_.race();
    result.host_wait = schedule_.host_wait();
  }

 private:
  using Kind = trace::Kind;

  void record(Kind kind) {
    switch (kind) {
      case Kind::begin:
        return begin(in_.take<trace::Begin>());
      case Kind::allocate:
        return allocate(in_.take<trace::Allocate>());
      case Kind::free:
        return release(in_.take<trace::Free>());
      case Kind::contents:
        return contents(in_.take<trace::Contents>());
      case Kind::kernel:
        return kernel(in_.take<trace::Kernel>());
      case Kind::copy:
        return copy(in_.take<trace::Copy>());
      case Kind::fill:
        return fill(in_.take<trace::Fill>());
      case Kind::mark:
        in_.take<trace::Free>();
        schedule_.clear();
        if (at_mark_ != nullptr) at_mark_(++seen_marks_ == marks_);
        return;
      case Kind::step:
        return step(in_.take<trace::Step>());
      case Kind::exchange:
        return exchange(in_.take<trace::Exchange>());
      case Kind::stream:
        return stream(in_.take<trace::Stream>());
      case Kind::unsupported:
        unsupported_ = text(in_.take<trace::Unsupported>().text);
        throw Bad{unsupported_.c_str()};
    }
    throw Bad{"it holds an unknown record"};
  }

  void step(const trace::Step& s) {
    std::vector<std::uint64_t> waits(s.waits <= kMaxWaits ? s.waits : throw Bad{"a step waits for too much"});
    std::memcpy(waits.data(), in_.bytes(waits.size() * 8), waits.size() * 8);
    schedule_.step(s, std::move(waits));
  }

  void stream(const trace::Stream& s) {
    if (s.name > trace::kMaxName) throw Bad{"a stream's name is too long"};
    ScheduleBuilder::made_stream(static_cast<int>(s.stream), {text(s.name), s.made_at, s.nth});
  }

  // The records' sizes are checked again when they are played.
  static std::size_t count_marks(Reader in) {
    std::size_t marks = 0;
    while (!in.end()) {
      switch (in.take<Kind>()) {
        case Kind::begin:
          in.take<trace::Begin>();
          break;
        case Kind::allocate:
          in.bytes(in.take<trace::Allocate>().frames * std::size_t{8});
          break;
        case Kind::free:
          in.take<trace::Free>();
          break;
        case Kind::contents:
          in.bytes(in.take<trace::Contents>().bytes);
          break;
        case Kind::kernel: {
          auto k = in.take<trace::Kernel>();
          in.bytes(std::size_t{k.name} + k.closure);
          break;
        }
        case Kind::copy: {
          auto c = in.take<trace::Copy>();
          if (c.from_host != 0 && c.to_host == 0) in.bytes(payload({c.width, c.height, c.depth}));
          break;
        }
        case Kind::fill:
          in.take<trace::Fill>();
          break;
        case Kind::mark:
          in.take<trace::Free>();
          ++marks;
          break;
        case Kind::step:
          in.bytes(in.take<trace::Step>().waits * std::size_t{8});
          break;
        case Kind::exchange:
          in.bytes(in.take<trace::Exchange>().bytes);
          break;
        case Kind::stream:
          in.bytes(in.take<trace::Stream>().name);
          break;
        case Kind::unsupported:
          in.bytes(in.take<trace::Unsupported>().text);
          break;
        default:
          throw Bad{"it holds an unknown record"};
      }
    }
    return marks;
  }

  static std::size_t payload(const Extent& e) {
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(e.width, e.height, &bytes) || __builtin_mul_overflow(bytes, e.depth, &bytes))
      throw Bad{"a copy is too large"};
    return bytes;
  }

  std::string text(std::size_t n) { return {in_.bytes(n), n}; }

  void begin(const trace::Begin& b) {
    if (b.version != trace::kVersion) throw Bad{"it has another version"};
    if (b.program_base != program_base() || b.memory_base != DeviceMemory::instance().base())
      throw Bad{"its addresses are not those of this process (address randomisation is on?)"};
  }

  void allocate(const trace::Allocate& a) {
    if (a.frames > trace::kMaxFrames) throw Bad{"an allocation has too many callers"};
    std::vector<void*> frames(a.frames);
    std::memcpy(frames.data(), in_.bytes(a.frames * sizeof(void*)), a.frames * sizeof(void*));
    const auto kind = static_cast<MemoryKind>(a.kind);
    if (a.kind > 255 || (kind != MemoryKind::device && kind != MemoryKind::host && kind != MemoryKind::managed))
      throw Bad{"an allocation is of an unknown kind"};
    void* p = DeviceMemory::instance().allocate(a.bytes, kind);
    if (reinterpret_cast<std::uintptr_t>(p) != a.address) throw Bad{"an allocation lies elsewhere"};
    if (Sanitizer::enabled()) Sanitizer::allocated(a.address, a.bytes, kind != MemoryKind::device, std::move(frames));
  }

  void release(const trace::Free& f) {
    const Allocation* a = DeviceMemory::instance().find(f.address);
    if (a == nullptr || a->begin != f.address || a->mapped) throw Bad{"it frees what was not allocated"};
    if (Sanitizer::enabled()) Sanitizer::freed(f.address);
    DeviceMemory::instance().free(reinterpret_cast<void*>(f.address));
  }

  void contents(const trace::Contents& c) {
    const char* data = in_.bytes(c.bytes);
    const Allocation* a = DeviceMemory::instance().find(c.address);
    if (a == nullptr || (a->kind != MemoryKind::host && a->kind != MemoryKind::managed) || c.bytes > a->end - c.address)
      throw Bad{"it writes host memory that was not allocated"};
    std::memcpy(reinterpret_cast<void*>(c.address), data, c.bytes);
    DeviceMemory::instance().host_wrote(*a, c.bytes);
    transfers_->from_host += c.bytes;
  }

  void kernel(const trace::Kernel& k) {
    if (k.name > trace::kMaxName || k.closure > trace::kMaxClosure) throw Bad{"a launch is too large"};
    const std::string name = text(k.name);
    const char* closure = in_.bytes(k.closure);
    if (!is_kernel_entry(k.run, closure, k.closure)) throw Bad{"a launch enters the program where no kernel begins"};
    const dim3 grid(k.grid[0], k.grid[1], k.grid[2]), block(k.block[0], k.block[1], k.block[2]);
    Work work;
    const auto most = static_cast<std::size_t>(device_profile().shared_per_block_optin);
    if (k.dynamic_shared > most ||
        api::kernel_work(
            work, names_.insert(name).first->c_str(), grid, block, 0, 0,
            {(k.cooperative & 1) != 0, {k.cooperative >> 1 & 31, k.cooperative >> 6 & 31, k.cooperative >> 11 & 31}}))
      throw Bad{"a launch has an impossible shape"};
    work.config.dynamic_shared = k.dynamic_shared;
    work.closure = api::closure_memory(k.closure);
    std::memcpy(work.closure.get(), closure, k.closure);
    work.closure_bytes = k.closure;
    transfers_->from_host += Transfers::kLaunch + k.closure;
    work.run = reinterpret_cast<void (*)(void*)>(k.run);
    Operation timed = run(std::move(work));
    const DeviceProfile& p = device_profile();
    if (k.in_graph != 0) timed.seconds += p.graph_node_latency - p.kernel_latency;
    schedule_.ran(k.number, name, std::move(timed));
  }

  // Notes the bytes of a box; from end to end where it has many rows.
  static void touch(Operation& op, std::uint64_t at, std::uint64_t pitch, std::uint64_t slice, const Extent& e,
                    bool write) {
    if (op.footprint == nullptr) op.footprint = std::make_shared<Footprint>();
    Ranges& to = write ? op.footprint->written : op.footprint->read;
    if (e.bytes() == 0) return;
    if (e.height * e.depth > Ranges::kMost) {
      to.add(at, at + (e.depth - 1) * slice + (e.height - 1) * pitch + e.width);
      return;
    }
    for (std::size_t z = 0; z < e.depth; ++z)
      for (std::size_t y = 0; y < e.height; ++y)
        to.add(at + z * slice + y * pitch, at + z * slice + y * pitch + e.width);
  }

  // Pinned memory: what this process knows as such. Memory that the submission registered is taken as it says.
  static bool pinned(std::uintptr_t address) {
    const Allocation* a = DeviceMemory::instance().find(address);
    return a != nullptr && a->kind == MemoryKind::host;
  }

  void copy(const trace::Copy& c) {
    const Extent extent{c.width, c.height, c.depth};
    const std::size_t bytes = payload(extent);
    Box to{reinterpret_cast<char*>(c.to), c.to_pitch, c.to_slice},
        from{reinterpret_cast<char*>(c.from), c.from_pitch, c.from_slice};
    const bool to_host = c.to_host != 0 || pinned(c.to), from_host = c.from_host != 0 || pinned(c.from);
    Work work;
    work.kind = WorkKind::copy;
    work.path = to_host ? (from_host ? CopyPath::on_host : CopyPath::device_to_host)
                        : (from_host ? CopyPath::host_to_device : CopyPath::on_device);
    work.pageable = c.pageable != 0;
    work.extent = extent;
    if (c.to_host != 0) {  // nobody looks there
      if (c.from_host == 0) transfers_->to_host += bytes;
      Operation timed;
      timed.work = std::move(work);
      timed.seconds = copy_seconds(device_profile(), timed.work.path, bytes, timed.work.pageable);
      timed.share = 1;
      touch(timed, c.from, c.from_pitch, c.from_slice, extent, false);
      touch(timed, c.to, c.to_pitch, c.to_slice, extent, true);
      schedule_.ran(c.number, "cudaMemcpy", std::move(timed));
      return;
    }
    if (c.from_host != 0) {
      from = {const_cast<char*>(in_.bytes(bytes)), c.width, c.width * c.height};
      transfers_->from_host += bytes;
    } else {
      check(from, extent, false);
      if (work.path == CopyPath::on_device) transfers_->on_device += bytes;
      if (work.path == CopyPath::device_to_host) transfers_->to_host += bytes;
    }
    check(to, extent, true);
    work.to = to;
    work.from = from;
    Operation timed = run(std::move(work));
    touch(timed, c.from, c.from_pitch, c.from_slice, extent, false);
    touch(timed, c.to, c.to_pitch, c.to_slice, extent, true);
    schedule_.ran(c.number, "cudaMemcpy", std::move(timed));
  }

  void fill(const trace::Fill& f) {
    const Extent extent{f.width, f.height, f.depth};
    Box to{reinterpret_cast<char*>(f.to), f.to_pitch, f.to_slice};
    if ((f.element_size != 1 && f.element_size != 2 && f.element_size != 4) || f.width % f.element_size != 0)
      throw Bad{"a fill has an impossible element"};
    transfers_->filled += payload(extent);
    check(to, extent, true);
    Work work;
    work.kind = WorkKind::fill;
    work.to = to;
    work.extent = extent;
    work.value = f.value;
    work.element_size = f.element_size;
    Operation timed = run(std::move(work));
    touch(timed, f.to, f.to_pitch, f.to_slice, extent, true);
    schedule_.ran(f.number, "cudaMemset", std::move(timed));
  }

  void exchange(const trace::Exchange& e) {
    const char* data = in_.bytes(e.bytes);
    if (maker_of_exchanges == nullptr) throw Bad{"it holds calls between ranks, and this process is none"};
    Engine& engine = Engine::instance();
    std::lock_guard lock(engine.mutex);
    if (e.phase == 2) return wait_for_exchange(engine, e.number);
    auto touched = std::make_shared<Footprint>();
    auto checked = [](const void* p, std::size_t bytes, bool write) {
      if (bytes > 0) check({static_cast<char*>(const_cast<void*>(p)), bytes, bytes}, {bytes}, write);
    };
    std::shared_ptr<Exchange> made = maker_of_exchanges({data, e.bytes, checked, touched.get()});
    if (e.phase != 1) return;
    if (made == nullptr || open_.contains(e.number)) throw Bad{"a call between ranks is damaged"};
    transfers_->from_host += Transfers::kLaunch;
    open_[e.number] = {made, touched};
    made->begin();
  }

  // As an engine does, the others that have begun go on meanwhile: peers may need them first.
  void wait_for_exchange(Engine& engine, std::uint64_t number) {
    auto found = open_.find(number);
    if (found == open_.end()) throw Bad{"a call between ranks ends that has not begun"};
    const auto since = std::chrono::steady_clock::now();
    while (!found->second.ended) {
      const std::uint64_t before = engine.activity().count();
      bool moved = false;
      for (auto& [n, open] : open_)
        if (!open.ended && open.exchange->advance()) open.ended = moved = true;
      if (moved || engine.activity().count() != before) continue;
      engine.wait_for_arrival(0.1);
      const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - since;
      if (engine.activity().count() == before) found->second.exchange->stalled(waited.count());
    }
    Operation timed;
    timed.work.kind = WorkKind::exchange;
    timed.work.extent.width = found->second.exchange->bytes();
    timed.seconds = found->second.exchange->seconds();
    timed.footprint = found->second.touched;
    timed.exchange = found->second.exchange;
    schedule_.ran(number, found->second.exchange->name(), std::move(timed));
    open_.erase(found);
  }

  // All rows lie in one live allocation, or in one variable of the submission.
  static void check(const Box& box, const Extent& e, bool write) {
    auto begin = reinterpret_cast<std::uintptr_t>(box.data);
    std::size_t slices = 0, rows = 0, bytes = 0;
    if (e.width == 0 || e.height == 0 || e.depth == 0 || __builtin_mul_overflow(e.depth - 1, box.slice, &slices) ||
        __builtin_mul_overflow(e.height - 1, box.pitch, &rows) || __builtin_add_overflow(slices, rows, &bytes) ||
        __builtin_add_overflow(bytes, e.width, &bytes))
      throw Bad{"a copy has an impossible shape"};
    if (const Allocation* a = DeviceMemory::instance().find(begin)) {
      if (bytes > a->end - begin || (write && !a->writable)) throw Bad{"a copy leaves its allocation"};
      return;
    }
    if (!Program::instance().in_variable(begin, bytes)) throw Bad{"a copy touches what is not the device's"};
  }

  // With its time, where launches are counted.
  static Operation run(Work work) {
    Engine& engine = Engine::instance();
    std::lock_guard lock(engine.mutex);
    OperationPtr op = engine.submit(*engine.streams.find(nullptr), std::move(work), "", 0);
    engine.drain();
    Operation timed;
    timed.work.kind = op->work.kind;
    timed.work.path = op->work.path;
    timed.work.pageable = op->work.pageable;
    timed.work.extent = op->work.extent;
    timed.work.config = op->work.config;
    timed.seconds = op->seconds;
    timed.share = op->share;
    timed.footprint = op->footprint;
    return timed;
  }

  static constexpr std::uint32_t kMaxWaits = 1 << 16;
  Reader in_;
  void (*at_mark_)(bool);
  std::size_t marks_ = 0, seen_marks_ = 0;
  Transfers* transfers_ = nullptr;
  struct Open {
    std::shared_ptr<Exchange> exchange;
    std::shared_ptr<Footprint> touched;
    bool ended = false;
  };
  std::map<std::uint64_t, Open> open_ = {};  // exchanges that have begun
  std::set<std::string> names_ = {};
  ScheduleBuilder schedule_;
  std::string unsupported_;
};

}  // namespace

void set_exchange_maker(ExchangeMaker maker) { maker_of_exchanges = maker; }
ExchangeMaker exchange_maker() { return maker_of_exchanges; }

Replay replay_trace(const char* data, std::size_t bytes, void (*at_mark)(bool last)) {
  static auto* players = new std::vector<std::unique_ptr<Player>>;  // launch records name kernels after the replay
  Replay result;
  try {
    players->push_back(std::make_unique<Player>(data, bytes, at_mark));
    players->back()->play(result);
  } catch (const Bad& bad) {
    result.ok = false;
    result.error = bad.why;
  } catch (const std::exception& bad) {  // of the maker of exchanges
    result.ok = false;
    result.error = bad.what();
  }
  return result;
}

}  // namespace ridge::simt
