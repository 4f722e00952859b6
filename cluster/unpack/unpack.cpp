// ridge-unpack ARCHIVE FOLDER unpacks the regular files of an untrusted archive (zip, or tar with its compressions, by
// libarchive) into an empty folder, in a process of its own. It refuses links, devices, absolute names, names with
// `..`, and archives larger than a submission may be. Exit code 0, or 1 with one line on what is wrong.
#include <archive.h>
#include <archive_entry.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr long long kMaxBytes = 16 << 20, kMaxFile = 4 << 20;
constexpr int kMaxEntries = 2000;

[[noreturn]] void refuse(const std::string& why) {
  std::printf("%s\n", why.c_str());
  std::exit(1);
}

std::vector<std::string> parts_of(const std::string& name) {
  if (name.empty() || name[0] == '/' || name.size() > 400) refuse("the archive has an absolute or very long name");
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string part = name.substr(at, end - at);
    at = end + 1;
    if (part.empty() || part == ".") continue;
    if (part == "..") refuse("the archive has a name with `..`, which leads out of its folder");
    if (part.size() > 200 || part.find('\\') != std::string::npos)
      refuse("the archive has a name that no source file needs");
    parts.push_back(part);
  }
  if (parts.size() > 12) refuse("the archive has folders in folders, more than 12 deep");
  return parts;
}

// Opens the folder of the last part, step by step, without following links; missing folders are made.
int folder_of(int top, const std::vector<std::string>& parts) {
  int at = dup(top);
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    mkdirat(at, parts[i].c_str(), 0700);
    const int next = openat(at, parts[i].c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    close(at);
    if (next < 0) refuse("the archive has a file and a folder of one name");
    at = next;
  }
  return at;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) refuse("usage: ridge-unpack ARCHIVE FOLDER");
  // libarchive converts names to the locale's encoding, and in the locale C it refuses all that is not ASCII.
  if (std::setlocale(LC_CTYPE, "C.UTF-8") == nullptr) std::setlocale(LC_CTYPE, "en_US.UTF-8");
  const rlimit memory{512UL << 20, 512UL << 20}, cpu{15, 15}, file{kMaxFile, kMaxFile};
  setrlimit(RLIMIT_AS, &memory);
  setrlimit(RLIMIT_CPU, &cpu);
  setrlimit(RLIMIT_FSIZE, &file);
  const int top = open(argv[2], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (top < 0) refuse("the folder to unpack into is not there");

  archive* a = archive_read_new();
  archive_read_support_filter_gzip(a);
  archive_read_support_filter_bzip2(a);
  archive_read_support_filter_xz(a);
  archive_read_support_filter_zstd(a);
  archive_read_support_format_tar(a);
  archive_read_support_format_zip(a);
  if (archive_read_open_filename(a, argv[1], 65536) != ARCHIVE_OK) refuse("neither a zip nor a tar archive");

  archive_entry* e = nullptr;
  long long bytes = 0;
  int entries = 0;
  for (;;) {
    const int code = archive_read_next_header(a, &e);
    if (code == ARCHIVE_EOF) break;
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN)
      refuse(entries == 0 ? "neither a zip nor a tar archive" : "the archive is damaged");
    if (++entries > kMaxEntries) refuse("the archive has more than 2000 entries");
    // Names are in this locale's characters, in UTF-8, or in an encoding that nobody names, whose bytes are taken.
    const char* name = archive_entry_pathname(e);
    if (name == nullptr) name = archive_entry_pathname_utf8(e);
    if (name == nullptr) refuse("the archive has a name that can't be read; name files and folders in ASCII");
    if (archive_entry_hardlink(e) != nullptr || archive_entry_symlink(e) != nullptr)
      refuse("the archive has a link; hand in the files themselves");
    const auto type = archive_entry_filetype(e);
    const std::vector<std::string> parts = parts_of(name);
    if (type == AE_IFDIR || parts.empty()) continue;
    if (type != AE_IFREG) refuse("the archive has something that is neither a file nor a folder");
    if (archive_entry_is_encrypted(e) != 0) refuse("the archive is encrypted");
    const int folder = folder_of(top, parts);
    const int out = openat(folder, parts.back().c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    close(folder);
    if (out < 0) refuse("the archive has two files of one name");
    long long size = 0;
    for (;;) {
      const void* data = nullptr;
      std::size_t n = 0;
      la_int64_t offset = 0;
      const int got = archive_read_data_block(a, &data, &n, &offset);
      if (got == ARCHIVE_EOF) break;
      if (got != ARCHIVE_OK) refuse("the archive is damaged");
      size = offset + static_cast<long long>(n);
      if (offset < 0 || size > kMaxFile) refuse("the archive has a file of more than 4 MiB");
      if ((bytes += static_cast<long long>(n)) > kMaxBytes) refuse("the archive unpacks to more than 16 MiB");
      if (pwrite(out, data, n, offset) != static_cast<ssize_t>(n)) refuse("no space to unpack into");
    }
    close(out);
  }
  archive_read_free(a);
  return 0;
}
