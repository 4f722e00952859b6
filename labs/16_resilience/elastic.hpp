// Task `elastic`: training goes on without a rank that dies, and takes it back when it returns. Host code only.
//
// Ranks agree through files, which all can see. Generation g is a file: who its members are, and behind which step they
// go on. Generation 1 is there at the beginning. A newer one takes its place: all of its members load the checkpoint of
// its step, and no rank enters a collective of an older one any more.
#pragma once
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "elastic_plan.hpp"
#include "files/files.hpp"
#include "save.hpp"

inline std::string generation_path(long long generation) {
  char name[40];
  std::snprintf(name, sizeof name, "ckpt/generation-%06lld", generation);
  return name;
}
constexpr const char* kModel = "ckpt/model";
constexpr const char* kNewModel = "ckpt/model.new";

// The bytes of both kinds of file. hash: of all that follows it.
struct Generation {
  std::uint64_t hash;
  std::int64_t step;     // that was saved
  std::int64_t members;  // bit r: rank r
};
struct SavedModel {
  std::uint64_t hash;
  std::int64_t step;  // steps that were made
  std::uint64_t state;
};
template <class T>
T sealed(T t) {
  t.hash = hash_of(reinterpret_cast<const char*>(&t) + 8, sizeof t - 8);
  return t;
}
template <class T>
bool is_whole(const T& t) {
  return t.hash == sealed(t).hash;
}
// False where the file is not there, or not whole.
template <class T>
bool read_whole(const char* path, T& to) {
  const int fd = files::open(path);
  if (fd < 0) return false;
  const bool whole = files::pread(fd, &to, sizeof to, 0) == sizeof to && is_whole(to);
  files::close(fd);
  return whole;
}

// A rank's memory, which is gone when it dies. A new process begins with generation 0.
struct Agent {
  int rank = 0;
  long long generation = 0;
  std::int64_t members = 0;  // bit r: rank r
  long long step = 0;        // steps that were made
  std::uint64_t state = 0;   // of the model, the same on all ranks
  bool is_member(int r) const { return (members >> r & 1) != 0; }
};

// What a rank sees of the others. Only the judge moves the clock.
class World {
 public:
  double now() const { return now_; }
  // Seconds since the rank gave a sign of life. poll() of a rank that lives is one.
  double silent(int rank) const { return now_ - sign_[rank]; }

  // The sum of `mine` of all members of me.generation, for step me.step. False: one of them has not entered it yet; ask again
  // later. It never returns true if a member does not enter: a communicator with a dead rank hangs. A process that has
  // started again is in no communicator of its old self, so in no generation that was made before it started.
  bool all_reduce(const Agent& me, std::uint64_t mine, std::uint64_t& sum) {
    Collective& c = collectives_[{me.generation, me.step}];
    waits_[me.rank] = {me.generation, me.step, me.members};
    if (me.generation <= of_old_self_[me.rank]) return false;
    c.mine[me.rank] = mine, c.entered |= std::int64_t{1} << me.rank;
    if ((me.members & ~c.entered) != 0) return false;
    waits_[me.rank] = {};
    sum = 0;
    for (int r = 0; r < kWorkers; ++r)
      if (me.is_member(r)) sum += c.mine[r];
    if (!c.done) c.done = true, made_ += sum == sum_of_step(me.step) ? 1 : 0;
    return true;
  }

 private:
  friend class Play;
  struct Collective {
    std::uint64_t mine[kWorkers] = {};
    std::int64_t entered = 0;
    bool done = false;
  };
  struct Waits {
    long long generation = 0, step = 0;
    std::int64_t members = 0;
  };
  std::uint64_t sum_of_step(long long step) const {
    std::uint64_t sum = 0;
    for (int b = 0; b < kMicroBatches; ++b) sum += gradient_of(seed_, step, b);
    return sum;
  }
  std::uint64_t seed_ = 0;
  double now_ = 0, sign_[kWorkers] = {};
  std::map<std::pair<long long, long long>, Collective> collectives_;
  Waits waits_[kWorkers];
  long long of_old_self_[kWorkers] = {};  // the newest generation when the rank's process started
  long long made_ = 0;                    // collectives with the sum of all micro-batches
};

// Called every second for every rank that lives, one after another. Does what can be done at once, and returns: looks for
// a newer generation, makes one where it is needed, makes a step if all members are there for it, saves.
//   A step adds up the micro-batches 0 to kMicroBatches - 1: of m members the i-th takes those from kMicroBatches i / m to
//     kMicroBatches (i + 1) / m. me.state = updated(me.state, sum).
//   Behind every step that kEvery divides, the first member saves the model.
//   Behind step kSteps nothing is left to do, but a rank may come back, or the first member may have died in the last
//     save. The run ends when all ranks that live have made kSteps steps and the model of that step is saved.
//   A generation whose file is not whole counts for nothing: its maker has died. A generation with a rank that is silent
//     for more than kTimeout cannot go on, nor one whose member has started again.
void poll(Agent& me, World& world, std::uint64_t seed);
