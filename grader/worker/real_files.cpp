#include "grader/worker/real_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <future>
#include <memory>
#include <new>
#include <thread>

#include "grader/base/error.hpp"
#include "runtime/files/alignment.hpp"

namespace ridge {

namespace {

constexpr std::size_t kChunk = std::size_t{4} << 20;  // of writing
constexpr std::size_t kWriters = 7;                   // threads beside the caller's
constexpr int kMostAlignment = 4096;                  // labs' sizes are multiples of it

// In this folder, if it is set.
const char* named_folder() { return std::getenv("RIDGE_FILES"); }

struct Descriptor {
  int fd;
  explicit Descriptor(int f) : fd(f) {}
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
};

[[noreturn]] void cannot_write(const fs::path& path) {
  throw Error(Exit::environment, fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)),
              "set RIDGE_FILES to a folder with a few GiB of free space, on the file system to be measured");
}

std::size_t whole_blocks(std::size_t bytes) { return (bytes + kMostAlignment - 1) / kMostAlignment * kMostAlignment; }

// `from` begins and ends at whole blocks, for O_DIRECT.
void write_all(int fd, std::span<const std::byte> from, std::size_t at, const fs::path& path) {
  for (std::size_t done = 0; done < from.size();) {
    const ssize_t n = ::pwrite(fd, from.data() + done, from.size() - done, static_cast<off_t>(at + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) cannot_write(path);
    done += static_cast<std::size_t>(n);
  }
}

std::uint64_t cached_of(const fs::path& path, std::size_t bytes) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  void* p = file.fd < 0 ? MAP_FAILED : mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.fd, 0);
  if (p == MAP_FAILED) return 0;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> resident((bytes + page - 1) / page);
  const bool told = mincore(p, bytes, resident.data()) == 0;
  munmap(p, bytes);
  const auto is_there = [](unsigned char r) { return (r & 1) != 0; };
  return told ? static_cast<std::uint64_t>(std::count_if(resident.begin(), resident.end(), is_there)) * page : 0;
}

}  // namespace

std::string RealFiles::why_not() {
  const char* const advice = "; RIDGE_FILES names another folder";
  std::optional<TemporaryDir> folder;
  try {
    folder.emplace("files", named_folder());
  } catch (const Error& e) {
    return e.what() + std::string(advice);
  }
  const fs::path path = folder->path() / "probe", parent = folder->path().parent_path();
  std::string why;
  {
    struct statfs info {};
    const Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    const std::vector<char> zeros(kMostAlignment);
    void* block = nullptr;
    if (file.fd < 0 || fstatfs(file.fd, &info) != 0 ||
        ::pwrite(file.fd, zeros.data(), zeros.size(), 0) != static_cast<ssize_t>(zeros.size())) {
      why = fmt::format("no file can be written in {}{}", parent.string(), advice);
    } else if (info.f_type == TMPFS_MAGIC || info.f_type == RAMFS_MAGIC) {
      why = fmt::format("{} is in memory, and no storage{}", parent.string(), advice);
    } else {
      const int unit = files::direct_alignment(file.fd);
      fdatasync(file.fd);
      const Descriptor direct(::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC));
      if (unit == 0 || unit > kMostAlignment || direct.fd < 0 ||
          posix_memalign(&block, kMostAlignment, kMostAlignment) != 0 ||
          ::pread(direct.fd, block, kMostAlignment, 0) != kMostAlignment)
        why = fmt::format("the file system of {} has no reads with O_DIRECT by 4096 bytes{}", parent.string(), advice);
      std::free(block);
    }
  }
  return why;
}

RealFiles::RealFiles() : folder_("files", named_folder()) {}

RealFiles::~RealFiles() {
  if (opened_ >= 0) ::close(opened_);
}

void RealFiles::replace(std::size_t set, const std::vector<lab::RealFile>& files) {
  const auto held = [this](const std::string& name) {
    return std::any_of(sets_.begin(), sets_.end(), [&](const auto& s) { return s.second.contains(name); });
  };
  const auto before = std::exchange(sets_[set], {});
  for (const auto& [name, bytes] : before)
    if (!held(name)) fs::remove(folder_.path() / name);
  for (const lab::RealFile& f : files) {
    if (!held(f.name)) write(f);
    sets_[set][f.name] = f.bytes;
  }
}

void RealFiles::write(const lab::RealFile& file) {
  const fs::path path = folder_.path() / file.name;
  const Descriptor to(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_DIRECT | O_CLOEXEC, 0600));
  if (to.fd < 0) cannot_write(path);
  std::atomic<std::size_t> next{0};
  const auto write_chunks = [&] {
    const std::size_t most = std::min(kChunk, whole_blocks(file.bytes));
    const std::unique_ptr<std::byte, decltype(&std::free)> chunk(
        static_cast<std::byte*>(std::aligned_alloc(kMostAlignment, most)), &std::free);
    if (!chunk) throw std::bad_alloc();
    for (std::size_t at; (at = next.fetch_add(kChunk)) < file.bytes;) {
      const std::size_t bytes = std::min(kChunk, file.bytes - at), padded = whole_blocks(bytes);
      file.fill(at, {chunk.get(), bytes});
      std::memset(chunk.get() + bytes, 0, padded - bytes);
      write_all(to.fd, {chunk.get(), padded}, at, path);
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::future<void>> writers;
  for (std::size_t i = 0; i < std::min({file.bytes / kChunk, cores, kWriters}); ++i)
    writers.push_back(std::async(std::launch::async, write_chunks));
  write_chunks();
  for (auto& writer : writers) writer.get();
  if (ftruncate(to.fd, static_cast<off_t>(file.bytes)) != 0 || fsync(to.fd) != 0) cannot_write(path);
  alignment_ = std::max(512, files::direct_alignment(to.fd));
  if (cached_of(path, file.bytes) > 0) tells_pages_ = false;
}

std::optional<std::uint64_t> RealFiles::cached_bytes(std::size_t set) const {
  if (!tells_pages_) return std::nullopt;
  std::uint64_t all = 0;
  if (const auto found = sets_.find(set); found != sets_.end())
    for (const auto& [name, bytes] : found->second) all += cached_of(folder_.path() / name, bytes);
  return all;
}

lab::Verdict RealFiles::verify(const lab::UsesFiles& check, std::span<const std::size_t> sets) const {
  if (!check.past_the_page_cache()) return {};
  for (const std::size_t set : sets) {
    std::uint64_t all = 0;
    if (const auto found = sets_.find(set); found != sets_.end())
      for (const auto& [name, bytes] : found->second) all += bytes;
    const std::optional<std::uint64_t> cached = cached_bytes(set);
    if (cached && *cached > all / 16)
      return {false, fmt::format("{} of the file's {} bytes are in the page cache behind the call", *cached, all),
              "bytes came through the page cache", "cache"};
  }
  return {};
}

std::int64_t RealFiles::open(const files::Request& request) {
  const std::string name(request.path, strnlen(request.path, sizeof request.path));
  if ((request.flags & ~std::uint32_t{files::kDirect}) != 0) return -EACCES;
  if (std::none_of(sets_.begin(), sets_.end(), [&](const auto& s) { return s.second.contains(name); })) return -ENOENT;
  const int fd = ::open((folder_.path() / name).c_str(),
                        O_RDONLY | O_CLOEXEC | ((request.flags & files::kDirect) != 0 ? O_DIRECT : 0));
  if (fd < 0) return -errno;
  if (opened_ >= 0) ::close(opened_);
  opened_ = fd;
  return 0;  // the worker has a number of its own for it
}

files::Reply RealFiles::call(const files::Request& request, std::span<std::byte> window) {
  std::lock_guard lock(mutex_);
  files::Reply reply;
  reply.in_place = 1;
  if (request.op == files::Op::open) {
    reply.result = open(request);
  } else if (request.op == files::Op::describe) {
    files::Description d;  // what a file system does not tell is 0
    d.targets = d.stripe_count = 1;
    d.cores = static_cast<std::int32_t>(
        std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(files::kMostCores)));
    d.alignment = alignment_;
    std::memcpy(window.data(), &d, sizeof d);
  } else {
    reply.result = -ENOSYS;
  }
  return reply;
}

int RealFiles::take_descriptor() { return std::exchange(opened_, -1); }

}  // namespace ridge
