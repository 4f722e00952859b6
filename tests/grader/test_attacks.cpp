// The attacks of tests/grader/attacks against the judge. Three things are shown of each: with all defences on it is
// rejected, and its honest twin is not; with exactly the defences off that it names, it succeeds; with any one of these
// on again, it fails. RIDGE_ATTACK=S01 picks one; RIDGE_ATTACK_JOBS sets how many run at once (2);
// RIDGE_ATTACK_LOG=FILE gets a line of JSON for each; what it holds already is not run again. RIDGE_ATTACK_UNTIL=S: after
// so many seconds no other one is begun, and the rest counts as not run.
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "attack_case.hpp"
#include "grader/base/defence.hpp"
#include "grader/machine/device.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
using nlohmann::json;

namespace {

struct Finding {
  std::string attack;
  std::vector<std::string> problems;
  json line;  // for the log
};

bool can_run(const Attack& a) {
  std::string why;
  return a.backend != "cuda" || ridge::cuda_available(why);
}

std::string told(const Outcome& o) {
  return "exit code " + std::to_string(o.code) + ", first failed check '" + o.first_failed + "'" +
         (o.succeeded ? ", succeeded" : "") + (o.full_marks ? ", full marks" : "") + "\n" + o.seen;
}

const char* setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::set<std::string> examined_before(const std::string& log) {
  std::set<std::string> names;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    const json j = json::parse(line, nullptr, false);
    if (j.is_object() && j.contains("attack") && !j.contains("skipped")) names.insert(j["attack"].get<std::string>());
  }
  return names;
}

// Runs `examine` on every attack that can run here, some at a time.
std::vector<Finding> examine_all(const std::vector<Attack>& attacks,
                                 const std::function<void(const Attack&, Finding&)>& examine) {
  std::vector<Finding> findings(attacks.size());
  std::atomic<std::size_t> next{0};
  std::mutex log_mutex;
  const std::string log_file = setting("RIDGE_ATTACK_LOG", "");
  const std::set<std::string> before = log_file.empty() ? std::set<std::string>{} : examined_before(log_file);
  const auto start = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); };
  const double until = std::atof(setting("RIDGE_ATTACK_UNTIL", "1e9"));
  auto work = [&] {
    for (std::size_t i; (i = next++) < attacks.size();) {
      Finding& f = findings[i];
      f.attack = attacks[i].name;
      if (before.count(f.attack) != 0) continue;
      const double begun = seconds();
      try {
        if (!can_run(attacks[i]))
          f.line["skipped"] = "no GPU here";
        else if (begun > until)
          f.line["skipped"] = "no time left";
        else
          examine(attacks[i], f);
      } catch (const std::exception& e) {
        f.problems.push_back(e.what());
      }
      if (log_file.empty()) continue;
      std::lock_guard lock(log_mutex);
      f.line["attack"] = f.attack;
      f.line["problems"] = f.problems;
      f.line["seconds"] = static_cast<int>(seconds() - begun);
      std::ofstream(log_file, std::ios::app) << f.line.dump() << std::endl;
    }
  };
  std::vector<std::thread> threads;
  for (int i = std::atoi(setting("RIDGE_ATTACK_JOBS", "2")); i > 0; --i) threads.emplace_back(work);
  for (auto& t : threads) t.join();
  return findings;
}

void report(const std::vector<Finding>& findings) {
  for (const auto& f : findings)
    for (const auto& problem : f.problems) {
      INFO(f.attack << ": " << problem);
      CHECK(false);
    }
}

void rejected(const Attack& a, Finding& f) {
  Outcome o = run_attack(a, Side::attack, {});
  f.line["on"] = {{"code", o.code}, {"failed", o.first_failed}, {"succeeded", o.succeeded}};
  if (!rejected_as_expected(a, o)) f.problems.push_back("is not rejected as expected: " + told(o));
}

void twin_passes(const Attack& a, Finding& f) {
  Outcome o = run_attack(a, Side::honest, {});
  f.line["honest"] = {{"code", o.code}, {"failed", o.first_failed}};
  if (!o.full_marks) f.problems.push_back("its honest twin does not pass: " + told(o));
}

void switched_off(const Attack& a, Finding& f) {
  const std::set<std::string> all(a.defences.begin(), a.defences.end());
  Outcome o = run_attack(a, Side::attack, all);
  f.line["off"] = {{"code", o.code}, {"failed", o.first_failed}, {"succeeded", o.succeeded}};
  if (!o.succeeded) f.problems.push_back("does not succeed with its defences off: " + told(o));
  if (all.size() == 1) return;  // with that one on, all are
  for (const auto& d : all) {
    std::set<std::string> but = all;
    but.erase(d);
    Outcome p = run_attack(a, Side::attack, but);
    f.line["but"][d] = {{"code", p.code}, {"failed", p.first_failed}, {"succeeded", p.succeeded}};
    if (p.succeeded) f.problems.push_back("succeeds although '" + d + "' is on, which is not needed then: " + told(p));
  }
}

}  // namespace

TEST_CASE("attacks of every class are rejected, and their honest twins are not", "[quick]") {
  std::vector<Attack> quick;
  for (const auto& a : load_attacks())
    if (a.quick || std::getenv("RIDGE_ATTACK") != nullptr) quick.push_back(a);
  report(examine_all(quick, [](const Attack& a, Finding& f) {
    rejected(a, f);
    twin_passes(a, f);
  }));
}

TEST_CASE("every attack is rejected, its honest twin is not, and it succeeds with exactly its defences off",
          "[.slow]") {
  report(examine_all(load_attacks(), [](const Attack& a, Finding& f) {
    rejected(a, f);
    twin_passes(a, f);
    switched_off(a, f);
  }));
}

// RIDGE_ATTACK_LOG (of one or several runs: the last line of an attack counts) as a page: RIDGE_ATTACK_REPORT=FILE.
TEST_CASE("the log of a run as a page", "[.report]") {
  const std::string file = setting("RIDGE_ATTACK_REPORT", ""), log = setting("RIDGE_ATTACK_LOG", "");
  if (file.empty()) return;
  std::map<std::string, json> lines;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    const json j = json::parse(line, nullptr, false);
    if (!j.is_object() || !j.contains("attack")) continue;
    json& known = lines[j["attack"].get<std::string>()];
    if (known.is_null() || known.contains("skipped") || !j.contains("skipped")) known = j;
  }
  auto ending = [](const json& o, bool wanted) {
    if (!o.is_object()) return std::string("-");
    if (o.value("succeeded", false) == wanted && wanted) return std::string("succeeds");
    if (o.value("succeeded", false)) return std::string("**succeeds**");
    const std::string failed = o.value("failed", "");
    return o["code"] == 0 ? std::string("gets nothing") : failed.empty() ? "exit code " + o["code"].dump() : failed;
  };
  int shown = 0, ran = 0, problems = 0;
  std::string rows;
  for (const auto& a : load_attacks()) {
    ++shown;
    std::string defences;
    for (const auto& d : a.defences) defences += (defences.empty() ? "" : ", ") + d;
    const json line = lines.count(a.name) != 0 ? lines[a.name] : json::object();
    const bool done = line.contains("on");
    ran += done;
    problems += done && !line["problems"].empty();
    std::string single;
    if (done && line.contains("but")) {
      int fails = 0;
      for (const auto& [name, o] : line["but"].items()) fails += !o.value("succeeded", false);
      single = std::to_string(fails) + " of " + std::to_string(line["but"].size());
    }
    rows += "| " + a.class_id + " | " + a.name + " | " + a.tries + " | " + a.backend + " | " + defences + " | ";
    rows += !done ? "not run | | | |\n"
                  : ending(line["on"], false) + " | " + (line["honest"]["code"] == 0 ? "passes" : "**fails**") + " | " +
                        ending(line["off"], true) + " | " + (single.empty() ? "-" : single) + " |\n";
  }
  std::ofstream out(file);
  out << "<!-- Written by grader.attacks [.report] from the log of a run. -->\n"
      << setting("RIDGE_ATTACK_REPORT_HEAD", "") << "\n"
      << shown << " attacks are described; " << ran << " were run, " << problems << " of these with a problem.\n\n"
      << "`on`: the first check that fails with all defences on. `twin`: its honest twin, all on. `off`: with exactly "
         "the defences named off. `one on`: in how many of the runs with one of them on again it fails.\n\n"
      << "| class | attack | what it tries | backend | what stops it | on | twin | off | one on |\n"
      << "|---|---|---|---|---|---|---|---|---|\n"
      << rows;
  CHECK(out.good());
}

// An attack that needs a GPU counts here wherever it is described.
TEST_CASE("the corpus covers the catalogue, and every defence stops an attack", "[quick]") {
  if (std::getenv("RIDGE_ATTACK") != nullptr) return;
  std::map<std::string, int> classes, defences;
  const std::vector<Attack> all = load_attacks();
  for (const auto& a : all) {
    ++classes[a.class_id];
    for (const auto& d : a.defences) ++defences[d];
  }
  CHECK(all.size() >= 64);
  const std::pair<char, int> catalogue[] = {{'C', 15}, {'F', 13}, {'T', 12}, {'S', 14}, {'D', 10}};
  for (auto [letter, count] : catalogue)
    for (int i = 1; i <= count; ++i) {
      INFO(letter << i << " has no attack");
      CHECK(classes.erase(letter + std::to_string(i)) == 1);
    }
  CHECK(classes.erase("M") == 1);  // costs: no numbers
  for (const auto& [id, count] : classes) {
    INFO(id << " is not in the catalogue");
    CHECK(false);
  }
  for (int d = 0; d < static_cast<int>(ridge::Defence::count_); ++d) {
    INFO(ridge::name_of(static_cast<ridge::Defence>(d)) << " stops no attack");
    CHECK(defences.erase(ridge::name_of(static_cast<ridge::Defence>(d))) == 1);
  }
  for (const auto& [name, count] : defences) {
    INFO(name << " is no defence");
    CHECK(false);
  }
}
