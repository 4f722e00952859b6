// Trains a small GPT on several ranks, saves it with your `save`, and goes on from the last checkpoint when it is started
// again, on any number of ranks. `experiments/job.sbatch` starts it through Slurm.
//
//   ridge cc --plain -std=c++20 -I runtime -I labs/16_resilience labs/16_resilience/experiments/train.cu
//     work/16_resilience/save.cu runtime/files/{real,here,client,threads}.cpp -lcublas -lnccl -o train
//   ./train FOLDER [--steps 120] [--every 4] [--micro-batches 12] [--attempt NAME] [--rank R --ranks N]
//
// FOLDER is on storage that all ranks share. Rank and number of ranks come from Slurm or Open MPI where they are not given.
// NAME is another one for each start. The gradient is the sum over micro-batches in their order, whoever has made which: so the
// weights are the same, bit by bit, on any number of ranks that is at most the number of micro-batches.
//
// SIGUSR1 and SIGTERM: the ranks end the step, save, and exit with 75 (start me again). 0: all steps are made and saved.
// FOLDER/events has a TensorBoard file of each start: loss, gradient norm, time of a step, goodput.
#include <nccl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "events.hpp"
#include "gpt_rank.cuh"
#include "save.hpp"

namespace {

constexpr int kStartAgain = 75;  // EX_TEMPFAIL of sysexits.h
volatile std::sig_atomic_t asked_to_stop = 0;

double wall() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }
void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess) throw std::runtime_error(std::string(what) + ": " + ncclGetErrorString(result));
}

struct Options {
  std::string folder, attempt = "0";
  long long steps = 120, every = 4;
  int micro_batches = 12, rank = 0, ranks = 1;
};

Options parse(int argc, char** argv) {
  Options o;
  const auto take = [](int& to, std::initializer_list<const char*> names) {
    for (const char* name : names)
      if (const char* value = std::getenv(name)) to = std::atoi(value);
  };
  take(o.rank, {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK"}), take(o.ranks, {"SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE"});
  if (argc < 2 || argc % 2 != 0)
    throw std::invalid_argument("usage: train FOLDER [--NAME VALUE]...; the head of train.cu has them");
  o.folder = argv[1];
  for (int i = 2; i < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--attempt")
      o.attempt = value;
    else if (name == "--steps")
      o.steps = std::stoll(value);
    else if (name == "--every")
      o.every = std::stoll(value);
    else if (name == "--micro-batches")
      o.micro_batches = std::stoi(value);
    else if (name == "--rank")
      o.rank = std::stoi(value);
    else if (name == "--ranks")
      o.ranks = std::stoi(value);
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if (o.ranks < 1 || o.rank < 0 || o.rank >= o.ranks || o.ranks > o.micro_batches || o.every < 1)
    throw std::invalid_argument("each rank needs a micro-batch, and ranks are numbered from 0");
  return o;
}

// sum[i]: of all[b][i] over the micro-batches b in their order. place[b]: the row of all that has micro-batch b. n columns.
__global__ void sum_in_order(const float* all, const int* place, float* sum, int micro_batches, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  float s = 0;
  for (int b = 0; b < micro_batches; ++b) s += all[static_cast<std::size_t>(place[b]) * n + i];
  sum[i] = s;
}

class Run {
 public:
  explicit Run(const Options& o) : o_(o), source_(GptRank::source()), gpt_(o.micro_batches) {
    rows_ = (o.micro_batches + o.ranks - 1) / o.ranks;
    columns_ = gpt_.elements() + 2;  // the gradient, the loss, and whether the rank was asked to stop
    const std::size_t bytes = rows_ * columns_ * 4;
    nn::check(cudaMalloc(&mine_, bytes), "own gradients");
    nn::check(cudaMalloc(&all_, bytes * static_cast<std::size_t>(o.ranks)), "all gradients");
    nn::check(cudaMalloc(&sum_, columns_ * 4), "their sum");
    nn::check(cudaMalloc(&place_, static_cast<std::size_t>(o.micro_batches) * 4), "places");
    nn::check(cudaMalloc(&message_, 16 * static_cast<std::size_t>(o.ranks + 1)), "a message");
    std::vector<int> place;
    for (int r = 0; r < o.ranks; ++r)
      for (int b = first(r); b < first(r + 1); ++b) place.push_back(static_cast<int>(rows_) * r + b - first(r));
    nn::check(cudaMemcpy(place_, place.data(), place.size() * 4, cudaMemcpyHostToDevice), "places");
    connect();
  }

  int train() {
    resume();
    std::printf("rank %d of %d, process %d: from step %lld\n", o_.rank, o_.ranks, static_cast<int>(getpid()),
                gpt_.step);
    std::fflush(stdout);
    std::optional<EventFile> events;
    if (o_.rank == 0)
      events.emplace(o_.folder + "/events/events.out.tfevents." + std::to_string(static_cast<long long>(wall())) + "." +
                         o_.attempt,
                     wall());
    bool stop = false;
    while (gpt_.step < o_.steps && !stop) {
      const double begin = wall();
      const std::vector<float> sum = one_step();
      double squares = 0;
      for (std::size_t i = 0; i < gpt_.elements(); ++i) squares += static_cast<double>(sum[i]) * sum[i];
      stop = sum[columns_ - 1] > 0;
      const double seconds = wall() - begin;
      kept_ += seconds;  // a save is no training
      if (gpt_.step % o_.every == 0 || gpt_.step == o_.steps || stop) save();
      if (events)
        events->scalars(wall(), gpt_.step,
                        {{"loss", sum[columns_ - 2]},
                         {"gradient_norm", static_cast<float>(std::sqrt(squares))},
                         {"step_time", static_cast<float>(seconds)},
                         {"goodput", static_cast<float>(kept_ / (wall() - began_))}});
    }
    const bool ended = gpt_.step >= o_.steps;
    if (o_.rank == 0)
      std::printf("%s step %lld, state %016llx, goodput %.3f\n", ended ? "ended after" : "stopped after", gpt_.step,
                  static_cast<unsigned long long>(hash_of(gpt_.state().data(), gpt_.state().size())),
                  kept_ / (wall() - began_));
    ncclCommDestroy(comm_);
    return ended ? 0 : kStartAgain;
  }

 private:
  int first(int rank) const { return o_.micro_batches * rank / o_.ranks; }

  // Rank 0 leaves NCCL's id in a file, which the others wait for.
  void connect() {
    const std::string path = o_.folder + "/id-" + o_.attempt;
    ncclUniqueId id;
    if (o_.rank == 0) {
      check(ncclGetUniqueId(&id), "ncclGetUniqueId");
      std::ofstream(path + ".new", std::ios::binary).write(reinterpret_cast<const char*>(&id), sizeof id);
      std::filesystem::rename(path + ".new", path);
    } else {
      for (int tries = 0; !std::ifstream(path, std::ios::binary).read(reinterpret_cast<char*>(&id), sizeof id);
           ++tries) {
        if (tries == 6000) throw std::runtime_error("rank 0 has left no " + path + " within a minute");
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    }
    check(ncclCommInitRank(&comm_, o_.ranks, id, o_.rank), "ncclCommInitRank");
  }

  // Rank 0 looks which checkpoint is whole, and says so; everybody loads all of its parts.
  void resume() {
    long long found[2] = {-1, 0};  // step, parts
    if (o_.rank == 0) {
      for (const Checkpoint& c : manifest()) {
        const auto parts = static_cast<int>(c.parts.size());
        std::vector<std::vector<long long>> whole;
        for (int p = 0; p < parts; ++p) whole.push_back(whole_steps(p, parts));
        if (found[0] < 0 && parts > 0) found[0] = agreed_step(whole), found[1] = parts;
      }
      nn::check(cudaMemcpy(message_, found, sizeof found, cudaMemcpyHostToDevice), "the step");
    }
    check(ncclBroadcast(message_, message_, sizeof found, ncclChar, 0, comm_, nullptr), "ncclBroadcast");
    nn::check(cudaMemcpy(found, message_, sizeof found, cudaMemcpyDeviceToHost), "the step");
    if (found[0] < 0) return;
    std::string s = state();
    const auto bytes = static_cast<long long>(s.size());
    const auto parts = static_cast<int>(found[1]);
    for (int p = 0; p < parts; ++p)
      if (const long long begin = part_begin(bytes, p, parts);
          !read_part(found[0], p, parts, s.data() + begin, part_begin(bytes, p + 1, parts) - begin))
        throw std::runtime_error("rank " + std::to_string(o_.rank) + " cannot read a part that rank 0 could");
    std::memcpy(&began_, s.data(), 8), std::memcpy(&kept_, s.data() + 8, 8);
    gpt_.restore(s.substr(16));
  }
  static std::vector<Checkpoint> manifest() {
    std::vector<Checkpoint> named;
    files::Status status;
    const int fd = files::open(kManifest);
    if (fd < 0 || files::fstat(fd, &status) != 0) return {};
    std::string bytes(static_cast<std::size_t>(status.bytes), '\0');
    files::pread(fd, bytes.data(), bytes.size(), 0);
    files::close(fd);
    return unpack(bytes, named) ? named : std::vector<Checkpoint>();
  }

  // Returns the gradient's sum, the loss, and how many ranks were asked to stop.
  std::vector<float> one_step() {
    nn::check(cudaMemset(mine_, 0, rows_ * columns_ * 4), "own gradients");
    for (int b = first(o_.rank); b < first(o_.rank + 1); ++b) {
      float* row = mine_ + static_cast<std::size_t>(b - first(o_.rank)) * columns_;
      float last[2] = {0, b == first(o_.rank) ? static_cast<float>(asked_to_stop) : 0};
      const float* g = gpt_.gradient(source_, b, &last[0]);
      nn::check(cudaMemcpy(row, g, gpt_.elements() * 4, cudaMemcpyDeviceToDevice), "a gradient");
      nn::check(cudaMemcpy(row + gpt_.elements(), last, 8, cudaMemcpyHostToDevice), "a loss");
    }
    check(ncclAllGather(mine_, all_, rows_ * columns_, ncclFloat, comm_, nullptr), "ncclAllGather");
    const int n = static_cast<int>(columns_);
    sum_in_order<<<(n + 127) / 128, 128>>>(all_, place_, sum_, o_.micro_batches, n);
    std::vector<float> sum(columns_);
    nn::check(cudaMemcpy(sum.data(), sum_, columns_ * 4, cudaMemcpyDeviceToHost), "the sum");
    gpt_.update(sum_);
    return sum;
  }

  // When the run began and the seconds of steps that are kept; then the GPT's state. Rank 0's clock counts, and all save the
  // same bytes.
  std::string state() {
    std::string s(16, '\0');
    std::memcpy(s.data(), &began_, 8), std::memcpy(s.data() + 8, &kept_, 8);
    return s + gpt_.state();
  }
  void save() {
    double clock[2] = {began_, kept_};
    nn::check(cudaMemcpy(message_, clock, sizeof clock, cudaMemcpyHostToDevice), "the clock");
    check(ncclBroadcast(message_, message_, sizeof clock, ncclChar, 0, comm_, nullptr), "ncclBroadcast");
    nn::check(cudaMemcpy(clock, message_, sizeof clock, cudaMemcpyDeviceToHost), "the clock");
    began_ = clock[0], kept_ = clock[1];
    const std::string s = state();
    const Part mine = write_part(s.data(), static_cast<long long>(s.size()), gpt_.step, o_.rank, o_.ranks);
    char* parts = message_ + 16;
    nn::check(cudaMemcpy(message_, &mine, sizeof mine, cudaMemcpyHostToDevice), "a part");
    check(ncclAllGather(message_, parts, sizeof mine, ncclChar, comm_, nullptr), "ncclAllGather");
    std::vector<Part> all(static_cast<std::size_t>(o_.ranks));
    nn::check(cudaMemcpy(all.data(), parts, all.size() * sizeof mine, cudaMemcpyDeviceToHost), "the parts");
    if (o_.rank == 0) commit(gpt_.step, all);
  }

  Options o_;
  nn::MarkovSource source_;
  GptRank gpt_;
  std::size_t rows_ = 0, columns_ = 0;
  float *mine_ = nullptr, *all_ = nullptr, *sum_ = nullptr;
  int* place_ = nullptr;
  char* message_ = nullptr;
  ncclComm_t comm_ = nullptr;
  double began_ = wall(), kept_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  for (int s : {SIGUSR1, SIGTERM}) std::signal(s, [](int) { asked_to_stop = 1; });
  try {
    const Options o = parse(argc, argv);
    std::filesystem::create_directories(o.folder + "/ckpt");
    std::filesystem::create_directories(o.folder + "/events");
    setenv("RIDGE_FILES", o.folder.c_str(), 1);
    return Run(o).train();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train: %s\n", e.what());
    return 1;
  }
}
