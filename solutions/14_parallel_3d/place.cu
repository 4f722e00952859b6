// Lab 14, task `place`: a GPU for each rank.
//
// Run: ./ridge check 14 --task place
#include "place.hpp"

// TASK(place)
#include <algorithm>
#include <vector>

void bytes_by_level(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, const int* gpu_of,
                    std::int64_t* bytes) {
  std::fill_n(bytes, levels_of(cluster), 0);
  for (int r = 0; r < sizes.ranks(); ++r) {
    const Coordinates at = coordinates(sizes, r);
    auto send = [&](const Coordinates& to, std::int64_t count) {
      if (const int other = rank_of(sizes, to); other != r) bytes[level_of(cluster, gpu_of[r], gpu_of[other])] += count;
    };
    send({at.data, at.pipeline, (at.tensor + 1) % sizes.tensor}, traffic.tensor);
    send({(at.data + 1) % sizes.data, at.pipeline, at.tensor}, traffic.data);
    if (at.pipeline + 1 < sizes.pipeline) send({at.data, at.pipeline + 1, at.tensor}, 2 * traffic.pipeline);
  }
}

namespace {

// A container of level l is a box of part[l][0] x part[l][1] x part[l][2] containers of the level below: tensor, data,
// pipeline.
struct Boxes {
  int part[kMostLevels][3];
};

void map(const Sizes& sizes, const Cluster& cluster, const Boxes& boxes, int* gpu_of) {
  for (int r = 0; r < sizes.ranks(); ++r) {
    const Coordinates at = coordinates(sizes, r);
    int rest[3] = {at.tensor, at.data, at.pipeline};
    gpu_of[r] = 0;
    for (int l = 0; l < cluster.containers; ++l) {
      int index = 0;
      for (int k = 2; k >= 0; --k) {
        const int n = boxes.part[l][k], digit = rest[k] % n;
        rest[k] /= n;
        // Every other box runs backwards: neighbours of two boxes then have the same index in them, and so the same
        // rail.
        index = index * n + (rest[k] % 2 != 0 ? n - 1 - digit : digit);
      }
      gpu_of[r] += index * (l > 0 ? cluster.gpus[l - 1] : 1);
    }
  }
}

}  // namespace

void place(const Sizes& sizes, const Cluster& cluster, const Traffic& traffic, int* gpu_of) {
  const int levels = levels_of(cluster);
  std::vector<int> trial(static_cast<std::size_t>(sizes.ranks()));
  std::vector<std::int64_t> least, bytes(static_cast<std::size_t>(levels));
  Boxes boxes{};
  // Tries all boxes of level l and above, where t, d, p of each size are left.
  auto search = [&](auto&& self, int l, int t, int d, int p) -> void {
    if (l == cluster.containers) {
      map(sizes, cluster, boxes, trial.data());
      bytes_by_level(sizes, cluster, traffic, trial.data(), bytes.data());
      if (least.empty() || std::lexicographical_compare(bytes.rbegin(), bytes.rend(), least.rbegin(), least.rend()))
        least = bytes, std::copy(trial.begin(), trial.end(), gpu_of);
      return;
    }
    const int inside = cluster.gpus[l] / (l > 0 ? cluster.gpus[l - 1] : 1);
    for (int a = 1; a <= inside; a *= 2)
      for (int b = 1; a * b <= inside; b *= 2) {
        const int c = inside / (a * b);
        if (t % a != 0 || d % b != 0 || p % c != 0) continue;
        boxes.part[l][0] = a, boxes.part[l][1] = b, boxes.part[l][2] = c;
        self(self, l + 1, t / a, d / b, p / c);
      }
  };
  search(search, 0, sizes.tensor, sizes.data, sizes.pipeline);
}
// END(place)
