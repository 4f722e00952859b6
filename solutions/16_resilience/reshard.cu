// Lab 16, task `reshard`: files of one grid of ranks, loaded by another.
// Run: ./ridge check 16 --task reshard
#include <vector>

#include "reshard.hpp"

// TASK(reshard)
namespace {

// Elements that each rank of tensor part t has of a bucket, padding included.
long long part_of_bucket(const Model& model, Grid grid, int bucket, int t) {
  long long n = 0;
  for (int k = 0; k < model.count; ++k)
    if (model.tensors[k].bucket == bucket) n += piece_of(model.tensors[k], t, grid.tensor).elements();
  return (n + grid.data - 1) / grid.data;
}

// Which float of which rank's file: element i of tensor part t's piece of tensor k.
struct Place {
  int rank;
  long long element;
};
Place place_of(const Model& model, Grid grid, int k, int t, long long i) {
  const int bucket = model.tensors[k].bucket;
  for (int before = 0; before < k; ++before)
    if (model.tensors[before].bucket == bucket) i += piece_of(model.tensors[before], t, grid.tensor).elements();
  const long long part = part_of_bucket(model, grid, bucket, t);
  long long element = i % part;
  for (int b = 0; b < bucket; ++b) element += part_of_bucket(model, grid, b, t);
  return {t * grid.data + static_cast<int>(i / part), element};
}

// Where the grid `from` has an element: the first tensor part whose piece it is in.
Place find(const Model& model, Grid from, int k, int row, int column) {
  for (int t = 0;; ++t) {
    const Piece p = piece_of(model.tensors[k], t, from.tensor);
    const int r = row - p.first_row, c = column - p.first_column;
    if (r >= 0 && r < p.rows && c >= 0 && c < p.columns) return place_of(model, from, k, t, 1LL * r * p.columns + c);
  }
}

}  // namespace

long long own_elements(const Model& model, Grid grid, int rank) {
  long long n = 0;
  for (int bucket = 0; bucket < model.buckets; ++bucket) n += part_of_bucket(model, grid, bucket, rank / grid.data);
  return n;
}

void load_resharded(const Model& model, Grid from, Grid to, int rank, float* own) {
  std::vector<int> fds;
  for (int r = 0; r < from.ranks(); ++r) fds.push_back(files::open(shard_path(r).c_str()));
  // Neighbours that are read with one request.
  Place first{0, 0};
  long long at = 0, length = 0;
  const auto read = [&] {
    if (length > 0)
      files::pread(fds[static_cast<std::size_t>(first.rank)], own + at, static_cast<std::size_t>(length) * 4,
                   first.element * 4);
    length = 0;
  };
  const int t = rank / to.data;
  for (long long i = 0; i < own_elements(model, to, rank); ++i) own[i] = 0;
  for (int k = 0; k < model.count; ++k) {
    const Piece p = piece_of(model.tensors[k], t, to.tensor);
    for (long long i = 0; i < p.elements(); ++i) {
      const Place mine = place_of(model, to, k, t, i);
      if (mine.rank != rank) continue;
      const Place theirs = find(model, from, k, p.first_row + static_cast<int>(i / p.columns),
                                p.first_column + static_cast<int>(i % p.columns));
      if (length == 0 || theirs.rank != first.rank || theirs.element != first.element + length ||
          mine.element != at + length) {
        read();
        first = theirs, at = mine.element;
      }
      ++length;
    }
  }
  read();
  for (int fd : fds) files::close(fd);
}
// END(reshard)
