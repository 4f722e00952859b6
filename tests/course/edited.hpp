// A lab's solution with edits, checked: for tests that play cheats and honest twins.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace ridge::test {

using Edits = std::vector<std::pair<std::string, std::string>>;

// `lab`: NN_name. The solution with each first text of an edit replaced by the second one, in the task's file.
inline Graded check_edited(const Folder& home, const std::string& lab, const std::string& task, const Edits& edits) {
  namespace fs = std::filesystem;
  const fs::path to = home / "submission";
  fs::create_directories(to);
  for (const auto& file : fs::directory_iterator(fs::path(repository()) / "solutions" / lab))
    fs::copy(file.path(), to / file.path().filename(), fs::copy_options::overwrite_existing);
  std::string source = read_file(to / (task + ".cu"));
  for (const auto& [old, text] : edits) {
    const std::size_t at = source.find(old);
    REQUIRE(at != std::string::npos);
    source.replace(at, old.size(), text);
  }
  write_file(to / (task + ".cu"), source);
  const std::string file = home / "result.json", number = lab.substr(0, 2);
  Graded g{
      run_ridge(home, {"check", number, "--backend", "cpu", "--task", task, "--json", file, "--submission", to}, 200),
      nullptr};
  if (fs::exists(file)) g.result = json::parse(read_file(file));
  return g;
}

// What the program said, without its line ends.
inline std::string said(const Graded& g) {
  std::string all;
  for (const char c : g.run.out + g.run.err)
    if (c != ' ' && c != '\n') {
      all += c;
    } else if (!all.empty() && all.back() != ' ') {
      all += ' ';
    }
  return all;
}

}  // namespace ridge::test
