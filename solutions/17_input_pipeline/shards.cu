// Lab 17, task `shards`: samples in few large files, and who takes which sample when. Host code only; shards.hpp has
// the format and the rules.
// Run: ./ridge check 17 --task shards
#include <algorithm>
#include <cstring>
#include <numeric>

#include "shards.hpp"

// TASK(shards)
namespace {

bool write_file(const std::string& path, const void* data, std::size_t bytes) {
  const int fd = files::open(path.c_str(), files::kWrite | files::kCreate | files::kTruncate);
  if (fd < 0) return false;
  const bool good = files::pwrite(fd, data, bytes, 0) == static_cast<ssize_t>(bytes) && files::fsync(fd) == 0;
  return files::close(fd) == 0 && good;
}

}  // namespace

int write_shards(const Samples& samples, long long shard_bytes) {
  std::vector<IndexEntry> index(static_cast<std::size_t>(samples.count));
  std::vector<unsigned char> shard;
  int number = 0;
  for (long long i = 0; i < samples.count; ++i) {
    const unsigned char* sample = samples.bytes + samples.begin[i];
    const auto bytes = static_cast<std::size_t>(samples.begin[i + 1] - samples.begin[i]);
    const std::size_t with = shard.size() + sizeof(RecordHead) + bytes;
    if (!shard.empty() && with > static_cast<std::size_t>(shard_bytes)) {
      write_file(shard_path(number++), shard.data(), shard.size());
      shard.clear();
    }
    index[i] = {static_cast<std::int64_t>(shard.size()), number, static_cast<std::int32_t>(bytes)};
    const RecordHead head{static_cast<std::uint32_t>(bytes), checksum(sample, bytes)};
    const auto* h = reinterpret_cast<const unsigned char*>(&head);
    shard.insert(shard.end(), h, h + sizeof head);
    shard.insert(shard.end(), sample, sample + bytes);
  }
  if (!shard.empty()) write_file(shard_path(number++), shard.data(), shard.size());
  write_file(kIndexPath, index.data(), index.size() * sizeof(IndexEntry));
  return number;
}

bool open_shards(Shards& shards) {
  const int fd = files::open(kIndexPath);
  files::Status status;
  if (fd < 0 || files::fstat(fd, &status) != 0) return false;
  shards.index.resize(static_cast<std::size_t>(status.bytes) / sizeof(IndexEntry));
  const ssize_t n = files::pread(fd, shards.index.data(), static_cast<std::size_t>(status.bytes), 0);
  files::close(fd);
  if (n != status.bytes || shards.index.empty()) return false;
  for (int shard = 0; shard <= shards.index.back().shard; ++shard) {
    shards.fd.push_back(files::open(shard_path(shard).c_str()));
    if (shards.fd.back() < 0) return false;
  }
  return true;
}

long long read_sample(const Shards& shards, long long sample, unsigned char* to) {
  const IndexEntry& e = shards.index[static_cast<std::size_t>(sample)];
  const std::size_t bytes = sizeof(RecordHead) + static_cast<std::size_t>(e.bytes);
  if (files::pread(shards.fd[e.shard], to, bytes, e.offset) != static_cast<ssize_t>(bytes)) return -1;
  RecordHead head;
  std::memcpy(&head, to, sizeof head);
  if (head.bytes != static_cast<std::uint32_t>(e.bytes)) return -1;
  return head.checksum == checksum(to + sizeof head, head.bytes) ? e.bytes : -1;
}

void epoch_order(std::uint64_t seed, long long epoch, std::vector<long long>& order) {
  std::iota(order.begin(), order.end(), 0LL);
  for (std::size_t i = order.size(); i > 1; --i)  // Fisher and Yates
    std::swap(order[i - 1], order[random_below(seed, static_cast<std::uint64_t>(epoch), i, i)]);
}

void next_batch(const Epochs& epochs, Cursor& cursor, int rank, int ranks, std::vector<long long>& mine) {
  std::vector<long long> order(static_cast<std::size_t>(epochs.samples));
  epoch_order(epochs.seed, cursor.epoch, order);
  const long long n = std::min<long long>(epochs.batch, epochs.samples - cursor.position);
  const auto first = order.begin() + cursor.position;
  mine.assign(first + n * rank / ranks, first + n * (rank + 1) / ranks);
  cursor.position += n;
  if (cursor.position == epochs.samples) cursor = {cursor.epoch + 1, 0};
}
// END(shards)
