// Honest submissions are accepted, in full: a sample with a printed seed in the normal suite, 240 generated ones and all of
// honest/styles among the slow ones. RIDGE_HONEST=17 runs number 17 alone, RIDGE_HONEST=cp_async the styles with that
// in their names; RIDGE_HONEST_REPORT=FILE gets a page about the run.
#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdlib>
#include <cstring>
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
  Variant variant;
  bool accepted = false;
  std::string seen;
};

std::string program() {
  const char* given = std::getenv("RIDGE_SWITCHABLE");
  return given != nullptr ? given : RIDGE_SWITCHABLE_PROGRAM;
}

// Written by hand: honest/styles/LAB.TASK.STYLE.cu takes the place of the task's file.
std::vector<Variant> styles(const std::string& part = {}) {
  std::vector<Variant> all;
  for (const auto& entry : fs::directory_iterator(repository() + "/tests/grader/honest/styles")) {
    const std::string name = entry.path().stem().string();
    const std::size_t first = name.find('.'), second = name.find('.', first + 1);
    if (entry.path().extension() != ".cu" || second == std::string::npos) continue;
    if (name.find(part) == std::string::npos) continue;
    const std::string task = name.substr(first + 1, second - first - 1);
    all.push_back({name, name.substr(0, first), task, {{task + ".cu", read_file(entry.path().string())}}});
  }
  std::sort(all.begin(), all.end(), [](const Variant& a, const Variant& b) { return a.name < b.name; });
  return all;
}

Variant numbered(std::uint64_t number) {
  Variant v = honest_variant(number);
  v.name = std::to_string(number) + " (" + v.name + ")";
  return v;
}

Judged judge(const Variant& variant) {
  Judged j;
  j.variant = variant;
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

std::vector<Judged> judge_all(const std::vector<Variant>& variants) {
  std::vector<Judged> all(variants.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t i; (i = next++) < variants.size();) {
      try {
        all[i] = judge(variants[i]);
      } catch (const std::exception& e) {
        all[i].variant = variants[i];
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
    INFO("variant " << j.variant.name << ": " << j.seen);
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
  std::vector<Variant> some;
  if (const char* one = std::getenv("RIDGE_HONEST")) {
    if (std::isdigit(static_cast<unsigned char>(*one)) != 0 && std::strchr(one, '.') == nullptr)
      some.push_back(numbered(std::strtoull(one, nullptr, 10)));
    else
      some = styles(one);
    REQUIRE(!some.empty());
  } else {
    std::random_device seed;
    for (int i = 0; i < 9; ++i) some.push_back(numbered(seed() % 100000));
    const std::vector<Variant> written = styles();
    for (int i = 0; i < 3; ++i) some.push_back(written[seed() % written.size()]);
  }
  accepted(judge_all(some));
}

TEST_CASE("240 honest submissions and those in other styles are accepted", "[.slow]") {
  std::vector<Variant> variants = styles();
  const std::size_t written = variants.size();
  for (std::uint64_t i = 0; i < 240; ++i) variants.push_back(numbered(i));
  std::vector<Judged> all = judge_all(variants);
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
        << ", backend cpu: variants 0 to 239 of `variants.cpp` and the " << written
        << " of `styles/`, judged as a student's would be. " << good << " of " << all.size()
        << " got full marks.\n\n| lab, task | variants | full marks |\n|---|---|---|\n";
    for (const auto& [task, n] : tasks) out << "| " << task << " | " << n.first << " | " << n.second << " |\n";
    for (const auto& j : all)
      if (!j.accepted) out << "\nVariant " << j.variant.name << " was not accepted\n";
  }
  accepted(all);
}
