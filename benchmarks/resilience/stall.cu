// For how long a save stops training: lab 16's async_save beside a synchronous save, and beside no saves at all, in turns on
// a GPU and a real file system. stall.py builds it, runs it, and writes the record.
//
//   RIDGE_FILES=FOLDER stall [MIB] [SAVES] [TURNS]
//
// The state has MIB MiB (60 at most: a file request has 64). Steps are the lab's train_step. First a step and the parts of a
// save are measured; then the interval is made so long that half of it is enough for the storage. Runs have 1 save, and 1 +
// SAVES: the difference of their times has no last save in it, which has no training beside it whoever makes it. What
// is left over the same difference without saves, for each of the SAVES, is the stall. Every run's state and last checkpoint are
// compared with the state that the host computes. Prints one JSON object; all times are in s, of the host's clock.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "../../solutions/16_resilience/async_save.cu"  // store(), too

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "stall: %s\n", what.c_str());
  std::exit(1);
}
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) fail(std::string(what) + ": " + cudaGetErrorString(error));
}

struct Buffers {
  std::uint32_t* state;
  char* staging;
  cudaStream_t stream;
};

void queue(const Training& t, const Buffers& b, int first, int last) {
  for (int step = first; step <= last; ++step) train_step(b.state, step, t.words, b.stream);
}

// Training stands still until the storage has taken the state.
void train_and_wait(const Training& t, const Buffers& b) {
  for (int step = t.every; step <= t.steps; step += t.every) {
    queue(t, b, step - t.every + 1, step);
    cudaMemcpyAsync(b.staging + kHeadBytes, b.state, static_cast<std::size_t>(t.bytes()), cudaMemcpyDeviceToHost,
                    b.stream);
    cudaStreamSynchronize(b.stream);
    store(t, step, b.staging);
  }
}

std::vector<std::uint32_t> start_of(const Training& t) {
  std::vector<std::uint32_t> state(static_cast<std::size_t>(t.words));
  for (std::size_t i = 0; i < state.size(); ++i) state[i] = static_cast<std::uint32_t>(i * 2654435761u + 12345u);
  return state;
}
std::vector<std::uint32_t> end_of(const Training& t) {
  std::vector<std::uint32_t> state = start_of(t);
  for (int step = 1; step <= t.steps; ++step)
    for (std::uint32_t& w : state) w = w * 1664525u + static_cast<std::uint32_t>(step) * 2654435761u + 1013904223u;
  return state;
}

// The file holds the state behind the last step.
bool is_saved(const Training& t, const std::vector<std::uint32_t>& right) {
  const int fd = files::open(kState);
  if (fd < 0) return false;
  Head head{};
  std::vector<std::uint32_t> got(right.size());
  const auto bytes = static_cast<std::size_t>(t.bytes());
  const bool read = files::pread(fd, &head, sizeof head, 0) == sizeof head &&
                    files::pread(fd, got.data(), bytes, kHeadBytes) == static_cast<ssize_t>(bytes);
  files::close(fd);
  return read && got == right && head.step == t.steps && head.words == t.words &&
         head.hash == hash_of(got.data(), bytes);
}

double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}
void print(const char* name, const std::vector<double>& v) {
  std::printf("\"%s\": [", name);
  for (std::size_t i = 0; i < v.size(); ++i) std::printf("%s%.9g", i == 0 ? "" : ", ", v[i]);
  std::printf("], ");
}

enum Way { kNone, kSync, kAsync, kWays };
constexpr const char* kNames[kWays] = {"none", "synchronous", "async_save"};

}  // namespace

int main(int argc, char** argv) {
  const int mib = argc > 1 ? std::atoi(argv[1]) : 60, saves = argc > 2 ? std::atoi(argv[2]) : 6,
            turns = argc > 3 ? std::atoi(argv[3]) : 7;
  if (mib < 1 || mib > 60 || saves < 1 || turns < 1)
    fail("usage: RIDGE_FILES=FOLDER stall [MIB, at most 60] [SAVES] [TURNS]");
  if (int devices = 0; cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("{\"skipped\": \"there is no GPU\"}");
    return 0;
  }
  Training t{1, 1, mib << 18};
  Buffers b{};
  char* locked = nullptr;
  const auto bytes = static_cast<std::size_t>(t.bytes());
  check(cudaMalloc(&b.state, bytes), "state");
  check(cudaMallocHost(&locked, bytes + 2 * kHeadBytes), "page-locked memory");
  b.staging = locked +
              (kHeadBytes - static_cast<long long>(reinterpret_cast<std::uintptr_t>(locked) % kHeadBytes)) % kHeadBytes;
  check(cudaStreamCreate(&b.stream), "stream");
  files::mkdir(kFolder);
  const int probe = files::open(kNewState, files::kWrite | files::kCreate | files::kTruncate | files::kDirect);
  if (probe < 0) {
    std::printf("{\"skipped\": \"this file system opens no file with O_DIRECT: %s\"}\n", std::strerror(-probe));
    return 0;
  }
  files::close(probe);

  const auto begin = [&] {
    const std::vector<std::uint32_t> start = start_of(t);
    check(cudaMemcpy(b.state, start.data(), bytes, cudaMemcpyHostToDevice), "state");
  };
  // The parts of a save, by themselves: copy, hash, storage with its fsyncs and the rename.
  std::vector<double> step_s, copy_s, hash_s, store_s;
  begin();
  for (int i = 0; i < 5; ++i) {
    double at = now();
    queue(t, b, 1, 4);
    check(cudaStreamSynchronize(b.stream), "steps");
    step_s.push_back((now() - at) / 4), at = now();
    cudaMemcpyAsync(b.staging + kHeadBytes, b.state, bytes, cudaMemcpyDeviceToHost, b.stream);
    check(cudaStreamSynchronize(b.stream), "copy");
    copy_s.push_back(now() - at), at = now();
    volatile std::uint64_t hash = hash_of(b.staging + kHeadBytes, bytes);
    (void)hash;
    hash_s.push_back(now() - at), at = now();
    store(t, 1, b.staging);
    store_s.push_back(now() - at - hash_s.back());
  }
  const double save = median(hash_s) + *std::max_element(store_s.begin(), store_s.end());
  t.every = std::max(2, static_cast<int>(2 * save / median(step_s)) + 1);
  std::vector<std::uint32_t> right[2];
  for (int length = 0; length < 2; ++length) t.steps = t.every * (1 + length * saves), right[length] = end_of(t);

  std::vector<double> run[kWays][2];
  for (int turn = 0; turn <= turns; ++turn)  // the first one warms up
    for (int k = 0; k < 2 * kWays; ++k) {
      const int way = (k / 2 + turn) % kWays, length = k % 2;
      t.steps = t.every * (1 + length * saves);
      begin();
      files::unlink(kState);
      check(cudaDeviceSynchronize(), "before a run");
      const double at = now();
      if (way == kNone) queue(t, b, 1, t.steps);
      if (way == kSync) train_and_wait(t, b);
      if (way == kAsync) train_and_save(t, b.state, b.staging, b.stream);
      check(cudaStreamSynchronize(b.stream), "a run");
      if (turn > 0) run[way][length].push_back(now() - at);
      std::vector<std::uint32_t> got(right[length].size());
      check(cudaMemcpy(got.data(), b.state, bytes, cudaMemcpyDeviceToHost), "the state");
      if (got != right[length]) fail(std::string(kNames[way]) + ": the state at the end is wrong");
      if (way != kNone && !is_saved(t, got))
        fail(std::string(kNames[way]) + ": the last checkpoint is not the last state");
    }
  files::unlink(kState);
  std::printf("{\"bytes\": %zu, \"saves\": %d, \"every\": %d, ", bytes, saves, t.every);
  print("step", step_s), print("copy", copy_s), print("hash", hash_s), print("storage", store_s);
  for (int way : {kSync, kAsync}) {
    std::vector<double> stall;
    for (std::size_t i = 0; i < run[way][0].size(); ++i)
      stall.push_back((run[way][1][i] - run[way][0][i] - run[kNone][1][i] + run[kNone][0][i]) / saves);
    print((std::string("stall_") + kNames[way]).c_str(), stall);
  }
  std::printf("\"checked\": true}\n");
  return 0;
}
