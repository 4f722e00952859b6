#include "unpacking.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <memory>
#include <string>
#include <vector>

#include "cluster/src/base/fd.hpp"

namespace ridge::unpack {

namespace {

using cluster::Fd;

struct Free {
  void operator()(archive* a) const { archive_read_free(a); }
};
using Archive = std::unique_ptr<archive, Free>;

constexpr const char* kNoArchive = "neither a zip nor a tar archive";

Archive reader() {
  Archive a(archive_read_new());
  archive_read_support_filter_gzip(a.get());
  archive_read_support_filter_bzip2(a.get());
  archive_read_support_filter_xz(a.get());
  archive_read_support_filter_zstd(a.get());
  archive_read_support_format_tar(a.get());
  archive_read_support_format_zip(a.get());
  return a;
}

std::vector<std::string> parts_of(const std::string& name) {
  if (name.empty() || name[0] == '/' || name.size() > 400)
    throw Refused("the archive has an absolute or very long name");
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") throw Refused("the archive has a name with `..`, which leads out of its folder");
    if (part.size() > 200 || part.find('\\') != std::string::npos)
      throw Refused("the archive has a name that no source file needs");
    parts.push_back(part);
  }
  if (parts.size() > 12) throw Refused("the archive has folders in folders, more than 12 deep");
  return parts;
}

// Whether a hand-in needs what is in the file: a source, or an archive of sources. Of a report beside them the name is
// enough, which may say that it was meant as a source.
bool is_needed(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (name == "ridge-questions.json") return true;
  for (const char* end : {".cu", ".cuh", ".h", ".hpp", ".inc", ".txt", ".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2",
                          ".xz", ".txz", ".zst"})
    if (name.ends_with(end)) return true;
  return false;
}

// What nobody looks into: the history of a clone, and what macOS adds.
bool in_hidden_folder(const std::vector<std::string>& parts) {
  return !parts.empty() && std::any_of(parts.begin(), parts.end() - 1,
                                       [](const std::string& p) { return p[0] == '.' || p == "__MACOSX"; });
}

// Opens the folder of the last part, step by step, without following links; missing folders are made.
Fd folder_of(int top, const std::vector<std::string>& parts) {
  Fd at(dup(top));
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    mkdirat(at.get(), parts[i].c_str(), 0700);
    at = Fd(openat(at.get(), parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (at.get() < 0) throw Refused("the archive has a file and a folder of one name");
  }
  return at;
}

// Writes the data of the entry that was read last; returns its bytes.
long long write_data(archive* a, int out, long long left) {
  long long written = 0;
  for (;;) {
    const void* data = nullptr;
    std::size_t n = 0;
    la_int64_t offset = 0;
    const int got = archive_read_data_block(a, &data, &n, &offset);
    if (got == ARCHIVE_EOF) return written;
    if (got != ARCHIVE_OK) throw Refused("the archive is damaged");
    const auto bytes = static_cast<long long>(n);
    if (offset < 0 || offset > kMaxFile || offset + bytes > kMaxFile)
      throw Refused("the archive has a file of more than 4 MiB");
    if ((written += bytes) > left) throw Refused("the archive unpacks to more than 16 MiB");
    if (pwrite(out, data, n, offset) != static_cast<ssize_t>(n)) throw Refused("no space to unpack into");
  }
}

void unpack(archive* a, int top) {
  archive_entry* e = nullptr;
  long long bytes = 0;
  int kept = 0;
  for (int entries = 1;; ++entries) {
    const int code = archive_read_next_header(a, &e);
    if (code == ARCHIVE_EOF) return;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) throw Refused(entries == 1 ? kNoArchive : "the archive is damaged");
    if (entries > kMaxEntries) throw Refused("the archive has more than 50000 entries");
    // Names are in this locale's characters, in UTF-8, or in an encoding that nobody names, whose bytes are taken.
    const char* name = archive_entry_pathname(e);
    if (name == nullptr) name = archive_entry_pathname_utf8(e);
    if (name == nullptr) throw Refused("the archive has a name that can't be read; name files and folders in ASCII");
    const std::vector<std::string> parts = parts_of(name);
    if (in_hidden_folder(parts)) continue;
    if (archive_entry_hardlink(e) != nullptr || archive_entry_symlink(e) != nullptr)
      throw Refused("the archive has a link; hand in the files themselves");
    const auto type = archive_entry_filetype(e);
    if (type == AE_IFDIR || parts.empty()) continue;
    if (type != AE_IFREG) throw Refused("the archive has something that is neither a file nor a folder");
    if (++kept > kMaxKept) throw Refused("the archive has more than 5000 files");
    const bool needed = is_needed(parts.back());
    if (needed && archive_entry_is_encrypted(e) != 0) throw Refused("the archive is encrypted");
    const Fd folder = folder_of(top, parts);
    const Fd out(
        openat(folder.get(), parts.back().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!needed) continue;
    if (out.get() < 0) throw Refused("the archive has two files of one name");
    bytes += write_data(a, out.get(), kMaxBytes - bytes);
  }
}

}  // namespace

void unpack_file(const char* file, int top) {
  const Archive a = reader();
  if (archive_read_open_filename(a.get(), file, 65536) != ARCHIVE_OK) throw Refused(kNoArchive);
  unpack(a.get(), top);
}

void unpack_memory(const void* data, std::size_t bytes, int top) {
  const Archive a = reader();
  if (archive_read_open_memory(a.get(), data, bytes) != ARCHIVE_OK) throw Refused(kNoArchive);
  unpack(a.get(), top);
}

}  // namespace ridge::unpack
