#include "file_system.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace ridge::files {

namespace {

constexpr int kFirstDescriptor = 3;
constexpr std::size_t kMostOpen = 4096;
constexpr std::size_t kCoreWord = 4;                            // bytes that a core reads at once
constexpr std::uint64_t kMostAtCores = std::uint64_t{1} << 28;  // bytes whose work has not been waited for

std::string text(const char (&path)[kMostPath]) { return {path, strnlen(path, sizeof path)}; }

// Relative, without empty parts, "." or "..".
bool is_path(const std::string& path) {
  if (path.size() >= kMostPath) return false;
  for (std::size_t at = 0; at <= path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, slash - at);
    if (part.empty() || part == "." || part == "..") return false;
    at = slash + 1;
  }
  return true;
}

}  // namespace

FileSystem::FileSystem(Storage storage, Faults faults)
    : storage_(storage),
      faults_(std::move(faults)),
      random_(faults_.seed),
      cache_(storage.page_cache_bytes / static_cast<std::uint64_t>(storage.alignment)) {
  reset_counts();
}

void FileSystem::changed_by_owner() {
  if (changes_.empty())
    at_start_ = disk_;
  else
    owner_changed_ = true;
}

void FileSystem::put_folder(const std::string& path) {
  if (path.empty() || disk_.is_folder(path)) return;
  put_folder(folder_of(path));
  Change c;
  c.kind = Change::Kind::make_folder;
  c.path = path;
  disk_.apply(c);
  disk_.settle();
  changed_by_owner();
}

void FileSystem::put(const std::string& path, Bytes bytes, Layout layout, Access access) {
  put_folder(folder_of(path));
  Change made;
  made.kind = Change::Kind::create;
  made.file = disk_.next_number();
  made.path = path;
  made.layout = layout;
  disk_.apply(made);
  names_[made.file] = path;
  if (access == Access::read_only) read_only_.insert(made.file);
  Disk::File& f = disk_.file(made.file);
  f.now = std::move(bytes);
  f.durable = f.now;
  disk_.settle();
  changed_by_owner();
  next_target_ = (layout.first + layout.count) % storage_.targets;
}

void FileSystem::flip(const std::string& path, std::size_t at) {
  Disk::File& f = disk_.file(disk_.find(path));
  for (Bytes* b : {&f.now, &f.durable})
    if (at < b->size()) (*b)[at] = static_cast<char>((*b)[at] ^ 1);
  changed_by_owner();
}

void FileSystem::replace(const std::string& path, Bytes bytes) {
  Disk::File& f = disk_.file(disk_.find(path));
  f.now = std::move(bytes);
  f.durable = f.now;
  changed_by_owner();
}

const Bytes* FileSystem::find(const std::string& path) const {
  const std::uint64_t number = disk_.find(path);
  return number == 0 ? nullptr : &disk_.file(number).now;
}

std::string FileSystem::name_of(std::uint64_t file) const {
  const auto found = names_.find(file);
  return found == names_.end() ? "" : found->second;
}

void FileSystem::reset_counts() {
  counts_ = {};
  counts_.target_bytes.resize(static_cast<std::size_t>(storage_.targets));
  counts_.target_requests.resize(static_cast<std::size_t>(storage_.targets));
  log_.clear();
  log_overflowed_ = false;
  changes_.clear();
  owner_changed_ = false;
  at_start_ = disk_;
}

void FileSystem::set_faults(Faults faults) {
  faults_ = std::move(faults);
  random_ = Random(faults_.seed);
  change_number_ = 0;
  rank_changes_.clear();
}

void FileSystem::restart() { dead_.clear(); }

void FileSystem::mount(Disk disk) {
  disk_ = std::move(disk);
  open_.clear(), pending_.clear(), dirty_.clear(), dead_.clear(), read_only_.clear();
  at_cores_ = flying_ = flying_bytes_ = 0;
  cache_.clear();
  changes_.clear();
  owner_changed_ = false;
  at_start_ = disk_;
}

Disk FileSystem::after_crash(std::uint64_t n, const Faults& faults) const {
  if (owner_changed_)
    throw std::logic_error("after_crash: the owner has changed the disk among the changes of the run");
  Disk disk = at_start_;
  Random random(faults.seed * 0x10001 + n);
  for (std::uint64_t i = 0; i < changes_.size() && i + 1 < n; ++i) disk.apply(changes_[i]);
  if (n >= 1 && n <= changes_.size()) disk.apply_partly(changes_[n - 1], random, faults.torn_rename);
  disk.crash(faults.crash, random);
  return disk;
}

bool FileSystem::is_dead(int rank) const { return std::find(dead_.begin(), dead_.end(), rank) != dead_.end(); }

void FileSystem::die(int rank) {
  died_.push_back(rank);
  dead_.push_back(rank);
  for (auto at = pending_.begin(); at != pending_.end();) {
    if (at->second.rank == rank) land(at->second);
    if (at->second.rank == rank && at->second.request.op == Op::write) {
      Change c;
      c.kind = Change::Kind::write;
      c.rank = rank;
      c.file = at->second.file;
      c.offset = static_cast<std::uint64_t>(at->second.request.offset);
      c.data = at->second.sent;
      disk_.apply_partly(c, random_, false);
    }
    at = at->second.rank == rank ? pending_.erase(at) : std::next(at);
  }
  std::erase_if(open_, [rank](const auto& o) { return o.second.rank == rank; });
  disk_.crash(faults_.crash, random_, rank);
  if (faults_.crash == Crash::node) cache_.clear();
}

bool FileSystem::change(Change c) {
  ++change_number_;
  const std::uint64_t own = ++rank_changes_[c.rank];
  const auto dies = [&](const Death& d) {
    return d.at_change != 0 && (d.rank < 0 ? d.at_change == change_number_ : d.rank == c.rank && d.at_change == own);
  };
  const auto death = std::find_if(faults_.deaths.begin(), faults_.deaths.end(), dies);
  changes_.push_back(c);
  if (death == faults_.deaths.end()) {
    disk_.apply(c);
    return true;
  }
  faults_.deaths.erase(death);
  disk_.apply_partly(c, random_, faults_.torn_rename);
  die(c.rank);
  return false;
}

// Null where the caller's rank has not opened such a descriptor.
FileSystem::Open* FileSystem::opened(const Request& r) {
  const auto found = open_.find(r.fd);
  return found == open_.end() || found->second.rank != r.rank ? nullptr : &found->second;
}

std::int64_t FileSystem::aligned(const Open& o, const Request& r) const {
  const auto unit = static_cast<std::uint64_t>(storage_.alignment);
  if (r.offset < 0) return -EINVAL;
  const bool good = (r.address | static_cast<std::uint64_t>(r.offset) | r.bytes) % unit == 0;
  return (o.flags & kDirect) != 0 && !good ? -EINVAL : 0;
}

// 0 where the file may get `length` bytes by a write of `bytes`.
std::int64_t FileSystem::room(const Open& o, std::uint64_t length, std::uint64_t bytes) {
  const std::uint64_t now = disk_.file(o.file).now.size(), grows = length > now ? length - now : 0;
  if (grows > storage_.capacity - grown_ || bytes > storage_.capacity - written_) return -ENOSPC;
  grown_ += grows, written_ += bytes;
  return 0;
}

std::int64_t FileSystem::open(const Request& r, Reply& reply) {
  const std::string path = text(r.path);
  ++counts_.opens;
  charge_metadata(reply);
  Open o;
  o.flags = r.flags;
  o.path = path;
  o.rank = r.rank;
  if (disk_.is_folder(path)) {
    if (r.flags != 0) return -EISDIR;
  } else {
    if (!is_path(path)) return -EINVAL;
    o.file = disk_.find(path);
    if (o.file == 0) {
      if ((r.flags & kCreate) == 0 || !disk_.is_folder(folder_of(path))) return -ENOENT;
      if ((r.flags & kWrite) == 0) return -EINVAL;
      if (disk_.next_number() > storage_.most_files) return -ENOSPC;
      const std::int64_t size = r.stripe_size == 0 ? storage_.stripe_size : r.stripe_size;
      const int count = r.stripe_count == 0 ? storage_.stripe_count : r.stripe_count;
      if (size <= 0 || size % storage_.alignment != 0 || count < 1 || count > storage_.targets) return -EINVAL;
      Change c;
      c.kind = Change::Kind::create;
      c.rank = r.rank;
      c.file = o.file = disk_.next_number();
      c.path = path;
      c.layout = {size, count, next_target_};
      next_target_ = (next_target_ + count) % storage_.targets;
      names_[o.file] = path;
      if (!change(std::move(c))) return -EIO;
    } else if ((r.flags & kExclusive) != 0) {
      return -EEXIST;
    } else if (read_only_.contains(o.file) && (r.flags & (kWrite | kTruncate)) != 0) {
      return -EACCES;
    } else if ((r.flags & kTruncate) != 0) {
      if ((r.flags & kWrite) == 0) return -EINVAL;
      Change c;
      c.kind = Change::Kind::truncate;
      c.rank = r.rank;
      c.file = o.file;
      c.path = path;
      if (!change(std::move(c))) return -EIO;
      dirty_.clear(o.file);
      cache_.drop(o.file);
    }
  }
  int fd = kFirstDescriptor;
  while (open_.contains(fd)) ++fd;
  if (open_.size() >= kMostOpen) return -EMFILE;
  open_[fd] = std::move(o);
  return fd;
}

std::int64_t FileSystem::read(const Request& r, std::span<std::byte> window, Reply& reply) {
  const Open* o = opened(r);
  if (o == nullptr) return -EBADF;
  if (o->file == 0) return -EISDIR;
  if (const std::int64_t bad = aligned(*o, r); bad != 0) return bad;
  const Bytes& data = disk_.file(o->file).now;
  const auto offset = static_cast<std::uint64_t>(r.offset);
  const std::uint64_t n = offset >= data.size() ? 0 : std::min<std::uint64_t>(r.bytes, data.size() - offset);
  ++counts_.reads;
  counts_.bytes_read += n;
  charge_read(reply, *o, offset, n);
  if ((r.flags & kAsync) != 0) {
    reply.asynchronous = 1;
    reply.ticket = ++tickets_;
    pending_[reply.ticket] = {r, r.rank, o->file, n, nullptr, false, reply.number};
    take_off(n);
  } else if (n > 0) {
    std::memcpy(window.data(), data.data() + offset, n);
  }
  return static_cast<std::int64_t>(n);
}

std::int64_t FileSystem::write(const Request& r, std::span<std::byte> window, Reply& reply) {
  const Open* o = opened(r);
  if (o == nullptr || (o->flags & kWrite) == 0) return -EBADF;
  if (const std::int64_t bad = aligned(*o, r); bad != 0) return bad;
  if (const std::int64_t bad = room(*o, static_cast<std::uint64_t>(r.offset) + r.bytes, r.bytes); bad != 0) return bad;
  ++counts_.writes;
  counts_.bytes_written += r.bytes;
  const auto offset = static_cast<std::uint64_t>(r.offset);
  const bool direct = (o->flags & kDirect) != 0;
  charge_write(reply, *o, offset, r.bytes);
  const char* from = reinterpret_cast<const char*>(window.data());
  auto data = std::make_shared<const Bytes>(from, from + r.bytes);
  if ((r.flags & kAsync) != 0) {
    reply.asynchronous = 1;
    reply.ticket = ++tickets_;
    pending_[reply.ticket] = {r, r.rank, o->file, r.bytes, std::move(data), direct, reply.number};
    take_off(r.bytes);
    return static_cast<std::int64_t>(r.bytes);
  }
  Change c;
  c.kind = Change::Kind::write;
  c.rank = r.rank;
  c.file = o->file;
  c.path = o->path;
  c.offset = offset;
  c.data = std::move(data);
  written(o->file, direct, offset, r.bytes);
  return change(std::move(c)) ? static_cast<std::int64_t>(r.bytes) : -EIO;
}

// The bytes are in the page cache from now on, to be written back, or they went past it.
void FileSystem::written(std::uint64_t file, bool direct, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  const auto unit = static_cast<std::uint64_t>(storage_.alignment);
  const std::uint64_t first = offset / unit, last = (offset + bytes - 1) / unit;
  if (direct) return cache_.drop(file, first, last);
  for (std::uint64_t page = first; page <= last; ++page) cache_.touch(file, page);
  dirty_.add(file, first, last + 1);
}

std::int64_t FileSystem::complete(const Request& r, std::span<std::byte> window) {
  const auto found = pending_.find(r.ticket);
  if (found == pending_.end() || found->second.rank != r.rank) return -EINVAL;
  const Pending p = std::move(found->second);
  pending_.erase(found);
  land(p);
  if (charged_.size() < kMostCharged) charged_.push_back({p.number, r.rank, true});
  if (p.request.op == Op::compute) return computed(r, *p.sent, p.request.offset, window);
  if (p.sent == nullptr) {
    const Bytes& data = disk_.file(p.file).now;
    const auto offset = static_cast<std::uint64_t>(p.request.offset);
    const std::uint64_t n = offset >= data.size() ? 0 : std::min<std::uint64_t>(p.bytes, data.size() - offset);
    if (n > 0) std::memcpy(window.data(), data.data() + offset, n);
    return static_cast<std::int64_t>(n);
  }
  Change c;
  c.kind = Change::Kind::write;
  c.rank = r.rank;
  c.file = p.file;
  c.path = name_of(p.file);
  c.offset = static_cast<std::uint64_t>(p.request.offset);
  c.data = p.sent;
  if (r.bytes != p.bytes || std::memcmp(window.data(), p.sent->data(), p.bytes) != 0) {
    ++counts_.changed_in_flight;
    const char* from = reinterpret_cast<const char*>(window.data());
    c.data = std::make_shared<const Bytes>(from, from + std::min(r.bytes, p.bytes));
  }
  // Fewer bytes than were asked for do not fill the pages whose read was not charged.
  if (c.data->size() == p.bytes) written(p.file, p.direct, c.offset, p.bytes);
  return change(std::move(c)) ? static_cast<std::int64_t>(p.bytes) : -EIO;
}

void FileSystem::take_off(std::uint64_t bytes) {
  flying_bytes_ += bytes;
  counts_.most_in_flight = std::max(counts_.most_in_flight, ++flying_);
  counts_.most_bytes_in_flight = std::max(counts_.most_bytes_in_flight, flying_bytes_);
}

void FileSystem::land(const Pending& p) {
  if (p.request.op == Op::compute)
    at_cores_ -= p.bytes;
  else
    --flying_, flying_bytes_ -= p.bytes;
}

std::int64_t FileSystem::compute(const Request& r, std::span<std::byte> window, Reply& reply) {
  if (r.core < 0 || r.core >= storage_.cores || r.bytes % kCoreWord != 0) return -EINVAL;
  if (r.bytes > kMostAtCores - at_cores_) return -EAGAIN;
  at_cores_ += r.bytes;
  counts_.computed_bytes += r.bytes;
  charge(reply, kFirstCore + r.core, 0, r.bytes, static_cast<double>(r.bytes) / storage_.core_bandwidth);
  reply.asynchronous = 1;
  reply.ticket = ++tickets_;
  const char* from = reinterpret_cast<const char*>(window.data());
  pending_[reply.ticket] = {r,     r.rank,      0, r.bytes, std::make_shared<const Bytes>(from, from + r.bytes),
                            false, reply.number};
  return static_cast<std::int64_t>(r.bytes);
}

// The core has read every other word at the beginning, and the others now: a buffer that changed meanwhile is noticed.
std::int64_t FileSystem::computed(const Request& r, const Bytes& sent, std::int64_t number,
                                  std::span<std::byte> window) const {
  if (r.bytes != sent.size()) return -EINVAL;
  Bytes read = sent;
  for (std::size_t at = kCoreWord; at < read.size(); at += 2 * kCoreWord)
    std::memcpy(read.data() + at, window.data() + at, kCoreWord);
  if (work_) read = work_(number, read);
  std::memcpy(window.data(), read.data(), std::min(read.size(), sent.size()));
  return static_cast<std::int64_t>(sent.size());
}

std::int64_t FileSystem::sync(const Request& r, Reply& reply) {
  const Open* o = opened(r);
  if (o == nullptr) return -EBADF;
  ++counts_.syncs;
  Change c;
  c.kind = o->file == 0 ? Change::Kind::sync_folder : Change::Kind::sync_file;
  c.rank = r.rank;
  c.file = o->file;
  c.path = o->path;
  if (o->file == 0) {
    charge_metadata(reply);
  } else {
    reply.latency = storage_.latency;
    const Disk::File& f = disk_.file(o->file);
    const auto unit = static_cast<std::uint64_t>(storage_.alignment);
    for (const auto& [first, end] : dirty_.of(o->file)) {
      const std::uint64_t from = first * unit, to = std::min<std::uint64_t>(end * unit, f.now.size());
      if (from < to) charge_targets(reply, f.layout, from, to - from);
    }
    dirty_.clear(o->file);
  }
  return change(std::move(c)) ? 0 : -EIO;
}

std::int64_t FileSystem::rename(const Request& r, Reply& reply) {
  const std::string from = text(r.path), to = text(r.other);
  ++counts_.renames;
  charge_metadata(reply);
  if (!is_path(from) || !is_path(to)) return -EINVAL;
  if (disk_.is_folder(from) || disk_.is_folder(to)) return -EISDIR;  // this model renames files only
  const std::uint64_t file = disk_.find(from);
  if (file == 0 || !disk_.is_folder(folder_of(to))) return -ENOENT;
  if (read_only_.contains(file) || read_only_.contains(disk_.find(to))) return -EACCES;
  if (from == to) return 0;
  Change c;
  c.kind = Change::Kind::rename;
  c.rank = r.rank;
  c.file = file;
  c.path = from;
  c.other = to;
  return change(std::move(c)) ? 0 : -EIO;
}

std::int64_t FileSystem::unlink(const Request& r, Reply& reply) {
  Change c;
  c.rank = r.rank;
  c.path = text(r.path);
  charge_metadata(reply);
  if (!is_path(c.path)) return -EINVAL;
  if (r.op == Op::make_directory) {
    c.kind = Change::Kind::make_folder;
    if (disk_.is_folder(c.path) || disk_.find(c.path) != 0) return -EEXIST;
    if (!disk_.is_folder(folder_of(c.path))) return -ENOENT;
  } else {
    c.kind = Change::Kind::unlink;
    c.file = disk_.find(c.path);
    if (disk_.is_folder(c.path)) return -EISDIR;
    if (c.file == 0) return -ENOENT;
    if (read_only_.contains(c.file)) return -EACCES;
  }
  return change(std::move(c)) ? 0 : -EIO;
}

std::int64_t FileSystem::list(const Request& r, std::span<std::byte> window) const {
  const std::string path = text(r.path);
  if (!disk_.is_folder(path)) return -ENOENT;
  const std::vector<std::string> names = disk_.list(path);
  if (r.offset < 0 || r.offset >= static_cast<std::int64_t>(names.size())) return 0;
  const std::string& name = names[static_cast<std::size_t>(r.offset)];
  std::memcpy(window.data(), name.data(), name.size());
  return static_cast<std::int64_t>(name.size());
}

void FileSystem::expect_marks(std::vector<std::int64_t> numbers) {
  any_mark_ = false;
  expected_marks_ = std::move(numbers);
  next_mark_ = 0;
  unexpected_mark_ = false;
}

std::int64_t FileSystem::mark(const Request& r) {
  if (!any_mark_) {
    if (next_mark_ == expected_marks_.size() || expected_marks_[next_mark_] != r.offset) {
      unexpected_mark_ = true;
      return -EPERM;
    }
    ++next_mark_;
  }
  return mark_ ? mark_(*this, r.offset, static_cast<std::int64_t>(r.ticket)) : -ENOSYS;
}

Reply FileSystem::call(const Request& request, std::span<std::byte> window) {
  // Whoever could leave out the wait for an open or an fsync had it for nothing.
  Request r = request;
  if (r.op != Op::read && r.op != Op::write) r.flags &= ~std::uint32_t{kAsync};
  std::lock_guard lock(mutex_);
  Reply reply;
  if (is_dead(r.rank)) {
    reply.died = 1;
    return reply;
  }
  Open of;  // what the request is for: a close and a death forget it
  if (const Open* o = opened(r)) of = *o;
  reply.number = ++numbers_;
  reply.host = storage_.call_seconds;
  reply.result = r.bytes > kMostBytes || (r.flags & ~kAllFlags) != 0 ? -EINVAL : run(r, window, reply);
  if (is_dead(r.rank)) reply.died = 1;
  if (reply.pieces > 0 && charged_.size() < kMostCharged)
    charged_.push_back({reply.number,
                        r.rank,
                        false,
                        reply.asynchronous == 0,
                        reply.latency,
                        {reply.piece, reply.piece + reply.pieces}});
  if (const auto made = open_.find(static_cast<int>(reply.result)); r.op == Op::open)
    of = made != open_.end() ? made->second : Open{0, r.flags, {}, r.rank};
  if (log_.size() < kMostLogged)
    log_.push_back(
        {r.op, r.rank, of.file, r.offset, r.bytes, reply.number, of.flags, reply.asynchronous != 0, reply.result});
  else
    log_overflowed_ = true;
  return reply;
}

std::int64_t FileSystem::run(const Request& r, std::span<std::byte> window, Reply& reply) {
  switch (r.op) {
    case Op::open:
      ++counts_.requests;
      return open(r, reply);
    case Op::close:
      if (opened(r) == nullptr) return -EBADF;
      open_.erase(r.fd);
      return 0;
    case Op::read:
      ++counts_.requests;
      return read(r, window, reply);
    case Op::write:
      ++counts_.requests;
      return write(r, window, reply);
    case Op::sync:
      ++counts_.requests;
      return sync(r, reply);
    case Op::truncate: {
      const Open* o = opened(r);
      if (o == nullptr || o->file == 0 || (o->flags & kWrite) == 0) return -EBADF;
      if (r.offset < 0) return -EINVAL;
      if (const std::int64_t bad = room(*o, static_cast<std::uint64_t>(r.offset), 0); bad != 0) return bad;
      ++counts_.requests;
      charge_metadata(reply);
      Change c;
      c.kind = Change::Kind::truncate;
      c.rank = r.rank;
      c.file = o->file;
      c.path = o->path;
      c.offset = static_cast<std::uint64_t>(r.offset);
      const auto unit = static_cast<std::uint64_t>(storage_.alignment);
      const std::uint64_t pages = (c.offset + unit - 1) / unit;
      dirty_.cut(o->file, pages);
      cache_.drop(o->file, pages);
      return change(std::move(c)) ? 0 : -EIO;
    }
    case Op::rename:
      ++counts_.requests;
      return rename(r, reply);
    case Op::unlink:
    case Op::make_directory:
      ++counts_.requests;
      return unlink(r, reply);
    case Op::list:
      if (r.offset == 0) charge_metadata(reply);
      return list(r, window);
    case Op::status: {
      const Open* o = opened(r);
      if (o == nullptr) return -EBADF;
      if (o->file == 0) return -EISDIR;
      const Disk::File& f = disk_.file(o->file);
      reply.size = static_cast<std::int64_t>(f.now.size());
      reply.stripe_size = f.layout.size;
      reply.stripe_count = f.layout.count;
      reply.first_target = f.layout.first;
      return 0;
    }
    case Op::describe: {
      const Description d = storage_.description();
      std::memcpy(window.data(), &d, sizeof d);
      return 0;
    }
    case Op::complete:
      return complete(r, window);
    case Op::compute:
      return compute(r, window, reply);
    case Op::step:
      for (auto d = faults_.deaths.begin(); d != faults_.deaths.end(); ++d)
        if (d->at_step == r.offset && d->at_step >= 0 && (d->rank < 0 || d->rank == r.rank)) {
          faults_.deaths.erase(d);
          die(r.rank);
          return -EIO;
        }
      return 0;
    case Op::advise: {
      const Open* o = opened(r);
      if (o == nullptr) return -EBADF;
      cache_.drop(o->file, 0, UINT64_MAX, [&](std::uint64_t page) { return dirty_.holds(o->file, page); });
      return 0;
    }
    case Op::mark:
      return mark(r);
  }
  return -ENOSYS;
}

}  // namespace ridge::files
