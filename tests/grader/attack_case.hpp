// One attack of tests/grader/attacks: its description, and what comes of it under the defences that are on.
// attacks/README.md defines the format.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace ridge::test {

struct Attack {
  std::string name;  // of its folder: "S01_cache_by_pointer"
  std::filesystem::path dir;
  std::string class_id;  // of the catalogue: "S1"
  std::string tries;     // one sentence
  std::string lab, task, file, mode, backend;
  std::string
      twin;  // whose honest.cu is the honest twin: another attack's name, "solution" for the lab's own; empty: its own
  std::vector<std::string> arguments;  // further ones of `ridge check`
  std::vector<std::string> fails;      // "copy/correct": the checks of which one must be the first to fail; or "exit:4"
  std::vector<std::string> defences;   // switching off exactly these lets it succeed
  std::string success;                 // how that shows: see `succeeded`
  double limit = 90;                   // seconds after which a run is stopped, and counts as hanging
  bool quick = false;                  // part of the normal suite
};

// All attacks, by name. RIDGE_ATTACK in the environment names those wanted, in this order: S01,T (beginnings of names will
// do). Throws where a description is wrong.
std::vector<Attack> load_attacks();

// What one run came to.
struct Outcome {
  bool succeeded = false;    // the attack got what it wanted
  bool full_marks = false;   // exit code 0 and all points
  int code = -1;             // exit code; -1: it hung
  std::string first_failed;  // "copy/correct", or empty
  std::string seen;          // for the reader of a failing test
};

enum class Side { attack, honest };

// One judged run of a side, with these defences off.
Outcome run_attack(const Attack& attack, Side side, const std::set<std::string>& off);

// Whether the run ended as the description says a rejection does.
bool rejected_as_expected(const Attack& attack, const Outcome& outcome);

}  // namespace ridge::test
