// What each request costs: which resources it occupies, and for how long.
#include "file_system.hpp"

namespace ridge::files {

void FileSystem::charge(Reply& reply, std::int32_t resource, int stage, std::uint64_t bytes, double seconds) {
  counts_.busy[resource] += seconds;
  for (std::uint32_t i = 0; i < reply.pieces; ++i)
    if (Piece& p = reply.piece[i]; p.resource == resource && p.stage == stage) {
      p.bytes += bytes;
      p.seconds += seconds;
      return;
    }
  if (reply.pieces < kMostPieces) reply.piece[reply.pieces++] = {resource, stage, bytes, seconds};
}

void FileSystem::charge_targets(Reply& reply, const Layout& layout, std::uint64_t offset, std::uint64_t bytes) {
  const std::vector<std::uint64_t> all = bytes_by_target(storage_, layout, offset, bytes);
  for (std::size_t t = 0; t < all.size(); ++t) {
    if (all[t] == 0) continue;
    counts_.target_bytes[t] += all[t];
    ++counts_.target_requests[t];
    charge(reply, static_cast<std::int32_t>(t), 0, all[t], target_seconds(storage_, all[t]));
  }
  if (bytes > 0) reply.latency = storage_.latency;
}

void FileSystem::charge_metadata(Reply& reply) {
  ++counts_.metadata_requests;
  charge(reply, kMetadata, 0, 0, storage_.open_seconds);
  reply.latency = storage_.latency;
}

// Whole pages come from the targets, those that follow each other in one request; then the bytes are copied.
void FileSystem::charge_read(Reply& reply, const Open& o, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Disk::File& f = disk_.file(o.file);
  if ((o.flags & kDirect) != 0) return charge_targets(reply, f.layout, offset, bytes);
  const auto unit = static_cast<std::uint64_t>(storage_.alignment);
  const std::uint64_t last = (offset + bytes - 1) / unit;
  std::uint64_t missing = 0;  // pages before the current one
  for (std::uint64_t page = offset / unit; page <= last + 1; ++page) {
    if (page <= last && !cache_.touch(o.file, page)) {
      ++missing;
      continue;
    }
    if (missing > 0) {
      const std::uint64_t from = (page - missing) * unit, to = std::min<std::uint64_t>(page * unit, f.now.size());
      charge_targets(reply, f.layout, from, to - from);
      counts_.bytes_from_cache -= std::min(to, offset + bytes) - std::max(from, offset);
    }
    missing = 0;
  }
  counts_.bytes_from_cache += bytes;
  counts_.bytes_buffered += bytes;
  charge(reply, kPageCache, 1, bytes, static_cast<double>(bytes) / storage_.page_cache_bandwidth);
}

// A page that gets a part of its bytes is read first, unless it is there or all bytes that it has are replaced.
void FileSystem::charge_write(Reply& reply, const Open& o, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes == 0) return;
  const Disk::File& f = disk_.file(o.file);
  if ((o.flags & kDirect) != 0) return charge_targets(reply, f.layout, offset, bytes);
  const auto unit = static_cast<std::uint64_t>(storage_.alignment);
  counts_.bytes_buffered += bytes;
  const std::uint64_t first = offset / unit, last = (offset + bytes - 1) / unit;
  for (const std::uint64_t page : {first, last}) {
    const std::uint64_t from = page * unit, to = std::min<std::uint64_t>(from + unit, f.now.size());
    const bool kept = from < to && (offset > from || offset + bytes < to);
    if (kept && !cache_.holds(o.file, page)) charge_targets(reply, f.layout, from, to - from);
    if (first == last) break;
  }
  charge(reply, kPageCache, reply.pieces == 0 ? 0 : 1, bytes,
         static_cast<double>(bytes) / storage_.page_cache_bandwidth);
}

}  // namespace ridge::files
