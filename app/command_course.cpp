// labs and start.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "grader/base/error.hpp"
#include "grader/base/lab.hpp"
#include "grader/base/text.hpp"
#include "grader/build/compile.hpp"
#include "grader/result/result.hpp"
#include "learn/attempts/attempts.hpp"

namespace ridge {

int command_labs(bool as_json) {
  std::vector<Lab> labs = load_labs();
  nlohmann::json all = nlohmann::json::array();
  const Lab* next = nullptr;
  std::string table;
  bool gave_up = false;
  for (const Lab& lab : labs) {
    const loop::LabState own = loop::state_of(lab);
    bool started = own.started;
    std::string state = started ? "started" : "-";
    double points = 0, max = 0;
    if (!own.last_attempt.empty()) {
      points = own.points;
      max = own.max;
      state = fmt::format("{:.0f} / {:.0f}", points, max);
    }
    bool passed = own.passed();
    for (const auto& t : own.tasks) gave_up = gave_up || t.gave_up;
    if (!passed && next == nullptr) next = &lab;
    all.push_back({{"lab", lab.name},
                   {"title", lab.title},
                   {"minutes", lab.minutes},
                   {"backends", lab.backends},
                   {"started", started},
                   {"passed", passed},
                   {"points", points},
                   {"max", max}});
    std::string tasks;
    for (const auto& t : own.tasks) tasks += (tasks.empty() ? "" : ", ") + t.id + (t.gave_up ? "*" : "");
    table += fmt::format("  {:<22} {:<28} {:>4} min   {:<10}  {}\n", lab.name, lab.title, lab.minutes, state, tasks);
  }
  if (as_json) {
    fmt::print("{}\n", all.dump(1));
    return 0;
  }
  fmt::print("  {:<22} {:<28} {:>8}   {:<10}  {}\n{}", "lab", "title", "time", "last score", "tasks", table);
  if (gave_up) fmt::print("\n  * its solution was opened before it passed\n");
  if (next != nullptr) {
    std::string number = next->name.substr(0, next->name.find('_'));
    bool started = fs::exists(work_dir() / next->name);
    print_as_typed("\nNext: ./ridge {} {}\n", started ? "check" : "start", number);
  }
  return 0;
}

int command_start(const std::string& key) {
  Lab lab = find_lab(key);
  fs::path dir = work_dir() / lab.name;
  if (fs::exists(dir)) {
    fmt::print("{} is there already; nothing was changed.\n", shown(dir));
    return 0;
  }
  // Made beside its place and renamed, so that an interrupted start leaves nothing half done.
  fs::path temporary = dir.string() + ".new";
  std::error_code ec;
  fs::remove_all(temporary, ec);
  fs::create_directories(temporary, ec);
  for (const auto& file : lab.files)
    if (!ec) copy_to_write(lab.dir / file, temporary / file, ec);
  for (const auto& entry : fs::directory_iterator(lab.dir))
    if (!ec && entry.path().extension() == ".hpp") copy_to_write(entry.path(), temporary / entry.path().filename(), ec);
  if (!ec) {
    // For editors: the emulator's headers, so that clangd knows CUDA's names without a CUDA Toolkit.
    nlohmann::json commands = nlohmann::json::array();
    for (const auto& file : lab.files)
      commands.push_back({{"directory", fs::absolute(dir).string()},
                          {"file", file},
                          {"arguments",
                           {"clang++", "-x", "c++", "-std=c++20", "-include", "cuda_runtime.h", "-isystem",
                            (root_dir() / "runtime/simt/include").string(), "-c", file}}});
    write_durably(temporary / "compile_commands.json", commands.dump(1) + "\n");
    fs::rename(temporary, dir, ec);
  }
  if (ec) {
    std::error_code ignored;
    fs::remove_all(temporary, ignored);
    throw Error(Exit::environment, fmt::format("cannot make {}: {}", shown(dir), ec.message()),
                "free some space, or set RIDGE_WORK to a folder that can be written");
  }
  std::string number = lab.name.substr(0, lab.name.find('_'));
  print_as_typed("{}: {}\n  read   {}\n  edit   {}/{}\n  check  ./ridge check {}\n", lab.name, lab.title,
                 shown(lab.dir / "README.md"), shown(dir), fmt::join(lab.files, ", "), number);
  return 0;
}

}  // namespace ridge
