#include "plan.hpp"

namespace ridge::collectives {

namespace {

// Part c of n elements in p parts of nearly the same size.
std::size_t part_at(std::size_t n, int p, int c) {
  return n * static_cast<std::size_t>(c) / static_cast<std::size_t>(p);
}
std::size_t part_count(std::size_t n, int p, int c) { return part_at(n, p, c + 1) - part_at(n, p, c); }

int around(int r, int p) { return (r % p + p) % p; }

// One turn of the ring: in step s a rank sends part first - s and gets the one before it.
void add_turn(std::vector<Step>& steps, std::size_t n, int rank, int p, int first, bool reduce) {
  for (int s = 0; s + 1 < p; ++s) {
    const int sent = around(first - s, p), got = around(first - s - 1, p);
    steps.push_back({around(rank + 1, p), around(rank - 1, p), part_at(n, p, sent), part_count(n, p, sent),
                     part_at(n, p, got), part_count(n, p, got), reduce});
  }
}

}  // namespace

std::size_t elements_read(const Call& c, int rank, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  switch (c.what) {
    case What::reduce_scatter:
    case What::all_to_all:
      return p * c.count;
    case What::scatter:
      return rank == c.root ? p * c.count : 0;
    case What::broadcast:
      return rank == c.root ? c.count : 0;
    case What::receive:
      return 0;
    default:
      return c.count;
  }
}

std::size_t elements_written(const Call& c, int rank, int ranks) {
  const auto p = static_cast<std::size_t>(ranks);
  switch (c.what) {
    case What::all_gather:
    case What::all_to_all:
      return p * c.count;
    case What::gather:
      return rank == c.root ? p * c.count : 0;
    case What::reduce:
      return rank == c.root ? c.count : 0;
    case What::send:
      return 0;
    default:
      return c.count;
  }
}

Schedule schedule_of(const Call& c, int rank, int p) {
  Schedule s;
  const std::size_t n = c.count, all = n * static_cast<std::size_t>(p), own = n * static_cast<std::size_t>(rank);
  const int next = around(rank + 1, p), before = around(rank - 1, p);
  s.work = n;
  switch (c.what) {
    case What::all_reduce:
      add_turn(s.steps, n, rank, p, rank, true);
      add_turn(s.steps, n, rank, p, rank + 1, false);
      break;
    case What::reduce_scatter:
      s.work = all;
      s.output_at = own;
      add_turn(s.steps, all, rank, p, rank - 1, true);
      break;
    case What::all_gather:
      s.work = all;
      s.input_at = own;
      add_turn(s.steps, all, rank, p, rank, false);
      break;
    case What::broadcast:
      if (rank != c.root) s.steps.push_back({-1, before, 0, 0, 0, n, false});
      if (next != c.root) s.steps.push_back({next, -1, 0, n, 0, 0, false});
      break;
    case What::reduce:  // from the rank behind the root around to it
      if (before != c.root) s.steps.push_back({-1, before, 0, 0, 0, n, true});
      if (rank != c.root) s.steps.push_back({next, -1, 0, n, 0, 0, false});
      break;
    case What::all_to_all:
      s.work = 2 * all;
      s.output_at = all;
      for (int k = 1; k < p; ++k) {
        const int to = around(rank + k, p), from = around(rank - k, p);
        s.steps.push_back(
            {to, from, n * static_cast<std::size_t>(to), n, all + n * static_cast<std::size_t>(from), n, false});
      }
      break;
    case What::gather:
      if (rank != c.root) {
        s.steps.push_back({c.root, -1, 0, n, 0, 0, false});
        break;
      }
      s.work = all;
      s.input_at = own;
      for (int r = 0; r < p; ++r)
        if (r != rank) s.steps.push_back({-1, r, 0, 0, n * static_cast<std::size_t>(r), n, false});
      break;
    case What::scatter:
      if (rank != c.root) {
        s.steps.push_back({-1, c.root, 0, 0, 0, n, false});
        break;
      }
      s.work = all;
      s.output_at = own;
      for (int r = 0; r < p; ++r)
        if (r != rank) s.steps.push_back({r, -1, n * static_cast<std::size_t>(r), n, 0, 0, false});
      break;
    default:
      break;
  }
  return s;
}

}  // namespace ridge::collectives
