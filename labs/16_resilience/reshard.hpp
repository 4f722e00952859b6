// Task `reshard`: files of one grid of ranks, loaded by another. Host code only.
//
// A grid has `tensor` x `data` ranks; rank r is tensor part r / data and data part r % data.
//   Tensor parts. Part t of T has of a tensor that is split by rows the rows [rows t / T, rows (t + 1) / T), by columns
//     such columns; a tensor that is not split is whole in every part. A part's piece is row-major.
//   Buckets. Pieces of one bucket lie one after the other, in the order of the tensors. The bucket is padded with zeros
//     to a multiple of `data` elements.
//   Data parts. Of each padded bucket, rank d of D has elements [d n / D, (d + 1) n / D).
//   A rank's file has its parts of bucket 0, 1, ..., one after the other, padding included, as floats.
#pragma once
#include <cstdio>
#include <string>

#include "files/files.hpp"

enum class Split { none, rows, columns };

struct Tensor {
  int rows, columns;
  Split split;
  int bucket;  // never less than that of the tensor before it
};
struct Model {
  const Tensor* tensors;
  int count, buckets;
};
struct Grid {
  int tensor, data;
  int ranks() const { return tensor * data; }
};

// What a tensor part has of a tensor: rows and columns.
struct Piece {
  int first_row, rows, first_column, columns;
  long long elements() const { return 1LL * rows * columns; }
};
inline Piece piece_of(const Tensor& x, int t, int T) {
  Piece p{0, x.rows, 0, x.columns};
  if (x.split == Split::rows) p.first_row = x.rows * t / T, p.rows = x.rows * (t + 1) / T - p.first_row;
  if (x.split == Split::columns)
    p.first_column = x.columns * t / T, p.columns = x.columns * (t + 1) / T - p.first_column;
  return p;
}

inline std::string shard_path(int rank) {
  char name[32];
  std::snprintf(name, sizeof name, "ckpt/shard-%03d", rank);
  return name;
}

// Floats of a rank's file, padding included.
long long own_elements(const Model& model, Grid grid, int rank);

// Fills `own`, own_elements(model, to, rank) floats, with what this rank of the grid `to` would have in its file. Reads the
// files that the grid `from` has written, and of them only what it needs: neighbours in the file and in `own` with one
// request. A tensor that is not split is read from tensor part 0: copies in other tensor parts may differ in their last
// bits. Padding is 0.
void load_resharded(const Model& model, Grid from, Grid to, int rank, float* own);
