// The ridge program reads the command line, runs the command that was named, and reports errors.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "app/classes/classes.hpp"
#include "app/cli/command.hpp"
#include "app/cli/words.hpp"
#include "app/grading/watch.hpp"
#include "app/home.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/report.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

// Every command, in the order of `ridge --help`. Its registration, add_NAME, is in app/commands/NAME.cpp.
// clang-format off
#define RIDGE_COMMANDS(each)                                                                \
  each(labs) each(start) each(check) each(grade)                                            \
  each(key) each(verify) each(report)                                                       \
  each(demo) each(doctor) each(cc) each(viz) each(ranks) each(calibrate) each(bench)        \
  each(watch) each(hint) each(solution) each(diff) each(log) each(explain) each(predict)    \
  each(quiz) each(completion) each(new_lab) each(course) each(package) each(live)           \
  each(serve) each(simulate)
// clang-format on

namespace ridge {
#define RIDGE_DECLARE(name) void add_##name(Commands&);
RIDGE_COMMANDS(RIDGE_DECLARE)
}  // namespace ridge

namespace {

using namespace ridge;

// Ctrl-C must leave no temporary folder behind. A thread waits for the signal, so that no handler interrupts other
// code; children get their own mask. A signal that was ignored from the start (nohup) stays ignored.
void clean_up_on_signal() {
  sigset_t set;
  sigemptyset(&set);
  for (int s : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    if (sigaction(s, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, s);
  }
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::thread([set] {
    int signal = 0;
    sigwait(&set, &signal);
    end_children();
    remove_temporary_dirs();
    _exit(loop::watch_ended(signal));
  }).detach();
}

void add_commands(Commands& ridge) {
#define RIDGE_ADD(name) add_##name(ridge);
  RIDGE_COMMANDS(RIDGE_ADD)
  add_class_commands(ridge);
}

// As nvcc, for makefiles of others: a link with that name, or a copy, is `ridge cc`. Makefiles ask
// __nvcc_device_query for the GPU's architecture.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv, argv + argc);
  const std::string name = words.empty() ? "" : words[0].substr(words[0].rfind('/') + 1);
  if (name == "nvcc") words.insert(words.begin() + 1, "cc");
  if (name == "__nvcc_device_query") words = {words[0], "cc", "--list-gpu-code"};
  return words;
}

int run(int argc, char** argv) {
  const std::vector<std::string> words = words_of(argc, argv);
  CLI::App app{"Ridge: learn HPC for AI by writing CUDA that is checked on a CPU and on real GPUs.", "ridge"};
  app.set_version_flag("--version", fmt::format("ridge {} ({})", kVersion, kCommit));
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n  ridge start 01                  make your copy of lab 01\n"
      "  ridge check 01                  quick check of your work\n"
      "  ridge grade 01 --backend cuda   full run on a GPU\n");
  Commands commands(app, words);
  add_commands(commands);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend() - 1));
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    if (code != 0) suggest(app, commands.words());
    return code == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  return commands.chosen() ? commands.chosen()() : loop::home();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  clean_up_on_signal();
  try {
    const int code = run(argc, argv);
    // A reader that stops early (`| head`) is no failure; lost output is one.
    if (std::fflush(stdout) != 0 && errno != EPIPE)
      throw ridge::Error(ridge::Exit::environment, fmt::format("cannot write the output: {}", std::strerror(errno)),
                         "free some space, or send it elsewhere");
    return code;
  } catch (const ridge::Error& e) {
    ridge::print_error(e);
    return static_cast<int>(e.code);
  } catch (const std::exception& e) {
    ridge::print_error({ridge::Exit::environment, e.what(), "run `ridge doctor`; if this repeats, report it"});
    return static_cast<int>(ridge::Exit::environment);
  }
}
