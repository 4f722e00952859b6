// ridge grade judges in full, with full sizes and secret inputs.
#include "app/classes/classes.hpp"
#include "app/cli/command.hpp"
#include "app/grading/grading.hpp"

namespace ridge {

void add_grade(Commands& ridge) {
  CLI::App* command = ridge.add("grade", "Grade in full: full sizes, secret inputs",
                                "  ridge grade 01\n  ridge grade 01 --backend cuda --json result.json");
  auto a = std::make_shared<GradeArguments>();
  add_grading_options(*command, *a);
  command->add_flag("--sanitize", a->sanitize,
                    "Also look for races, uninitialised reads and leaks, as check does (emulator)");
  command->add_flag("--official", a->official, "The course's own judgement: needs a signing key (ridge key new)");
  auto through_slurm = std::make_shared<bool>(false);
  command->add_flag("--slurm", *through_slurm, "As a job of this cluster, waited for; it is practice");
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
  ridge.set_action(command, [a, through_slurm, words = ridge.words()] {
    return *through_slurm ? grade_as_job(a->lab, words) : judge_as_asked(*a, lab::Mode::grade);
  });
}

}  // namespace ridge
