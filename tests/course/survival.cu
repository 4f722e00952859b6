// A GPT of runtime/nn on four ranks that all die, again and again, and go on from their last checkpoint: at the end it has
// the same weights and moments, bit by bit, as one that nobody killed. Checkpoints are those of lab 16's task `save`.
//
//   ./survival KILLS SEED
//
// The ranks take turns in one process. Each has a model of its own; the gradient is the sum over micro-batches in their
// order, so it does not depend on who made which. A kill is in a step, of a random rank, or in a random change of the
// disk, of the process or of its node. All ranks start again behind it, as a job that is queued again does.
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "files/local.hpp"
#include "files/model/file_system.hpp"
#include "files/ranks.hpp"
#include "labs/16_resilience/experiments/gpt_rank.cuh"
#include "save.hpp"

namespace {

namespace vfs = ridge::files;
constexpr int kRanks = 4, kMicroBatches = 4, kSteps = 48, kEvery = 3, kChangesOfSave = 17;

// From the last checkpoint, if there is one, until a rank dies (false) or the last step is saved.
class Job {
 public:
  explicit Job(const nn::MarkovSource& source) : source_(source) {
    for (auto& r : ranks_) r = std::make_unique<GptRank>(kMicroBatches);
  }
  bool run() {
    if (!resume()) return false;
    while (ranks_[0]->step < kSteps)
      if (!one_step() || (ranks_[0]->step % kEvery == 0 && !save())) return false;
    return true;
  }
  long long step() const { return ranks_[0]->step; }
  std::string state(int rank) { return ranks_[static_cast<std::size_t>(rank)]->state(); }

 private:
  bool resume() {
    std::vector<std::vector<long long>> whole(kRanks);
    for (int r = 0; r < kRanks; ++r)
      if (!files::lives_through(r, [&] { whole[static_cast<std::size_t>(r)] = whole_steps(r, kRanks); })) return false;
    const long long from = agreed_step(whole);
    for (int r = 0; from >= 0 && r < kRanks; ++r) {
      std::string s = state(r);
      const auto bytes = static_cast<long long>(s.size());
      for (int part = 0; part < kRanks; ++part)
        if (const long long begin = part_begin(bytes, part, kRanks);
            !read_part(from, part, kRanks, s.data() + begin, bytes - begin))
          throw std::runtime_error("a part that was agreed on cannot be read");
      ranks_[static_cast<std::size_t>(r)]->restore(s);
    }
    return true;
  }
  bool one_step() {
    std::vector<std::vector<float>> of(kMicroBatches);
    for (int r = 0; r < kRanks; ++r) {
      GptRank& rank = *ranks_[static_cast<std::size_t>(r)];
      bool lives = files::lives_through(r, [&] { files::step(1000 * r + rank.step); });
      if (!lives) return false;
      for (int b = kMicroBatches * r / kRanks; b < kMicroBatches * (r + 1) / kRanks; ++b)
        of[static_cast<std::size_t>(b)] = gradient(rank, b);
    }
    std::vector<float> sum = of[0];
    for (int b = 1; b < kMicroBatches; ++b)
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of[static_cast<std::size_t>(b)][i];
    for (auto& r : ranks_) r->update(sum.data());
    return true;
  }
  std::vector<float> gradient(GptRank& rank, int b) const {
    std::vector<float> g(rank.elements());
    float loss = 0;
    nn::check(cudaMemcpy(g.data(), rank.gradient(source_, b, &loss), g.size() * 4, cudaMemcpyDeviceToHost),
              "a gradient");
    return g;
  }
  bool save() {
    std::vector<Part> parts(kRanks);
    for (int r = 0; r < kRanks; ++r) {
      const std::string s = state(r);  // out of the rank's part of this function: a death runs no destructor
      const bool lives = files::lives_through(r, [&] {
        parts[static_cast<std::size_t>(r)] = write_part(s.data(), static_cast<long long>(s.size()), step(), r, kRanks);
      });
      if (!lives) return false;
    }
    return files::lives_through(0, [&] { commit(step(), parts); });
  }

  const nn::MarkovSource& source_;
  std::unique_ptr<GptRank> ranks_[kRanks];
};

// Returns the state at the end, which is the same on all ranks.
std::string train(const nn::MarkovSource& source, int kills, std::uint64_t seed) {
  vfs::FileSystem owner(vfs::Storage{});
  owner.put_folder(kFolder);
  owner.reset_counts();
  vfs::use(&owner);
  nn::Random random(seed);
  int killed = 0;
  long long made = 0;
  for (;;) {
    std::vector<std::vector<long long>> whole(kRanks);
    for (int r = 0; r < kRanks; ++r)
      files::lives_through(r, [&] { whole[static_cast<std::size_t>(r)] = whole_steps(r, kRanks); });
    const long long from = std::max(0LL, agreed_step(whole));
    vfs::Faults faults;
    faults.seed = random.bits();
    faults.crash = random.below(2) == 0 ? vfs::Crash::process : vfs::Crash::node;
    if (killed < kills && random.below(2) == 0) {
      const auto rank = static_cast<int>(random.below(kRanks));
      faults.deaths.push_back(
          {.rank = rank, .at_step = 1000 * rank + from + static_cast<long long>(random.below(kEvery + 1))});
    } else if (killed < kills) {
      faults.deaths.push_back({.rank = -1, .at_change = 1 + random.below(kChangesOfSave)});
    }
    owner.set_faults(faults);
    Job job(source);
    const bool ended = job.run();
    made += job.step() - from;
    if (!ended) {
      ++killed;
      owner.restart();
      continue;
    }
    std::printf("%d kills, %lld steps made for %d\n", killed, made, kSteps);
    const std::string state = job.state(0);
    for (int r = 1; r < kRanks; ++r)
      if (job.state(r) != state) throw std::runtime_error("ranks have different states at the end");
    vfs::use(nullptr);
    return state;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return std::fprintf(stderr, "usage: survival KILLS SEED\n"), 2;
  try {
    const nn::MarkovSource source = GptRank::source();
    const std::string alone = train(source, 0, 1);
    const std::string killed = train(source, std::atoi(argv[1]), std::strtoull(argv[2], nullptr, 10));
    std::puts(alone == killed ? "equal to the last bit" : "different");
    return alone == killed ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "survival: %s\n", e.what());
    return 1;
  }
}
