#include "timeline/reader/trace_source.hpp"

#include <fmt/format.h>
#ifdef RIDGE_VIZ_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace ridge::viz::timeline {
namespace {

struct CloseFile {
  void operator()(std::FILE* f) const { std::fclose(f); }
};
using File = std::unique_ptr<std::FILE, CloseFile>;

class PlainFile : public TraceSource {
 public:
  PlainFile(File file, std::filesystem::path path, std::uint64_t total)
      : file_(std::move(file)), path_(std::move(path)), total_(total) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t n = std::fread(to, 1, most, file_.get());
    if (n < most && std::ferror(file_.get()))
      throw TraceError(fmt::format("{}: cannot be read at byte {}: {}\n  try: copy it to a local disk", path_.string(),
                                   used_ + n, std::strerror(errno)));
    used_ += n;
    return n;
  }
  bool skip(std::uint64_t n) override {
    used_ += n;
    return used_ <= total_ && fseeko(file_.get(), static_cast<off_t>(used_), SEEK_SET) == 0;
  }
  std::uint64_t used() const override { return used_; }
  std::uint64_t total() const override { return total_; }

 private:
  File file_;
  std::filesystem::path path_;
  std::uint64_t used_ = 0, total_;
};

#ifdef RIDGE_VIZ_ZLIB
class GzipFile : public TraceSource {
 public:
  GzipFile(const std::filesystem::path& path, std::uint64_t total)
      : file_(gzopen(path.c_str(), "rb")), path_(path), total_(total) {
    if (file_ == nullptr) throw TraceError(fmt::format("{}: cannot be opened", path.string()));
    gzbuffer(file_, 1 << 18);
  }
  GzipFile(const GzipFile&) = delete;
  GzipFile& operator=(const GzipFile&) = delete;
  ~GzipFile() override { gzclose(file_); }
  std::size_t read(char* to, std::size_t most) override {
    const int n = gzread(file_, to, static_cast<unsigned>(std::min<std::size_t>(most, 1 << 30)));
    if (n >= 0) return static_cast<std::size_t>(n);
    int code = 0;
    throw TraceError(fmt::format("{}: its gzip data is broken after byte {}: {}\n  try: gzip -t {}", path_.string(),
                                 gzoffset(file_), gzerror(file_, &code), path_.filename().string()));
  }
  std::uint64_t used() const override { return static_cast<std::uint64_t>(std::max<z_off_t>(gzoffset(file_), 0)); }
  std::uint64_t total() const override { return total_; }

 private:
  gzFile file_;
  std::filesystem::path path_;
  std::uint64_t total_;
};
#endif

class Memory : public TraceSource {
 public:
  explicit Memory(std::string_view text) : text_(text) {}
  std::size_t read(char* to, std::size_t most) override {
    const std::size_t n = std::min(most, text_.size() - used_);
    if (n > 0) std::memcpy(to, text_.data() + used_, n);
    used_ += n;
    return n;
  }
  std::uint64_t used() const override { return used_; }
  std::uint64_t total() const override { return text_.size(); }

 private:
  std::string_view text_;
  std::size_t used_ = 0;
};

}  // namespace

bool TraceSource::skip(std::uint64_t n) {
  std::string ignored(std::min<std::uint64_t>(n, 1 << 18), '\0');
  while (n > 0) {
    const std::size_t got = read(ignored.data(), std::min<std::uint64_t>(n, ignored.size()));
    if (got == 0) return false;
    n -= got;
  }
  return true;
}

std::unique_ptr<TraceSource> open_trace(const std::filesystem::path& path) {
  std::error_code ec;
  if (std::filesystem::is_directory(path, ec))
    throw TraceError(fmt::format("{}: is a folder\n  try: name the traces in it", path.string()));
  File file(std::fopen(path.c_str(), "rb"));
  if (!file)
    throw TraceError(fmt::format("{}: cannot be opened: {}\n  try: check its name and permissions", path.string(),
                                 std::strerror(errno)));
  const auto size = std::filesystem::file_size(path, ec);
  const std::uint64_t total = ec ? 0 : size;
  unsigned char magic[2] = {};
  const bool gzip = std::fread(magic, 1, 2, file.get()) == 2 && magic[0] == 0x1F && magic[1] == 0x8B;
  std::rewind(file.get());
  if (!gzip) return std::make_unique<PlainFile>(std::move(file), path, total);
#ifdef RIDGE_VIZ_ZLIB
  return std::make_unique<GzipFile>(path, total);
#else
  throw TraceError(fmt::format("{}: is gzip, and this program was built without zlib\n  try: gunzip {}", path.string(),
                               path.filename().string()));
#endif
}

std::unique_ptr<TraceSource> memory_trace(std::string_view text) { return std::make_unique<Memory>(text); }

}  // namespace ridge::viz::timeline
