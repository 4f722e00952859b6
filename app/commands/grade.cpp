// ridge grade judges in full, with full sizes and secret inputs.
#include <filesystem>

#include "app/cli/command.hpp"
#include "app/grading/grading.hpp"
#ifdef RIDGE_HAVE_CLUSTER
#include "cluster/src/intake/handing_in.hpp"
#endif

namespace ridge {

namespace {

#ifdef RIDGE_HAVE_CLUSTER
// Runs the same command line without --slurm as a job of the cluster.
int grade_as_job(const std::string& lab, std::vector<std::string> words) {
  std::erase(words, "--slurm");
  words[0] = std::filesystem::read_symlink("/proc/self/exe").string();
  return cluster::grade_through_slurm(lab, words);
}
#endif

}  // namespace

void add_grade(Commands& ridge) {
  CLI::App* command = ridge.add("grade", "Grade in full: full sizes, secret inputs",
                                "  ridge grade 01\n  ridge grade 01 --backend cuda --json result.json");
  auto a = std::make_shared<GradeArguments>();
  add_grading_options(*command, *a);
  command->add_flag("--sanitize", a->sanitize,
                    "Also look for races, uninitialised reads and leaks, as check does (emulator)");
  command->add_flag("--official", a->official, "The course's own judgement: needs a signing key (ridge key new)");
#ifdef RIDGE_HAVE_CLUSTER
  auto through_slurm = std::make_shared<bool>(false);
  command->add_flag("--slurm", *through_slurm, "As a job of this cluster, waited for; it is practice");
#endif
  command->add_option("--ranks-through", a->ranks_through,
                      "Launcher that starts one agent per rank on the job's nodes: \"srun --mpi=pmix\" (emulator)");
  CLI::Option* build_into = command->add_option("--build-into", a->build_into,
                                                "Only build, into this new folder: for a machine without a GPU");
  command->add_option("--built", a->built, "Judge what was built into this folder")->excludes(build_into);
  command->add_option("--seed-file", a->seed_file,
                      "Secret seed of a course (16 bytes or more, mode 0600): the same secret cases for all");
  command->add_flag("--require-sandbox", a->require_sandbox,
                    "Refuse where this machine can't run submissions in a complete sandbox");
  command->add_flag("--with-reference", a->with_reference,
                    "The reference solution takes turns too, for comparison; it gives no points (GPU)");
#ifdef RIDGE_HAVE_CLUSTER
  ridge.set_action(command, [a, through_slurm, words = ridge.words()] {
    return *through_slurm ? grade_as_job(a->lab, words) : judge_as_asked(*a, lab::Mode::grade);
  });
#else
  ridge.set_action(command, [a] { return judge_as_asked(*a, lab::Mode::grade); });
#endif
}

}  // namespace ridge
