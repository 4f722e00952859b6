// `ridge check` as people run it, and the result file that it writes.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "support/run.hpp"

namespace ridge::test {

using nlohmann::json;

// Results, working copies and temporary files of one test, all inside its own folder.
inline std::map<std::string, std::string> environment(const Folder& home) {
  std::filesystem::create_directories(home / "tmp");
  return {{"RIDGE_ROOT", repository()},
          {"RIDGE_RESULTS", home / "results"},
          {"RIDGE_WORK", home / "work"},
          {"RIDGE_CACHE", std::filesystem::path(ridge_program()).parent_path().parent_path() / "test-objects"},
          {"TMPDIR", home / "tmp"},
          {"NO_COLOR", "1"}};
}

// The program with these arguments.
inline Run run_ridge(const Folder& home, std::vector<std::string> arguments, double limit = 60) {
  arguments.insert(arguments.begin(), ridge_program());
  return run(arguments, environment(home), limit);
}

struct Graded {
  Run run;
  json result;  // null where none was written
  const json& task(const std::string& id) const {
    static const json none;
    if (result.is_object())
      for (const json& t : result["tasks"])
        if (t["id"] == id) return t;
    return none;
  }
};

// `ridge check LAB --backend cpu` and more arguments; every test of a message finds it in `run.out` and `run.err`.
inline Graded check(const Folder& home, const std::string& lab, const std::vector<std::string>& more = {}) {
  std::string file = home / "result.json";
  std::filesystem::remove(file);
  std::vector<std::string> arguments = {"check", lab, "--backend", "cpu", "--json", file};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Graded g{run_ridge(home, arguments), nullptr};
  if (std::filesystem::exists(file)) g.result = json::parse(read_file(file));
  return g;
}

// The first check of a task that failed, or an empty object.
inline json first_failed(const json& task) {
  if (task.is_object())
    for (const json& c : task["checks"])
      if (c["status"] == "failed") return c;
  return {{"name", ""}, {"message", ""}};
}

// The first check of a result that failed, as "task/check"; empty where all passed.
inline std::string first_failed_name(const json& result) {
  if (result.is_object())
    for (const json& t : result["tasks"])
      if (std::string name = first_failed(t)["name"]; !name.empty()) return std::string(t["id"]) + "/" + name;
  return {};
}

}  // namespace ridge::test
