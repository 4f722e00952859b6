// Lab 16, task `elastic`: training goes on without a rank that dies, and takes it back when it returns.
// Run: ./ridge check 16 --task elastic
#include "elastic.hpp"

// TASK(elastic)
namespace {

template <class T>
bool write_durably(const char* path, const T& from, unsigned flags) {
  const int fd = files::open(path, files::kWrite | files::kCreate | flags);
  if (fd < 0) return false;
  files::pwrite(fd, &from, sizeof from, 0);
  files::fsync(fd);
  files::close(fd);
  return true;
}

void sync_folder() {
  const int folder = files::open(kFolder);
  files::fsync(folder);
  files::close(folder);
}

// True where the file is there, whole or not.
bool exists(long long generation) {
  const int fd = files::open(generation_path(generation).c_str());
  if (fd >= 0) files::close(fd);
  return fd >= 0;
}

void save(const Agent& me) {
  write_durably(kNewModel, sealed(SavedModel{0, me.step, me.state}), files::kTruncate);
  files::rename(kNewModel, kModel);
  sync_folder();
}

// Takes the newest whole generation, if it is newer than the own one. Returns the number of the newest file.
long long adopt(Agent& me) {
  long long newest = me.generation;
  for (; exists(newest + 1); ++newest) {
    Generation g;
    if (!read_whole(generation_path(newest + 1).c_str(), g)) continue;
    me.generation = newest + 1, me.members = g.members;
  }
  return newest;
}

}  // namespace

void poll(Agent& me, World& world, std::uint64_t seed) {
  const bool started_again = me.generation == 0 && world.now() > 0;
  const long long before = me.generation;
  const long long newest = adopt(me);
  // Everybody who gives signs belongs to it; a rank that started again breaks a generation, even one that names it.
  std::int64_t alive = std::int64_t{1} << me.rank;
  for (int r = 0; r < kWorkers; ++r)
    if (me.is_member(r) && world.silent(r) <= kTimeout) alive |= std::int64_t{1} << r;
  if (alive != me.members || started_again) {
    SavedModel saved{0, 0, 0};
    if (!read_whole(kModel, saved)) saved = {0, 0, 0};
    if (write_durably(generation_path(newest + 1).c_str(), sealed(Generation{0, saved.step, alive}),
                      files::kExclusive)) {
      sync_folder();
      me.generation = newest + 1, me.members = alive;
    }
  }
  if (me.generation != before) {  // all members go on from the same step
    SavedModel saved{0, 0, 0};
    if (!read_whole(kModel, saved)) saved = {0, 0, 0};
    me.step = saved.step, me.state = saved.state;
  }
  if (me.step == kSteps) return;
  int index = 0, count = 0;
  for (int r = 0; r < kWorkers; ++r) index += r < me.rank && me.is_member(r), count += me.is_member(r);
  std::uint64_t mine = 0, sum = 0;
  for (int b = kMicroBatches * index / count; b < kMicroBatches * (index + 1) / count; ++b)
    mine += gradient_of(seed, me.step, b);
  if (!world.all_reduce(me, mine, sum)) return;
  me.state = updated(me.state, sum);
  if (++me.step % kEvery == 0 && index == 0) save(me);
}
// END(elastic)
