// ridge viz starts the visualizer, which is a program of its own.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/result/timeline_trace.hpp"
#include "grader/sandbox/process.hpp"
#include "learn/live/follow.hpp"

namespace ridge {

namespace {

// Whether a word is the setting of a picture that is drawn from no file: of a layout.
bool needs_no_file(const std::string& setting) { return setting == "show=swizzle" || setting == "show=wgmma"; }

// The same program in a browser tab: `ridge viz --web FILE... [--view ID] [--set KEY=VALUE] [--port N]`.
int show_in_browser(const std::vector<std::string>& args) {
  std::string port = "0";
  std::vector<std::string> files, view;
  bool drawn = false;  // something is, without a file
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--web") continue;
    if (args[i].rfind("--", 0) != 0) {
      files.push_back(args[i]);
      continue;
    }
    const std::size_t equals = args[i].find('=');
    const std::string name = args[i].substr(0, equals);
    if (name != "--port" && name != "--view" && name != "--set")
      throw Error(Exit::usage, fmt::format("'{}' has no meaning beside --web", args[i]),
                  "ridge viz --web FILE..., with --view, --set or --port N");
    if (equals == std::string::npos && i + 1 == args.size())
      throw Error(Exit::usage, fmt::format("{} needs a value", name), "ridge viz --web --view warp --set show=swizzle");
    const std::string value = equals == std::string::npos ? args[++i] : args[i].substr(equals + 1);
    if (name == "--port")
      port = value;
    else
      view.push_back(name + "=" + value);
    drawn = drawn || (name == "--set" && needs_no_file(value));
  }
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoi(port) > 65535)
    throw Error(Exit::usage, fmt::format("'{}' is no port", port), "--port 8800, or none: then a free one is chosen");
  if (files.empty() && !drawn)
    throw Error(Exit::usage, "--web needs a file",
                "name a result, a trace or a recording; --view warp --set show=swizzle needs none");
  std::error_code ec;
  for (std::string& file : files) {
    if (!fs::is_regular_file(file, ec))
      throw Error(Exit::usage, fmt::format("there is no file '{}'", file), "name a result, a trace or a recording");
    file = fs::absolute(file).string();
  }
  const fs::path program = build_dir() / "bin" / "ridge-serve";
  if (!fs::exists(program))
    throw Error(Exit::environment, "the server of pages is not built here",
                prebuilt() ? "ask for a package made by `./ridge package tarball --with serve,viz`"
                           : "./ridge build serve viz");
  std::fflush(stdout);
  std::vector<std::string> argv = {program.string(), "--web", port, "43200", ""};
  argv.insert(argv.end(), files.begin(), files.end());
  argv.insert(argv.end(), view.begin(), view.end());
  become(argv);
}

int show_in_visualizer(std::vector<std::string> args) {
  if (std::find(args.begin(), args.end(), "--web") != args.end()) return show_in_browser(args);
  fs::path program = build_dir() / "bin/ridge-viz";
  if (!fs::exists(program) && std::find(args.begin(), args.end(), "--help") != args.end()) {
    fmt::print(
        "Open the visualizer on results (default: the newest of each lab)\nUsage: ridge viz [OPTIONS] [files...]\n\n"
        "{}",
        prebuilt() ? "This prebuilt Ridge has no visualizer.\n"
                   : "It is not built here: ./ridge viz installs what it needs, and visualizer/README.md has its "
                     "options.\n");
    return 0;
  }
  if (!fs::exists(program))
    throw Error(Exit::environment, "the visualizer is not built here",
                prebuilt() ? "ask for a package made by `./ridge package tarball --with viz`, or build in a clone"
                           : "start it through ./ridge viz, which installs what it needs");
  // The visualizer reads files alone, so the board of a collector is turned into files.
  for (std::size_t i = 0; i < args.size(); ++i) {
    const bool joined = args[i].rfind("--live=", 0) == 0;
    if (!joined && (args[i] != "--live" || i + 1 == args.size())) continue;
    std::string value = joined ? args[i].substr(7) : args[i + 1];
    if (value.find("://") == std::string::npos) continue;
    value = loop::follow_live(value).string();
    (joined ? args[i] : args[i + 1]) = joined ? "--live=" + value : value;
  }
  std::vector<std::string> argv;
  bool draws = false, file = false;  // a PNG needs a display, if only a virtual one
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i].rfind("--", 0) == 0) {
      const auto starts = [&](const char* name) { return args[i].rfind(name, 0) == 0; };
      if (args[i] == "--help" || args[i] == "-h") file = true;
      if (args[i] == "--present" || args[i] == "--help") continue;
      draws = draws || starts("--screenshot") || starts("--script");
      file = file || starts("--live") || starts("--story");
      const bool exports = starts("--export");
      // Pictures of layouts are drawn from no file.
      const std::string next = i + 1 < args.size() ? args[i + 1] : "";
      file = file || needs_no_file(args[i] == "--set" ? next : starts("--set=") ? args[i].substr(6) : "");
      if (args[i].find('=') == std::string::npos) ++i;  // its value
      draws = draws || (exports && i < args.size() && fs::path(args[i]).extension() == ".png");
    } else {
      file = true;
    }
  }
  bool display = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (draws && !display && !find_program({"xvfb-run"}).empty())
    argv = {"xvfb-run", "-a", "-s", "-screen 0 1920x1200x24"};
  argv.push_back(program.string());
  argv.insert(argv.end(), args.begin(), args.end());
  if (!file) {
    std::error_code ec;
    std::vector<std::string> newest;
    for (const auto& lab : fs::directory_iterator(results_dir(), ec)) {
      fs::path best;
      for (const auto& entry : fs::directory_iterator(lab.path(), ec))
        if (entry.path().extension() == ".json" && !is_trace(entry.path()) && entry.path().filename() > best.filename())
          best = entry.path();
      if (!best.empty()) newest.push_back(best.string());
    }
    if (newest.empty())
      throw Error(Exit::usage, "there are no results yet", "run `./ridge check 01`, or name a result file");
    argv.insert(argv.end(), newest.begin(), newest.end());
  }
  become(argv);
}

}  // namespace

void add_viz(Commands& ridge) {
  CLI::App* command = ridge.add("viz", "Open the visualizer on results (default: the newest of each lab)");
  command->prefix_command();
  command->set_help_flag();  // ridge-viz has its own
  ridge.set_action(command, [command] { return show_in_visualizer(command->remaining()); });
}

}  // namespace ridge
