// The commands of the learning loop: home, watch, hint, solution, diff, log, explain, completion, and those of a
// course's author and speaker: new-lab, course export, package, live.
#pragma once
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "learn/commands.hpp"

namespace CLI {
class App;
}

namespace ridge {
struct Result;
}

namespace ridge::loop {

// Adds the subcommands; parsing one sets `chosen`.
void add_commands(CLI::App& app, std::function<int()>& chosen);
// Examples below each command's --help.
void add_examples(CLI::App& app);
// After a usage error: the command or option that was meant, on stderr.
void suggest(const CLI::App& app, int argc, char** argv);
// Words that may come next on a command line, one a line: for shells.
int complete(const CLI::App& app, const std::vector<std::string>& words);

int home();

struct WatchArguments {
  std::string lab, task, backend = "auto";
  bool once = false;  // ends after the first check that a save brings about: for tests and measurements
};
int watch(const WatchArguments& arguments);
// Where a watch is going on: says so on stdout, and how it stands as exit code. Else 128 + signal.
int watch_ended(int signal);

int completion(const std::string& shell);

int new_lab(const std::string& name);

struct PackageArguments {
  std::string lab, out, task, seed_file;
  double limit = 0;  // seconds that the grading of one submission may take; 0: below Gradescope's own
  bool require_sandbox = false;
};
// An autograder for Gradescope: a zip archive to upload.
int package_gradescope(const PackageArguments& arguments);

struct PrebuiltArguments {
  std::string format;              // "tarball" or "deb"
  std::string out;                 // file to write; empty: a name with the version, here
  std::vector<std::string> parts;  // programs beside ridge that only some need: cluster, live, mpi, viz
  bool solutions = false;
};
// This build as an archive or a Debian package that runs as it is.
int package_prebuilt(const PrebuiltArguments& arguments);
// For `cmake --install`: what such a package has besides the programs.
int package_tree(const std::string& folder);

// The collector, a program beside ridge. `listen`: empty, or one ADDRESS:PORT.
int live(const std::vector<std::string>& listen);
// Sends a result to a collector; says on stderr where that fails, which is no reason to lose the result.
void send_live(const std::string& url, const std::string& name, const std::string& token, const Result& result);

}  // namespace ridge::loop
