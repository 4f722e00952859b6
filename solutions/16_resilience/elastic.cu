// Lab 16, task `elastic`: training goes on without a rank that dies, and takes it back when it returns.
// Run: ./ridge check 16 --task elastic
#include "elastic.hpp"

// TASK(elastic)
namespace {

template <class T>
bool write_durably(const char* path, const T& from, unsigned flags) {
  const int fd = files::open(path, files::kWrite | files::kCreate | flags);
  if (fd < 0) return false;
  const bool durable = files::pwrite(fd, &from, sizeof from, 0) == sizeof from && files::fsync(fd) == 0;
  return files::close(fd) == 0 && durable;
}

bool sync_folder() {
  const int folder = files::open(kFolder);
  if (folder < 0) return false;
  const bool synced = files::fsync(folder) == 0;
  files::close(folder);
  return synced;
}

// True where the file is there, whole or not.
bool exists(long long generation) {
  const int fd = files::open(generation_path(generation).c_str());
  if (fd >= 0) files::close(fd);
  return fd >= 0;
}

// Where a call fails, the old model stays, and the next save tries again.
void save(const Agent& me) {
  if (write_durably(kNewModel, sealed(SavedModel{0, me.step, me.state}), files::kTruncate) &&
      files::rename(kNewModel, kModel) == 0)
    sync_folder();
}

// Takes the newest whole generation, if it is newer than the own one, and its step. Returns the number of the newest file.
long long adopt(Agent& me) {
  long long newest = me.generation;
  for (; exists(newest + 1); ++newest) {
    Generation g;
    if (!read_whole(generation_path(newest + 1).c_str(), g)) continue;
    me.generation = newest + 1, me.members = g.members, me.step = g.step;
  }
  return newest;
}

// No model yet: step 0.
SavedModel saved_model() {
  SavedModel saved{0, 0, 0};
  return read_whole(kModel, saved) ? saved : SavedModel{0, 0, 0};
}

}  // namespace

void poll(Agent& me, World& world) {
  const bool started_again = me.generation == 0 && me.started > 0;
  const long long before = me.generation;
  const long long newest = adopt(me);
  // Everybody who sends heartbeats belongs to it; a rank that started again breaks a generation, even one that names it.
  std::int64_t alive = std::int64_t{1} << me.rank;
  for (int r = 0; r < kWorkers; ++r)
    if (me.is_member(r) && world.silent(r) <= kTimeout) alive |= std::int64_t{1} << r;
  if (alive != me.members || started_again) {
    const Generation next{0, saved_model().step, alive};
    if (write_durably(generation_path(newest + 1).c_str(), sealed(next), files::kExclusive) && sync_folder())
      me.generation = newest + 1, me.members = alive, me.step = next.step;
  }
  // All members go on from the step of the generation. Nobody saves before its first collective.
  if (me.generation != before) me.state = saved_model().state;
  if (me.step == kSteps) return;
  int index = 0, count = 0;
  for (int r = 0; r < kWorkers; ++r) index += r < me.rank && me.is_member(r), count += me.is_member(r);
  const std::uint64_t mine = world.gradient(me, share_begin(index, count), share_begin(index + 1, count));
  std::uint64_t sum = 0;
  if (!world.all_reduce(me, mine, sum)) return;
  me.state = updated(me.state, sum);
  if (++me.step % kEvery == 0 && index == 0) save(me);
}
// END(elastic)
