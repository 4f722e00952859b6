// Honest submissions are accepted, in full: a sample with a printed seed in the normal suite, 240 among the slow ones.
// RIDGE_HONEST=17 runs number 17 alone; RIDGE_HONEST_REPORT=FILE gets a page about the run.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <mutex>
#include <random>
#include <thread>

#include "grader/graded.hpp"
#include "honest/variants.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

struct Judged {
  std::uint64_t number = 0;
  Variant variant;
  bool accepted = false;
  std::string seen;
};

std::string program() {
  const char* given = std::getenv("RIDGE_SWITCHABLE");
  return given != nullptr ? given : RIDGE_SWITCHABLE_PROGRAM;
}

Judged judge(std::uint64_t number) {
  Judged j;
  j.number = number;
  j.variant = honest_variant(number);
  Folder home;
  std::string solution = repository() + "/solutions/" + j.variant.lab;
  if (!fs::exists(solution)) solution = repository() + "/tests/grader/solutions/" + j.variant.lab;
  fs::copy(solution, home / "submission", fs::copy_options::recursive);
  for (const auto& [name, text] : j.variant.files) write_file(home / ("submission/" + name), text);
  const std::string file = home / "result.json";
  Run r = run({program(), "check", j.variant.lab, "--backend", "cpu", "--task", j.variant.task, "--submission",
               home / "submission", "--json", file},
              environment(home), 240);
  json result = fs::exists(file) ? json::parse(read_file(file)) : json();
  j.accepted = r.code == 0 && result.is_object() && result["score"]["points"] == result["score"]["max"];
  j.seen = "exit code " + std::to_string(r.code) + "\n" + r.out + r.err;
  if (!j.accepted)
    for (const auto& [name, text] : j.variant.files) j.seen += "\n--- " + name + "\n" + text;
  return j;
}

std::vector<Judged> judge_all(const std::vector<std::uint64_t>& numbers) {
  std::vector<Judged> all(numbers.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i; (i = next++) < numbers.size();) {
      try {
        all[i] = judge(numbers[i]);
      } catch (const std::exception& e) {
        all[i].number = numbers[i];
        all[i].seen = e.what();
      }
    }
  };
  std::thread other(work);
  work();
  other.join();
  return all;
}

void accepted(const std::vector<Judged>& all) {
  for (const auto& j : all) {
    INFO("variant " << j.number << " (" << j.variant.name << "): " << j.seen);
    CHECK(j.accepted);
  }
}

// "2026-11-21"
std::string today() {
  std::time_t t = std::time(nullptr);
  char text[16];
  std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&t));
  return text;
}

}  // namespace

TEST_CASE("a sample of honest submissions is accepted", "[quick]") {
  std::vector<std::uint64_t> numbers;
  if (const char* one = std::getenv("RIDGE_HONEST")) {
    numbers.push_back(std::strtoull(one, nullptr, 10));
  } else {
    std::random_device seed;
    for (int i = 0; i < 12; ++i) numbers.push_back(seed() % 100000);
  }
  accepted(judge_all(numbers));
}

TEST_CASE("240 honest submissions are accepted", "[.slow]") {
  std::vector<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < 240; ++i) numbers.push_back(i);
  std::vector<Judged> all = judge_all(numbers);
  if (const char* file = std::getenv("RIDGE_HONEST_REPORT")) {
    std::map<std::string, std::pair<int, int>> tasks;
    int good = 0;
    for (const auto& j : all) {
      auto& [judged, ok] = tasks[j.variant.lab + ", " + j.variant.task];
      ++judged;
      ok += j.accepted;
      good += j.accepted;
    }
    std::ofstream out(file);
    out << "# Honest submissions\n\nWritten by `RIDGE_HONEST_REPORT=FILE grader.honest [.slow]` on " << today()
        << ", backend cpu: variants 0 to " << all.size() - 1 << " of `variants.cpp`, judged as a student's would be. "
        << good << " of " << all.size() << " got full marks.\n\n| lab, task | variants | full marks |\n|---|---|---|\n";
    for (const auto& [task, n] : tasks) out << "| " << task << " | " << n.first << " | " << n.second << " |\n";
    for (const auto& j : all)
      if (!j.accepted) out << "\nVariant " << j.number << " was not accepted: " << j.variant.name << "\n";
  }
  accepted(all);
}
