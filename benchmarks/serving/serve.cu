// Serves a trace of requests with runtime/nn's GPT and lab 15's solution, and prints a line of JSON a run: when each request
// had its first and its last token, in seconds from the run's start. README.md says how to build and run it.
//
//   serve TRACE [--model gpt2-124m|toy|toy-128] [--pages N] [--rate R] [--all-at-once] [--eager] [--runs N] [--check N]
//               [--clock steps] [--seed S]
//
// Weights are drawn. The answers to --check requests are held against a forward pass without a cache: at the start of the first
// ones, which share a small cache, and after each run of some of the whole trace.
// --rate R: R times as many requests a second as in the trace. --clock steps: time is counted by lab 15's cost model.
#include <chrono>
#include <cstdio>
#include <thread>

#include "check.cuh"
#include "engine.cuh"
#include "requests.hpp"

namespace {

using serving::Arrival;

struct Options {
  std::string trace, model = "gpt2-124m";
  int pages = 4096, runs = 1, check = 8;
  double rate = 1;
  bool at_once = false, eager = false, counted = false;
  std::uint64_t seed = 1;
};

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    auto value = [&] {
      if (++i == argc) throw std::invalid_argument("no value after " + name);
      return std::string(argv[i]);
    };
    if (name == "--all-at-once")
      o.at_once = true;
    else if (name == "--eager")
      o.eager = true;
    else if (name == "--model")
      o.model = value();
    else if (name == "--pages")
      o.pages = std::stoi(value());
    else if (name == "--rate")
      o.rate = std::stod(value());
    else if (name == "--runs")
      o.runs = std::stoi(value());
    else if (name == "--check")
      o.check = std::stoi(value());
    else if (name == "--seed")
      o.seed = std::stoull(value());
    else if (name == "--clock")
      o.counted = value() == "steps";
    else if (name.rfind("--", 0) != 0 && o.trace.empty())
      o.trace = name;
    else
      throw std::invalid_argument("unknown argument " + name);
  }
  if (o.trace.empty() || o.rate <= 0 || o.pages < 1 || o.runs < 1 || o.check < 0)
    throw std::invalid_argument(
        "serve TRACE [--model NAME] [--pages N] [--rate R] [--runs N] [--check N]; see serve.cu");
  return o;
}

// Two models are for the emulator: the solution's attention wants heads of 64 or 128 channels.
nn::ModelConfig config(const std::string& name) {
  if (name == "toy") return {509, 96, 2, 2, 128, true};
  if (name == "toy-128") return {509, 96, 1, 1, 128, true};
  return nn::model_config(name);
}

// Seconds since the run began: of the machine's clock, or of lab 15's cost model.
class Clock {
 public:
  explicit Clock(bool counted) : counted_(counted) {}
  double now() const {
    return counted_ ? seconds_ : std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  void wait_until(double seconds) {
    if (counted_) seconds_ = std::max(seconds_, seconds);
    while (now() < seconds) std::this_thread::yield();
  }
  void stepped(const std::vector<serving::Part>& parts) {
    int tokens = 0;
    long long cached = 0;
    for (const serving::Part& p : parts) tokens += p.count, cached += p.before + p.count;
    if (counted_) seconds_ += step_seconds(tokens, cached);
  }

 private:
  bool counted_;
  double seconds_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Played {
  std::vector<double> first, last;
  double seconds;
  long long steps, tokens;
};

Played play(const std::vector<Arrival>& trace, serving::Scheduler& scheduler, serving::Engine& engine, int vocabulary,
            Clock clock) {
  Played p{std::vector<double>(trace.size()), std::vector<double>(trace.size()), 0, 0, 0};
  std::vector<std::vector<int>> prompts;
  for (std::size_t i = 0; i < trace.size(); ++i)
    prompts.push_back(serving::prompt_of(trace[i], static_cast<int>(i), vocabulary));
  for (std::size_t next = 0; next < trace.size() || !scheduler.idle();) {
    for (; next < trace.size() && trace[next].seconds <= clock.now(); ++next)
      scheduler.arrive(trace[next].seconds, std::move(prompts[next]), trace[next].answer);
    if (scheduler.idle()) {
      clock.wait_until(trace[next].seconds);
      continue;
    }
    const std::vector<serving::Part>& parts = scheduler.plan(clock.now());
    if (parts.empty()) continue;
    const std::vector<int> tokens = engine.step(parts, scheduler.decodes());
    clock.stepped(parts);
    const double now = clock.now();
    scheduler.ended(tokens, [&](int request, bool first, bool last) {
      if (first) p.first[static_cast<std::size_t>(request)] = now;
      if (last) p.last[static_cast<std::size_t>(request)] = now;
      ++p.tokens;
    });
    ++p.steps;
    p.seconds = now;
  }
  if (scheduler.owned() != 0) throw std::runtime_error(std::to_string(scheduler.owned()) + " pages leaked");
  return p;
}

void print(const char* name, const std::vector<double>& values) {
  std::printf(", \"%s\": [", name);
  for (std::size_t i = 0; i < values.size(); ++i) std::printf("%s%.6f", i == 0 ? "" : ", ", values[i]);
  std::printf("]");
}

// Compares the answers to every `every`-th of the first `requests` requests. Throws where they are wrong.
serving::Agreement agreement(serving::Reference& reference, const serving::Scheduler& scheduler, int requests,
                             int every) {
  serving::Agreement sum;
  for (int i = 0; i < requests; i += every) reference.compare(scheduler.tokens(i), scheduler.prompt(i), sum);
  sum.evicted = scheduler.evicted(), sum.shared = scheduler.shared();
  sum.require();
  return sum;
}

void serve(const Options& o) {
  const nn::ModelConfig model = config(o.model);
  std::vector<Arrival> trace = serving::read_trace(o.trace, model.context);
  for (Arrival& a : trace) a.seconds = o.at_once ? 0 : a.seconds / o.rate;
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  serving::Reference reference(model, o.seed, stream);
  serving::Engine engine(model, reference.layout(), reference.weights(), o.pages, !o.eager, stream);
  if (!o.counted) engine.warm_up();

  // A few requests together, in one page more than the longest one needs: they wait, and some are evicted.
  serving::Agreement alone;
  if (o.check > 0) {
    std::vector<Arrival> few(trace.begin(), trace.begin() + std::min<std::ptrdiff_t>(o.check, std::ssize(trace)));
    int longest = 0;
    for (Arrival& a : few) a.seconds = 0, longest = std::max(longest, pages_of(a.prompt + a.answer));
    serving::Scheduler scheduler(std::min(o.pages, longest + 1));
    play(few, scheduler, engine, model.vocabulary, Clock(true));
    alone = agreement(reference, scheduler, static_cast<int>(few.size()), 1);
  }
  cudaDeviceProp about{};
  int runtime = 0;
  nn::check(cudaGetDeviceProperties(&about, 0), "the GPU's name");
  nn::check(cudaRuntimeGetVersion(&runtime), "the runtime's version");
  for (int run = 0; run < o.runs; ++run) {
    serving::Scheduler scheduler(o.pages);
    const int before = engine.replays();
    const Played p = play(trace, scheduler, engine, model.vocabulary, Clock(o.counted));
    const int requests = static_cast<int>(trace.size()),
              every = o.check == 0 ? requests : std::max(1, requests / o.check);
    const serving::Agreement busy =
        o.check == 0 ? serving::Agreement{} : agreement(reference, scheduler, requests, every);
    std::printf(
        "{\"what\": \"ridge serve\", \"device\": \"%s\", \"cuda_runtime\": %d, \"model\": \"%s\", \"type\": \"bf16\", \"run\": %d, "
        "\"requests\": %zu, \"pages\": %d, \"rate\": %g, \"all_at_once\": %s, \"graphs\": %s, \"seconds\": %.6f, "
        "\"answer_tokens\": %lld, \"steps\": %lld, \"graph_steps\": %d, \"evicted\": %d, \"shared_tokens\": %lld, "
        "\"memory_bytes\": %zu, \"check\": {\"tight\": %s, \"run\": %s}",
        about.name, runtime, o.model.c_str(), run, trace.size(), o.pages, o.rate, o.at_once ? "true" : "false",
        o.eager ? "false" : "true", p.seconds, p.tokens, p.steps, engine.replays() - before, scheduler.evicted(),
        scheduler.shared(), engine.memory().total(), alone.json().c_str(), busy.json().c_str());
    std::vector<double> arrivals;
    for (const Arrival& a : trace) arrivals.push_back(a.seconds);
    print("arrival", arrivals);
    print("first", p.first);
    print("last", p.last);
    std::printf("}\n");
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  try {
    o = parse(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "serve: %s\n", e.what());
    return 2;
  }
  try {
    serve(o);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "serve: %s\n", e.what());
    return 1;
  }
}
