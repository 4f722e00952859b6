#include "stream/device_log.hpp"

#include <execinfo.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <type_traits>

#include "device/fault.hpp"
#include "device/symbols.hpp"
#include "sanitize/sanitizer.hpp"
#include "stream/engine.hpp"

namespace ridge::simt {

namespace {

struct Recording {
  std::mutex mutex;
  std::vector<char> bytes;
  bool overflow = false;
  std::map<std::uintptr_t, std::vector<std::uint64_t>> seen;  // hashes of host-visible memory's blocks as last recorded
};

Recording& recording() {
  static auto* s = new Recording;  // queued work may run at exit
  return *s;
}

void append(const void* data, std::size_t bytes) {
  Recording& s = recording();
  if (s.overflow || bytes > trace::kMaxBytes - s.bytes.size()) {
    s.overflow = true;
    return;
  }
  const char* p = static_cast<const char*>(data);
  s.bytes.insert(s.bytes.end(), p, p + bytes);
}

template <class Fields>
void append(trace::Kind kind, const Fields& fields) {
  static_assert(std::is_trivially_copyable_v<Fields>);
  append(&kind, sizeof kind);
  append(&fields, sizeof fields);
}

void append_begin() {
  append(trace::Kind::begin, trace::Begin{trace::kVersion, 0, program_base(), DeviceMemory::instance().base()});
}

constexpr std::size_t kBlock = 16 * 1024;

// FNV-1a over words: tells whether the host has written there. 0 for zeros, which new memory holds.
std::uint64_t hash_of(const char* p, std::size_t bytes) {
  std::uint64_t h = 0xcbf29ce484222325ull, any = 0;
  std::size_t i = 0;
  for (; i + 8 <= bytes; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, p + i, 8);
    any |= word;
    h = (h ^ word) * 0x100000001b3ull;
    h ^= h >> 29;
  }
  for (; i < bytes; ++i) {
    any |= static_cast<unsigned char>(p[i]);
    h = (h ^ static_cast<unsigned char>(p[i])) * 0x100000001b3ull;
  }
  return any == 0 ? 0 : h;
}

// Looks at each block of memory that the host may write; `changed` false: only notes what is there.
void look(bool changed) {
  DeviceMemory::instance().for_host_visible([&](const Allocation& a) {
    if (a.mapped) return;
    const std::size_t bytes = a.end - a.begin;
    auto& seen = recording().seen[a.begin];
    seen.resize((bytes + kBlock - 1) / kBlock);
    for (std::size_t b = 0; b < seen.size(); ++b) {
      const std::uintptr_t at = a.begin + b * kBlock;
      const std::size_t n = std::min(kBlock, a.end - at);
      const std::uint64_t now = hash_of(reinterpret_cast<const char*>(at), n);
      if (seen[b] == now) continue;
      seen[b] = now;
      if (!changed) continue;
      append(trace::Kind::contents, trace::Contents{at, n});
      append(reinterpret_cast<const void*>(at), n);
    }
  });
}

// Memory that only the host can name, or whose data is the host's at any time.
bool of_host(const char* p) {
  auto& memory = DeviceMemory::instance();
  auto address = reinterpret_cast<std::uintptr_t>(p);
  if (memory.contains(address)) {
    const Allocation& a = memory.owner(address);
    return a.kind == MemoryKind::host && !a.mapped;  // the judge's own lies in both processes
  }
  return !is_symbol(p);
}

void append_kernel(const Operation& op) {
  const Work& w = op.work;
  const std::size_t name = std::min(std::strlen(w.config.kernel), trace::kMaxName);
  trace::Kernel k{};
  k.number = op.number;
  k.in_graph = op.in_graph;
  k.run = reinterpret_cast<std::uintptr_t>(w.run);
  k.function = w.function;
  k.dynamic_shared = w.config.dynamic_shared;
  const Index3 grid = w.config.grid, block = w.config.block;
  const std::uint32_t g[3] = {grid.x, grid.y, grid.z}, b[3] = {block.x, block.y, block.z};
  std::memcpy(k.grid, g, sizeof g);
  std::memcpy(k.block, b, sizeof b);
  const Index3 c = w.config.cluster;
  k.cooperative = (w.config.cooperative ? 1u : 0u) | c.x << 1 | c.y << 6 | c.z << 11;
  k.name = static_cast<std::uint32_t>(name);
  k.closure = static_cast<std::uint32_t>(w.closure_bytes);
  append(trace::Kind::kernel, k);
  append(w.config.kernel, name);
  append(w.closure.get(), w.closure_bytes);
}

void append_copy(const Operation& op) {
  const Work& w = op.work;
  auto address = [](const Box& b) { return reinterpret_cast<std::uintptr_t>(b.data); };
  trace::Copy c{op.number,          address(w.to),
                w.to.pitch,         w.to.slice,
                address(w.from),    w.from.pitch,
                w.from.slice,       w.extent.width,
                w.extent.height,    w.extent.depth,
                of_host(w.to.data), of_host(w.from.data),
                w.pageable,         0};
  append(trace::Kind::copy, c);
  if (c.from_host == 0 || c.to_host != 0) return;  // between two places of the host: no device sees it
  for (std::size_t z = 0; z < w.extent.depth; ++z)
    for (std::size_t y = 0; y < w.extent.height; ++y)
      append(w.from.data + z * w.from.slice + y * w.from.pitch, w.extent.width);
}

}  // namespace

void Trace::start() {
  std::lock_guard lock(recording().mutex);
  if (on_) return;
  on_ = true;
  append_begin();
}

std::vector<char> Trace::take(bool& overflow) {
  drain();
  Recording& s = recording();
  std::lock_guard lock(s.mutex);
  overflow = s.overflow;
  std::vector<char> all = std::move(s.bytes);
  s.bytes.clear();
  s.overflow = false;
  append_begin();
  return all;
}

void Trace::allocated(const Allocation& a) {
  if (!on_) return;
  void* frames[trace::kMaxFrames];
  const int n = backtrace(frames, trace::kMaxFrames);
  std::lock_guard lock(recording().mutex);
  append(trace::Kind::allocate,
         trace::Allocate{a.begin, a.bytes, static_cast<std::uint32_t>(a.kind), static_cast<std::uint32_t>(n)});
  append(frames, static_cast<std::size_t>(n) * sizeof *frames);
}

void Trace::freed(std::uintptr_t address) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  recording().seen.erase(address);
  append(trace::Kind::free, trace::Free{address});
}

void Trace::before(const Operation& op) {
  if (!on_) return;
  const Work& w = op.work;
  std::lock_guard lock(recording().mutex);
  look(true);
  if (w.kind == WorkKind::kernel) append_kernel(op);
  if (w.kind == WorkKind::copy && w.to.data != w.from.data) append_copy(op);
  if (w.kind == WorkKind::fill)
    append(trace::Kind::fill,
           trace::Fill{op.number, reinterpret_cast<std::uintptr_t>(w.to.data), w.to.pitch, w.to.slice, w.extent.width,
                       w.extent.height, w.extent.depth, w.value, w.element_size});
}

void Trace::after() {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  look(false);  // the replay repeats what the device wrote there
}

void Trace::step(const char* name, const Operation* op, double seconds, bool is_wait,
                 const std::vector<OperationPtr>& waits, const Callers& callers, int stream) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  trace::Step s{};
  s.number = op != nullptr ? op->number + 1 : 0;
  s.seconds = seconds;
  s.is_wait = is_wait;
  s.in_graph = op != nullptr && op->in_graph;
  s.stream = static_cast<std::uint32_t>(stream);
  s.waits = static_cast<std::uint32_t>(waits.size());
  s.callers = callers;
  std::strncpy(s.name, name, sizeof s.name - 1);
  append(trace::Kind::step, s);
  for (const auto& before : waits) append(&before->number, sizeof before->number);
}

namespace {
void append_exchange(std::uint64_t number, std::uint32_t phase, const std::vector<char>& record) {
  append(trace::Kind::exchange, trace::Exchange{number, phase, static_cast<std::uint32_t>(record.size())});
  append(record.data(), record.size());
}
}  // namespace

void Trace::exchange_begins(const Operation& op) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  look(true);
  append_exchange(op.number, 1, op.exchange->record());
}

void Trace::exchange_ended(const Operation& op) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  append_exchange(op.number, 2, {});
  look(false);
}

void Trace::note(const std::vector<char>& record) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  append_exchange(0, 0, record);
}

void Trace::stream(int stream, const std::string& name, std::uint32_t made_at, std::size_t nth) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  const std::string kept = name.substr(0, trace::kMaxName);
  append(trace::Kind::stream, trace::Stream{static_cast<std::uint32_t>(stream), made_at,
                                            static_cast<std::uint32_t>(nth), static_cast<std::uint32_t>(kept.size())});
  append(kept.data(), kept.size());
}

Callers Trace::callers() { return on_ || Sanitizer::enabled() ? callers_here() : Callers{}; }

void Trace::mark() {
  if (!on_) return;
  drain();
  std::lock_guard lock(recording().mutex);
  append(trace::Kind::mark, trace::Free{0});
}

void Trace::unsupported(const char* what) {
  if (!on_) return;
  std::lock_guard lock(recording().mutex);
  const auto n = static_cast<std::uint32_t>(std::strlen(what));
  append(trace::Kind::unsupported, trace::Unsupported{n, 0});
  append(what, n);
}

}  // namespace ridge::simt
