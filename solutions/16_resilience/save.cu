// Lab 16, task `save`: a checkpoint in parts that is there as a whole, or not at all.
// Run: ./ridge check 16 --task save
#include <algorithm>

#include "save.hpp"

// TASK(save)
namespace {

// A pwrite may take a part of the bytes; the next one says why.
bool write_all(int fd, const char* data, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes;) {
    const ssize_t n = files::pwrite(fd, data + at, bytes - at, static_cast<long long>(at));
    if (n <= 0) return false;
    at += static_cast<std::size_t>(n);
  }
  return true;
}

bool write_durably(const char* path, const char* data, std::size_t bytes) {
  const int fd = files::open(path, files::kWrite | files::kCreate | files::kTruncate);
  if (fd < 0) return false;
  const bool durable = write_all(fd, data, bytes) && files::fsync(fd) == 0;
  return files::close(fd) == 0 && durable;
}

bool sync_folder() {
  const int folder = files::open(kFolder);
  if (folder < 0) return false;
  const bool synced = files::fsync(folder) == 0;
  files::close(folder);
  return synced;
}

// All bytes of a file, or none where there is no such file.
std::string read_all(const char* path) {
  const int fd = files::open(path);
  if (fd < 0) return {};
  files::Status status;
  std::string bytes(files::fstat(fd, &status) == 0 ? static_cast<std::size_t>(status.bytes) : 0, '\0');
  std::size_t at = 0;
  for (ssize_t n = 1; n > 0 && at < bytes.size(); at += static_cast<std::size_t>(std::max<ssize_t>(n, 0)))
    n = files::pread(fd, bytes.data() + at, bytes.size() - at, static_cast<long long>(at));
  files::close(fd);
  bytes.resize(at);
  return bytes;
}

std::vector<Checkpoint> manifest() {
  std::vector<Checkpoint> named;
  if (!unpack(read_all(kManifest), named)) named.clear();
  return named;
}

}  // namespace

Part write_part(const char* state, long long bytes, long long step, int rank, int ranks) {
  const long long begin = part_begin(bytes, rank, ranks), n = part_begin(bytes, rank + 1, ranks) - begin;
  const Part part{n, hash_of(state + begin, static_cast<std::size_t>(n))};
  const std::string path = part_path(step, rank);
  for (const Checkpoint& c : manifest()) {  // what is named is not written over
    if (c.step != step || c.parts.size() <= static_cast<std::size_t>(rank)) continue;
    const Part& named = c.parts[static_cast<std::size_t>(rank)];
    if (named.bytes != part.bytes || named.hash != part.hash) return kFailed;
    if (read_all(path.c_str()) == std::string(state + begin, static_cast<std::size_t>(n))) return part;
  }
  return write_durably(path.c_str(), state + begin, static_cast<std::size_t>(n)) ? part : kFailed;
}

bool commit(long long step, const std::vector<Part>& parts) {
  for (const Part& part : parts)
    if (part.bytes < 0) return false;
  std::vector<Checkpoint> named = manifest(), dropped;
  std::erase_if(named, [&](const Checkpoint& c) { return c.step == step; });
  named.insert(named.begin(), {step, parts});
  while (named.size() > kKept) dropped.push_back(named.back()), named.pop_back();
  const std::string bytes = pack(named);
  // The names of the parts are durable before a manifest counts on them; the manifest's own name, when this returns.
  if (!write_durably(kNewManifest, bytes.data(), bytes.size()) || !sync_folder()) return false;
  if (files::rename(kNewManifest, kManifest) != 0 || !sync_folder()) return false;
  for (const Checkpoint& c : dropped)
    for (int rank = 0; rank < static_cast<int>(c.parts.size()); ++rank) files::unlink(part_path(c.step, rank).c_str());
  return true;
}

bool read_part(long long step, int rank, int ranks, char* to, long long room) {
  for (const Checkpoint& c : manifest()) {
    if (c.step != step || c.parts.size() != static_cast<std::size_t>(ranks)) continue;
    const Part& p = c.parts[static_cast<std::size_t>(rank)];
    const std::string bytes = read_all(part_path(step, rank).c_str());
    if (static_cast<std::int64_t>(bytes.size()) != p.bytes || p.bytes > room) return false;
    std::memcpy(to, bytes.data(), bytes.size());
    return hash_of(to, bytes.size()) == p.hash;
  }
  return false;
}

std::vector<long long> whole_steps(int rank, int ranks) {
  std::vector<long long> whole;
  for (const Checkpoint& c : manifest()) {
    if (c.parts.size() != static_cast<std::size_t>(ranks)) continue;
    std::string to(static_cast<std::size_t>(c.parts[static_cast<std::size_t>(rank)].bytes), '\0');
    if (read_part(c.step, rank, ranks, to.data(), static_cast<long long>(to.size()))) whole.push_back(c.step);
  }
  return whole;
}

long long agreed_step(const std::vector<std::vector<long long>>& whole) {
  for (long long step : whole.at(0))
    if (std::all_of(whole.begin(), whole.end(),
                    [&](const auto& w) { return std::find(w.begin(), w.end(), step) != w.end(); }))
      return step;
  return -1;
}
// END(save)
