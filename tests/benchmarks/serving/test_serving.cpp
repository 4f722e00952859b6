// benchmarks/serving: the scheduler with a cache that knows what each place should hold, and the whole program on the emulator
// with a small model.
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/serving/requests.hpp"
#include "benchmarks/serving/scheduler.hpp"
#include "solutions/15_serving/batcher.cu"
#include "solutions/15_serving/blocks.cu"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;
using serving::Arrival;
using serving::Part;

namespace {

std::vector<Arrival> small_trace() {
  return serving::read_trace(repository() + "/tests/benchmarks/serving/toy.txt", 96);
}

// A place of the cache holds a number that stands for its token and all before: what keys and values depend on.
class Cache {
 public:
  explicit Cache(int pages) : places_(static_cast<std::size_t>(pages * kPage)) {}

  // The numbers of a step's tokens go to their places; then each part reads all of its tokens, as attention does. Returns the
  // token that follows, a function of all before.
  std::vector<int> step(const std::vector<Part>& parts, const serving::Scheduler& scheduler) {
    std::set<int> written;
    int tokens = 0;
    for (const Part& p : parts) {
      tokens += p.count;
      const std::vector<std::uint64_t> wanted = prefixes(scheduler.tokens(p.request));
      for (int i = p.before; i < p.before + p.count; ++i) {
        const int at = place(p, i);
        if (!written.insert(at).second) ++wrong;
        places_[static_cast<std::size_t>(at)] = wanted[static_cast<std::size_t>(i)];
      }
    }
    std::vector<int> next;
    for (const Part& p : parts) {
      const std::vector<std::uint64_t> wanted = prefixes(scheduler.tokens(p.request));
      for (int i = 0; i < p.before + p.count; ++i)
        if (places_[static_cast<std::size_t>(place(p, i))] != wanted[static_cast<std::size_t>(i)]) ++wrong;
      next.push_back(static_cast<int>(wanted[static_cast<std::size_t>(p.before + p.count - 1)] % 509));
    }
    CHECK(tokens <= kMostTokens);
    CHECK(parts.size() <= static_cast<std::size_t>(kMostSequences));
    return next;
  }
  long long wrong = 0;  // places that were read and did not hold their token, or that a step wrote twice

  static std::vector<std::uint64_t> prefixes(const std::vector<int>& tokens) {
    std::vector<std::uint64_t> all;
    std::uint64_t h = 1;
    for (int token : tokens) all.push_back(h = (h ^ static_cast<std::uint64_t>(token)) * 0x9E3779B97F4A7C15u ^ h >> 29);
    return all;
  }

 private:
  static int place(const Part& p, int token) {
    return p.pages.at(static_cast<std::size_t>(token / kPage)) * kPage + token % kPage;
  }
  std::vector<std::uint64_t> places_;
};

struct Served {
  std::vector<std::vector<int>> answers;
  int evicted;
  long long shared, wrong;
};

// All requests at once, or each at its second of the cost model.
Served serve(std::vector<Arrival> trace, int pages, int vocabulary, bool at_once,
             serving::Scheduler::Planner planner = plan_step) {
  serving::Scheduler scheduler(pages, std::move(planner));
  Cache cache(pages);
  double now = 0;
  std::size_t next = 0;
  int written = 0, wanted = 0;
  for (const Arrival& a : trace) wanted += a.answer;
  while (next < trace.size() || !scheduler.idle()) {
    for (; next < trace.size() && (at_once || trace[next].seconds <= now); ++next)
      scheduler.arrive(trace[next].seconds, serving::prompt_of(trace[next], static_cast<int>(next), vocabulary),
                       trace[next].answer);
    if (scheduler.idle()) {
      now = trace[next].seconds;
      continue;
    }
    const std::vector<Part> parts = scheduler.plan(now);
    const int decodes = scheduler.decodes();
    for (std::size_t i = 0; i < parts.size(); ++i) CHECK((parts[i].count == 1) == (static_cast<int>(i) < decodes));
    scheduler.ended(cache.step(parts, scheduler), [&](int, bool, bool) { ++written; });
    now += 0.003;
  }
  CHECK(written == wanted);
  CHECK(scheduler.owned() == 0);
  Served s{{}, scheduler.evicted(), scheduler.shared(), cache.wrong};
  for (std::size_t i = 0; i < trace.size(); ++i) s.answers.push_back(scheduler.tokens(static_cast<int>(i)));
  return s;
}

}  // namespace

TEST_CASE("every place that a step reads holds its token, whoever is evicted") {
  const std::vector<Arrival> recorded = serving::read_trace(repository() + "/benchmarks/serving/trace.txt", 1024);
  CHECK(recorded.size() == 512);
  const Served plenty = serve(recorded, 4096, 50257, false);
  CHECK(plenty.evicted == 0);
  CHECK(plenty.shared > 0);
  CHECK(plenty.wrong == 0);
  for (int pages : {64, 71, 100, 300}) {
    const Served few = serve(recorded, pages, 50257, pages != 100);
    INFO(pages << " pages, " << few.evicted << " evicted, " << few.shared << " shared");
    CHECK(few.evicted > 0);
    CHECK(few.wrong == 0);
    CHECK(few.answers == plenty.answers);
  }
}

TEST_CASE("requests that share most of their pages, and plans that take no account of pages") {
  int evicted = 0;
  for (int seed = 0; seed < 60; ++seed) {
    // Beginnings of one text, and answers that are the same where the prompts are.
    std::uint64_t next = static_cast<std::uint64_t>(seed);
    auto below = [&](int most) {
      next = next * 6364136223846793005u + 1442695040888963407u;
      return static_cast<int>((next >> 33) % static_cast<std::uint64_t>(most));
    };
    std::vector<Arrival> alike;
    int longest = 0;
    for (int i = 0; i < 12; ++i) {
      const int prompt = 1 + below(150), answer = 1 + below(60);
      alike.push_back({0, prompt, answer, below(4) == 0 ? 0 : prompt - below(2)});
      longest = std::max(longest, pages_of(prompt + answer));
    }
    // Everybody begins and goes on at once, in parts of any size. Only the oldest one is sure to have room.
    auto careless = [&](const Server& server) {
      Plan plan;
      for (const Request& r : server.active)
        if (r.resident() && r.id != server.active[0].id &&
            (!server.active[0].resident() || server.free_pages < pages_of(server.active[0].lacks()) + 1))
          plan.evict.push_back(r.id);
      for (const Request& r : server.active) plan.chunks.push_back({r.id, 1 + below(r.lacks())});
      const auto second = plan.chunks.begin() + 1;
      std::rotate(second, second + below(static_cast<int>(plan.chunks.size())), plan.chunks.end());
      return plan;
    };
    const Served plenty = serve(alike, 1000, 64, true);
    for (const serving::Scheduler::Planner& planner : {serving::Scheduler::Planner(plan_step), {careless}}) {
      const Served few = serve(alike, longest + below(6), 64, true, planner);
      INFO("seed " << seed << ", " << few.evicted << " evicted");
      CHECK(few.wrong == 0);
      CHECK(few.answers == plenty.answers);
      evicted += few.evicted;
    }
  }
  CHECK(evicted > 500);
}

TEST_CASE("a trace that is none is refused with its line") {
  const Folder folder;
  const std::map<std::string, int> wrong_lines = {
      {"0 5 3\n", 1}, {"# none\n0 5 0 0\n", 2}, {"0 90 7 0\n", 1}, {"0 5 3 6\n", 1}, {"0.2 5 3 0\n0.1 5 3 0\n", 2}};
  for (const auto& [text, line] : wrong_lines) {
    write_file(folder / "trace.txt", text);
    std::string said;
    try {
      serving::read_trace(folder / "trace.txt", 96);
    } catch (const std::runtime_error& e) {
      said = e.what();
    }
    INFO(text << said);
    CHECK(said.find("trace.txt:" + std::to_string(line) + ":") != std::string::npos);
  }
}

TEST_CASE("the program answers as a forward pass without a cache does") {
  const Folder folder;
  const std::string root = repository(), solution = root + "/solutions/15_serving/", made = folder / "serve";
  Run built = run({ridge_program(), "cc", "-std=c++20", "-I", root + "/runtime", "-I", root + "/labs/15_serving",
                   root + "/benchmarks/serving/serve.cu", solution + "paged.cu", solution + "batcher.cu",
                   solution + "blocks.cu", "-lcublas", "-o", made});
  INFO(built.out << built.err);
  REQUIRE(built.code == 0);
  int tokens = 0;
  for (const Arrival& a : small_trace()) tokens += a.answer;
  // Heads of 128 channels on a GPU with 99 KiB of shared memory a block: tiles have two places in place of three.
  const std::vector<std::pair<std::string, std::string>> models = {{"toy", "h200"}, {"toy-128", "rtx4090"}};
  for (const auto& [model, gpu] : models) {
    Run r =
        run({made, root + "/tests/benchmarks/serving/toy.txt", "--model", model, "--pages", "7", "--clock", "steps"},
            {{"RIDGE_DEVICE", gpu}});
    INFO(r.out << r.err);
    REQUIRE(r.code == 0);
    const auto said = nlohmann::json::parse(r.out);
    CHECK(said["answer_tokens"] == tokens);
    CHECK(said["evicted"] > 0);
    CHECK(said["shared_tokens"] > 0);
    CHECK(said["graph_steps"] > 20);
    CHECK(said["graph_steps"] < said["steps"]);
    for (const char* part : {"tight", "run"}) {
      CHECK(said["check"][part]["tokens"] == tokens);
      CHECK(said["check"][part]["equal"].get<int>() + said["check"][part]["ties"].get<int>() == tokens);
    }
    for (std::size_t i = 0; i < small_trace().size(); ++i) {
      CHECK(said["first"][i] > said["arrival"][i]);
      CHECK(said["last"][i] >= said["first"][i]);
    }
  }
}
