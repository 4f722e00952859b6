// ridge: the command.
#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <thread>

#include "app/commands.hpp"
#include "app/loop_commands.hpp"
#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/report.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"
#ifdef RIDGE_HAVE_CLUSTER
#include "cluster/src/intake/handing_in.hpp"
#include "cluster_commands.hpp"
#endif

namespace {

using namespace ridge;

// Ctrl-C must leave no temporary folder behind. A thread waits for the signal, so that no handler runs in the middle of
// other code; children get their own mask. What was ignored from the start (nohup) stays ignored.
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

void add_grading(CLI::App& command, GradeArguments& a) {
  command.add_option("lab", a.lab, "Lab: 01, 01_coalescing or coalescing")->required();
  command.add_option("--submission", a.submission, "Folder with the lab's files (default: work/NN_name)");
  command.add_option("--wrong", a.wrong,
                     "A wrong solution by its name (docs/misconceptions.md), over --submission or the reference");
  command.add_option("--replace", a.replace, "File of wrong/ that stands in for the one it names");
  command.add_option("--backend", a.backend, "cpu (SIMT emulator), cuda (GPU) or auto")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  command.add_option("--task", a.task, "Only this task");
  command.add_option("--json", a.json, "Also write the result to this file");
  command.add_option("--junit", a.junit, "The same as JUnit XML");
  command.add_option("--gradescope", a.gradescope, "The same as Gradescope's results.json");
  command.add_option("--prairielearn", a.prairielearn, "The same as PrairieLearn's results.json");
  command.add_flag("--autolab", a.autolab, "Print what Autolab reads, and nothing else");
  command
      .add_option("--time-limit", a.time_limit, "Seconds that one run may take (default: 10, with GCC 40, grade 60)")
      ->check(CLI::PositiveNumber);
}

int run(int argc, char** argv) {
  CLI::App app{"Ridge: learn HPC for AI by writing CUDA that is checked on a CPU and on real GPUs.", "ridge"};
  app.set_version_flag("--version", fmt::format("ridge {} ({})", kVersion, kCommit));
  app.require_subcommand(0, 1);
  app.footer(
      "Examples:\n  ridge start 01                  make your copy of lab 01\n"
      "  ridge check 01                  quick check of your work\n"
      "  ridge grade 01 --backend cuda   full run on a GPU\n");

  auto* labs = app.add_subcommand("labs", "List the labs, your scores, and the next step");
  bool json = false;
  labs->add_flag("--json", json, "For programs");
  auto* start = app.add_subcommand("start", "Make your copy of a lab under work/");
  std::string lab;
  start->add_option("lab", lab, "Lab: 01, 01_coalescing or coalescing")->required();
  GradeArguments grading;
  auto* check = app.add_subcommand("check", "Check your work quickly: small sizes, public inputs");
  add_grading(*check, grading);
  check->add_option("--note", grading.note, "Your hypothesis, for the work log (ridge log)");
  check->add_option("--live", grading.live, "Also send the result to a `ridge live` at this address");
  check->add_option("--live-name", grading.live_name, "Your name on its board (default: RIDGE_LIVE_NAME, else USER)");
  check->add_option("--live-token", grading.live_token, "The room's token (default: RIDGE_LIVE_TOKEN)");
  auto* grade = app.add_subcommand("grade", "Grade in full: full sizes, secret inputs");
  add_grading(*grade, grading);
  grade->add_flag("--sanitize", grading.sanitize,
                  "Also look for races, uninitialised reads and leaks, as check does (emulator)");
  grade->add_flag("--official", grading.official, "The course's own judgement: needs a signing key (ridge key new)");
#ifdef RIDGE_HAVE_CLUSTER
  bool through_slurm = false;
  grade->add_flag("--slurm", through_slurm, "As a job of this cluster, waited for; it is practice");
#endif
  grade->add_option("--ranks-through", grading.ranks_through,
                    "Launcher that starts one agent per rank on the job's nodes: \"srun --mpi=pmix\" (emulator)");
  auto* build_into = grade->add_option("--build-into", grading.build_into,
                                       "Only build, into this new folder: for a machine without a GPU");
  grade->add_option("--built", grading.built, "Judge what was built into this folder")->excludes(build_into);
  grade->add_option("--seed-file", grading.seed_file,
                    "Secret seed of a course (16 bytes or more, mode 0600): the same secret cases for all");
  auto* key = app.add_subcommand("key", "Keys that sign records");
  key->require_subcommand(1);
  std::string key_file;
  auto* key_new = key->add_subcommand("new", "Make a key pair; never overwrites one");
  key_new->add_option("file", key_file, "Default: RIDGE_SIGNING_KEY, else ~/.config/ridge/signing.key");
  auto* key_show = key->add_subcommand("show", "Print a key's public part");
  key_show->add_option("file", key_file, "Default: RIDGE_SIGNING_KEY, else ~/.config/ridge/signing.key");
  auto* verify = app.add_subcommand("verify", "Check that records are what a judge signed");
  VerifyArguments verified;
  verify->add_option("files", verified.files, "Records (ridge.result/1)")->required();
  verify->add_option("--key", verified.keys, "Public key, or its file: who may sign")->expected(1)->take_all();
  verify->add_option("--after", verified.after, "Attempt: records up to this one are old");
  verify->add_option("--submission", verified.submission, "Folder that the record must be about");
  auto* report = app.add_subcommand("report", "Show a record, or write it in another format");
  ReportArguments reported;
  report->add_option("files", reported.files, "Record (ridge.result/1); with --html also folders, one a student");
  report->add_option("--html", reported.html,
                     "Write one self-contained page of them (none named: your own) to this file");
  report->add_option("--format", reported.format, "Format")
      ->check(CLI::IsMember({"terminal", "json", "junit", "gradescope", "autolab", "prairielearn"}))
      ->capture_default_str();
  report->add_option("-o,--output", reported.out, "Write to this file");
  grade->add_flag("--require-sandbox", grading.require_sandbox,
                  "Refuse where this machine can't run submissions in a complete sandbox");
  grade->add_flag("--with-reference", grading.with_reference,
                  "The reference solution takes turns too, for comparison; it gives no points (GPU)");
  auto* demo = app.add_subcommand("demo", "Grade a task of every lab's reference solution here and show the scores");
  bool full = false;
  demo->add_flag("--full", full, "All tasks, at grading size");
  auto* doctor = app.add_subcommand("doctor", "What this machine can run, and what to do about the rest");
  DoctorArguments examined;
  doctor->add_flag("--links", examined.links, "Also copy over every link, for 10 s at most, and name the slow ones");
  doctor->add_option("--measure-links", examined.measure, "For ridge itself")->group("");
  auto* cc = app.add_subcommand("cc", "Compile CUDA C++ for the SIMT emulator: ridge cc a.cu -o prog");
  cc->prefix_command();
  cc->set_help_flag();  // command_cc has its own
  auto* viz = app.add_subcommand("viz", "Open the visualizer on results (default: the newest of each lab)");
  viz->prefix_command();
  viz->set_help_flag();  // ridge-viz has its own
  auto* ranks = app.add_subcommand("ranks", "Start one agent per rank through MPI and let each start a worker");
  int np = 2;
  ranks->add_option("-n,--np", np, "Number of ranks")->capture_default_str()->check(CLI::Range(1, 1024));
  auto* calibrate = app.add_subcommand("calibrate", "Measure this machine's ceilings and keep them (under a minute)");
  CalibrateArguments calibration;
  calibrate->add_option("--json", calibration.json, "Also write the measurement to this file");
  calibrate->add_flag("--quick", calibration.quick, "Only memory and matrix products, and keep nothing");
  auto* bench = app.add_subcommand("bench", "All reference solutions in turn with the vendor's way, to benchmarks/");
  bench->require_subcommand(0, 1);
  BenchArguments benching;
  bench->add_option("--lab", benching.lab, "Only this lab");
  bench->add_option("--backend", benching.backend, "cpu (SIMT emulator), cuda (GPU) or auto")
      ->check(CLI::IsMember({"auto", "cpu", "cuda"}))
      ->capture_default_str();
  bench->add_option("--out", benching.out, "Write to this folder (default: benchmarks/<device>)");
  bench->add_flag("--check", benching.check, "At the small sizes of `ridge check`");
  auto* emulated =
      bench
          ->add_option(
              "--emulate-gpus", benching.emulate_gpus,
              "The emulator's virtual time of the cases that so many GPUs are timed on, to benchmarks/emulator/xN")
          ->check(CLI::Range(2, 8));
  bench->add_option("--task", benching.task, "Of --emulate-gpus: only this task")->needs(emulated);
  auto* steps = bench->add_flag("--steps", benching.steps, "Each step of the solutions' climbs, to LAB.steps.json");
  bench
      ->add_flag("--tables", benching.tables,
                 "Only write the pages of what is recorded in benchmarks/: there, and solutions/LAB/README.md (or all "
                 "below OUT)")
      ->excludes(steps);
  auto* fidelity = bench->add_subcommand("fidelity", "Compare the emulator's counters and times with a GPU's");
  FidelityArguments comparison;
  fidelity->add_option("programs", comparison.programs, "Programs of benchmarks/fidelity (default: all)");
  fidelity->add_option("--ncu", comparison.ncu, "Recording: ncu's CSV")->check(CLI::ExistingFile);
  fidelity->add_option("--times", comparison.times, "Recording: times as JSON lines (default: times.jsonl beside it)")
      ->check(CLI::ExistingFile);
  fidelity->add_option("--out", comparison.out, "Write the tables to OUT.md and OUT.json");
  fidelity->add_option("--record", comparison.record, "Only record on this machine's GPU, into this folder");
  std::function<int()> of_the_loop;
  loop::add_commands(app, of_the_loop);

#ifdef RIDGE_HAVE_CLUSTER
  const auto run_cluster = cluster::add_commands(app);
#endif
  loop::add_examples(app);

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    if (code != 0) loop::suggest(app, argc, argv);
    return code == 0 ? 0 : static_cast<int>(Exit::usage);
  }
  if (of_the_loop) return of_the_loop();
  if (*labs) return command_labs(json);
  if (*start) return command_start(lab);
  if (*check) return command_check(grading);
#ifdef RIDGE_HAVE_CLUSTER
  if (*grade && through_slurm) {
    std::vector<std::string> same(argv, argv + argc);
    std::erase(same, "--slurm");
    same[0] = std::filesystem::read_symlink("/proc/self/exe").string();
    return cluster::grade_through_slurm(grading.lab, same);
  }
#endif
  if (*grade) return command_grade(grading);
  if (*key_new) return command_key_new(key_file);
  if (*key_show) return command_key_show(key_file);
  if (*verify) return command_verify(verified);
  if (*report) return command_report(reported);
  if (*demo) return command_demo(full);
  if (*doctor) return command_doctor(examined);
  if (*cc) return command_cc(cc->remaining());
  if (*viz) return command_viz(viz->remaining());
  if (*ranks) return command_ranks(np);
  if (*calibrate) return command_calibrate(calibration);
  if (*fidelity) return command_bench_fidelity(comparison);
  if (*bench && benching.steps) return command_bench_steps(benching);
  if (*bench && benching.tables) return command_bench_tables(benching);
  if (*bench) return command_bench_labs(benching);
#ifdef RIDGE_HAVE_CLUSTER
  if (int code = run_cluster(); code >= 0) return code;
#endif
  return loop::home();
}

}  // namespace

int main(int argc, char** argv) {
  signal(SIGPIPE, SIG_IGN);
  clean_up_on_signal();
  try {
    const int code = run(argc, argv);
    // A reader that has what it wanted (`| head`) is no failure; an output that is lost is one.
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
