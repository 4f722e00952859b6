#include "device/memory.hpp"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <utility>

#include "device/device_profile.hpp"
#include "device/host_access.hpp"

namespace ridge::simt {

namespace {

// Memory that is reserved now and committed at the first touch.
void* reserve(std::size_t bytes, int protection, std::uintptr_t wish = 0) {
  void* p = mmap(reinterpret_cast<void*>(wish), bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) {
    std::fprintf(stderr,
                 "ridge: cannot reserve %zu GiB of address space for the emulated GPU; "
                 "raise the limit on virtual memory (ulimit -v unlimited)\n",
                 bytes >> 30);
    std::_Exit(3);
  }
  return p;
}

// Free in every usual layout of a process, AddressSanitizer's included.
constexpr std::uintptr_t kUsualBase = 0x200000000000;

std::size_t round_up(std::size_t n, std::size_t unit) { return (n + unit - 1) / unit * unit; }

}  // namespace

DeviceMemory& DeviceMemory::instance() {
  static DeviceMemory* memory = new DeviceMemory;  // queued work needs it after main
  return *memory;
}

namespace {

// NaN as a number of any type, so that a kernel cannot count on cleared memory. The sanitizer looks for this byte.
unsigned char fill_from_environment() {
  const char* text = std::getenv("RIDGE_FILL");
  const bool given = text != nullptr && std::getenv("RIDGE_SANITIZE") == nullptr;
  return static_cast<unsigned char>(given ? std::strtoul(text, nullptr, 0) : 0xFF);
}

}  // namespace

DeviceMemory::DeviceMemory()
    : limit_(static_cast<std::size_t>(device_profile().global_bytes)), fill_(fill_from_environment()) {
  auto raw = reinterpret_cast<std::uintptr_t>(reserve(kReserve + kGranule, PROT_NONE, kUsualBase));
  base_ = device_memory_base = round_up(raw, kGranule);
  next_ = base_ + kGranule;
  next_mapped_ = base_ + kReserve / 2;
  granule_ = static_cast<std::uint32_t*>(reserve(kReserve / kGranule * sizeof(std::uint32_t), PROT_READ | PROT_WRITE));
  table_ = static_cast<Allocation*>(reserve(kMaxAllocations * sizeof(Allocation), PROT_READ | PROT_WRITE));
}

std::uintptr_t DeviceMemory::claim(std::size_t bytes, std::uintptr_t& next, std::uintptr_t end) {
  std::size_t span = round_up(bytes, kGranule) + kGranule;
  if (bytes > kReserve || next + span > end || count_ >= kMaxAllocations) return 0;
  std::uintptr_t begin = next;
  next += span;
  return begin;
}

void DeviceMemory::record(std::uintptr_t begin, std::size_t bytes, MemoryKind kind, bool writable, int device) {
  Allocation& a = table_[count_];
  a.begin = begin;
  a.end = begin + bytes;
  a.kind = kind;
  a.writable = writable;
  a.device = static_cast<std::uint8_t>(device);
  a.bytes = bytes;
  a.on_host = kind == MemoryKind::managed;
  managed_on_host_ += a.on_host;
  host_visible_ += kind == MemoryKind::managed || kind == MemoryKind::host;
  std::size_t first = (begin - base_) / kGranule;
  std::size_t last = (begin + bytes - 1 - base_) / kGranule;
  for (std::size_t g = first; g <= last; ++g) granule_[g] = count_;
  ++count_;
  if (kind != MemoryKind::host) of(device).used += bytes;
}

void* DeviceMemory::allocate(std::size_t bytes, MemoryKind kind, int device) {
  std::lock_guard lock(mutex_);
  // Managed memory may be larger than the device's.
  if (kind == MemoryKind::device && (bytes > limit_ || used(device) > limit_ - bytes)) return nullptr;
  std::uintptr_t begin = claim(bytes, next_, base_ + kReserve / 2);
  if (begin == 0) return nullptr;
  void* p = reinterpret_cast<void*>(begin);
  if (mprotect(p, round_up(bytes, 4096), PROT_READ | PROT_WRITE) != 0) return nullptr;
  // Poisoning touches every page: only as far as a laptop's memory stands it.
  if (kind == MemoryKind::device) std::memset(p, fill_, bytes < (std::size_t{1} << 30) ? bytes : 4096);
  record(begin, bytes, kind, true, device);
  return p;
}

void* DeviceMemory::map(int fd, std::size_t bytes, bool writable, MemoryKind kind, bool kept) {
  std::lock_guard lock(mutex_);
  std::uintptr_t begin = claim(bytes, next_mapped_, base_ + kReserve);
  if (begin == 0) return nullptr;
  void* p = mmap(reinterpret_cast<void*>(begin), bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ,
                 MAP_SHARED | MAP_FIXED, fd, 0);
  if (p == MAP_FAILED) return nullptr;
  record(begin, bytes, kind, writable, 0);
  table_[count_ - 1].mapped = true;
  table_[count_ - 1].kept = kept;
  return p;
}

bool DeviceMemory::free(void* pointer) {
  std::lock_guard lock(mutex_);
  auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!contains(address)) return false;
  Allocation& a = table_[granule_[(address - base_) / kGranule]];
  if (a.begin != address || a.kind == MemoryKind::none || a.kind == MemoryKind::freed) return false;
  std::size_t span = round_up(a.bytes, 4096);
  // Give the pages back and keep the range out of use.
  mmap(pointer, span, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (a.kind != MemoryKind::host) of(a.device).used -= a.bytes;
  if (a.pooled) of(a.device).pool_used -= a.bytes;
  managed_on_host_ -= a.on_host;
  host_visible_ -= a.kind == MemoryKind::managed || a.kind == MemoryKind::host;
  a.on_host = false;
  a.end = a.begin;
  a.kind = MemoryKind::freed;
  return true;
}

Allocation* DeviceMemory::find(std::uintptr_t address) {
  if (!contains(address)) return nullptr;
  Allocation& a = table_[granule_[(address - base_) / kGranule]];
  return a.kind == MemoryKind::none || a.kind == MemoryKind::freed || address >= a.end ? nullptr : &a;
}

std::size_t DeviceMemory::migrate_managed() {
  std::lock_guard lock(mutex_);
  std::size_t bytes = std::exchange(managed_written_, 0);
  for (std::uint32_t i = 1; i < count_ && managed_on_host_ != 0; ++i) {
    if (!table_[i].on_host) continue;
    table_[i].on_host = false;
    --managed_on_host_;
    bytes += table_[i].bytes;
  }
  return bytes;
}

void DeviceMemory::host_wrote(const Allocation& managed, std::size_t bytes) {
  std::lock_guard lock(mutex_);
  if (managed.kind == MemoryKind::managed && !managed.on_host) managed_written_ += bytes;
}

void DeviceMemory::for_host_visible(const std::function<void(const Allocation&)>& f) {
  std::lock_guard lock(mutex_);
  std::size_t left = host_visible_;
  for (std::uint32_t i = 1; i < count_ && left != 0; ++i)
    if (table_[i].kind == MemoryKind::managed || table_[i].kind == MemoryKind::host) {
      f(table_[i]);
      --left;
    }
}

void DeviceMemory::for_mapped(const std::function<void(const Allocation&)>& f) {
  std::lock_guard lock(mutex_);
  for (std::uint32_t i = 1; i < count_; ++i)
    if (table_[i].mapped) f(table_[i]);
}

void DeviceMemory::set_on_host(Allocation& managed, bool on_host) {
  std::lock_guard lock(mutex_);
  managed_on_host_ += on_host;
  managed_on_host_ -= managed.on_host;
  managed.on_host = on_host;
}

bool DeviceMemory::add_registered(std::uintptr_t begin, std::size_t bytes, unsigned flags) {
  std::lock_guard lock(mutex_);
  auto next = registered_.lower_bound(begin);
  if (next != registered_.end() && next->first < begin + bytes) return false;
  if (next != registered_.begin() && std::prev(next)->second.end > begin) return false;
  registered_[begin] = {begin + bytes, flags};
  return true;
}

bool DeviceMemory::remove_registered(std::uintptr_t begin) {
  std::lock_guard lock(mutex_);
  return registered_.erase(begin) != 0;
}

std::uintptr_t DeviceMemory::registered(std::uintptr_t address, std::uintptr_t* end, unsigned* flags) {
  std::lock_guard lock(mutex_);
  auto at = registered_.upper_bound(address);
  if (at == registered_.begin() || address >= (--at)->second.end) return 0;
  if (end != nullptr) *end = at->second.end;
  if (flags != nullptr) *flags = at->second.flags;
  return at->first;
}

void DeviceMemory::mark_pooled(void* pointer) {
  std::lock_guard lock(mutex_);
  Allocation* a = find(reinterpret_cast<std::uintptr_t>(pointer));
  a->pooled = true;
  Use& use = of(a->device);
  use.pool_used += a->bytes;
  if (use.pool_used > use.pool_high) use.pool_high = use.pool_used;
}

const Allocation* DeviceMemory::nearest(std::uintptr_t address) const {
  const Allocation* best = nullptr;
  for (std::uint32_t i = 1; i < count_; ++i)
    if (table_[i].begin <= address && (best == nullptr || table_[i].begin > best->begin)) best = &table_[i];
  return best;
}

const Allocation* DeviceMemory::next(std::uintptr_t address) const {
  const Allocation* best = nullptr;
  for (std::uint32_t i = 1; i < count_; ++i)
    if (table_[i].kind != MemoryKind::freed && table_[i].begin > address &&
        (best == nullptr || table_[i].begin < best->begin))
      best = &table_[i];
  return best;
}

std::size_t DeviceMemory::live() const {
  std::size_t n = 0;
  for (std::uint32_t i = 1; i < count_; ++i) n += table_[i].kind != MemoryKind::freed;
  return n;
}

}  // namespace ridge::simt
