// Task `elastic`: training goes on without a rank that dies, and takes it back when it returns. Host code only.
//
// Ranks agree through files, which all can see. Generation g is a file: who its members are, and after which step they
// go on. Generation 1 is there at the beginning. A newer one takes its place: all of its members load the checkpoint of
// its step, and no rank enters a collective of an older one any more.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>

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
  double started = 0;  // s: when its process started; above 0 it is not the rank's first one
  long long generation = 0;
  std::int64_t members = 0;  // bit r: rank r
  long long step = 0;        // steps that were made
  std::uint64_t state = 0;   // of the model, the same on all ranks
  bool is_member(int r) const { return (members >> r & 1) != 0; }
};
inline std::uint64_t updated(std::uint64_t state, std::uint64_t sum) { return state * 6364136223846793005u + sum; }

// What a rank sees of the others. Only the judge moves the clock, and answers.
class World {
 public:
  virtual double now() const = 0;
  // Seconds since the rank sent its last heartbeat. poll() of a rank that lives is one.
  virtual double silent(int rank) const = 0;

  // What the micro-batches from `first` to `last` - 1 of step me.step add to the sum.
  virtual std::uint64_t gradient(const Agent& me, int first, int last) = 0;
  // The sum of `mine` of all members of me.generation, for step me.step. False: one of them has not entered it yet; ask
  // again later. It never returns true if a member does not enter: a communicator with a dead rank hangs. A process that has
  // started again is in no communicator of its old self, so in no generation that was made before it started. Who the
  // members are, and at which step the generation begins, is what its file says.
  virtual bool all_reduce(const Agent& me, std::uint64_t mine, std::uint64_t& sum) = 0;

 protected:
  ~World() = default;
};

// Called every second for every rank that lives, one after another. Does what can be done at once, and returns: looks for
// a newer generation, starts one where it is needed, makes at most one step if all members are there for it, saves.
//   A step adds up the micro-batches 0 to kMicroBatches - 1: of m members the i-th takes those from share_begin(i, m) to
//     share_begin(i + 1, m), and computes no others. me.state = updated(me.state, sum).
//   After every step that kEvery divides, the first member saves the model.
//   After step kSteps nothing is left to do, but a rank may come back, or the first member may have died in the last
//     save. The run ends when all ranks that live have made kSteps steps and the model of that step is saved.
//   A generation whose file is not whole counts for nothing: its maker has died. A generation with a rank that is silent
//     for more than kTimeout cannot go on, nor one whose member has started again.
//   A generation begins at the step of the saved model, which is at most kEvery steps before the newest one. A death
//     needs one new generation at most, and so does a rank that starts again; a rank that is silent and comes back, two.
//   No collective may end for kStalled seconds, and a run takes kLongest seconds at most.
void poll(Agent& me, World& world);
