// ridge bench measures the reference solutions and records the results.
#include "app/bench/bench.hpp"

#include "app/cli/command.hpp"

namespace ridge {

namespace {

void add_fidelity(Commands& ridge, CLI::App* bench) {
  CLI::App* command = bench->add_subcommand("fidelity", "Compare the emulator's counters and times with a GPU's");
  auto a = std::make_shared<FidelityArguments>();
  command->add_option("programs", a->programs, "Programs of benchmarks/fidelity (default: all)");
  command->add_option("--ncu", a->ncu, "Recording: ncu's CSV")->check(CLI::ExistingFile);
  command->add_option("--times", a->times, "Recording: times as JSON lines (default: times.jsonl beside it)")
      ->check(CLI::ExistingFile);
  command->add_option("--out", a->out, "Write the tables to OUT.md and OUT.json");
  command->add_option("--record", a->record, "Only record on this machine's GPU, into this folder");
  ridge.set_action(command, [a] { return bench_fidelity(*a); });
}

}  // namespace

void add_bench(Commands& ridge) {
  CLI::App* command = ridge.add("bench", "All reference solutions in turn with their baselines, to benchmarks/",
                                "  ridge bench --lab 01\n  ridge bench --steps --backend cpu\n  ridge bench --tables");
  command->require_subcommand(0, 1);
  auto a = std::make_shared<BenchArguments>();
  command->add_option("--lab", a->lab, "Only this lab");
  add_backend_option(*command, a->backend);
  command->add_option("--out", a->out, "Write to this folder (default: benchmarks/<device>)");
  command->add_flag("--check", a->check, "At the small sizes of `ridge check`");
  CLI::Option* emulated =
      command
          ->add_option(
              "--emulate-gpus", a->emulate_gpus,
              "The emulator's virtual time of the cases that so many GPUs are timed on, to benchmarks/emulator/xN")
          ->check(CLI::Range(2, 8));
  command->add_option("--task", a->task, "Of --emulate-gpus: only this task")->needs(emulated);
  CLI::Option* steps = command->add_flag("--steps", a->steps, "Each step of the solutions' climbs, to LAB.steps.json");
  command
      ->add_flag("--tables", a->tables,
                 "Only write the pages of what is recorded in benchmarks/: there, and solutions/LAB/README.md (or all "
                 "below OUT)")
      ->excludes(steps);
  ridge.set_action(command, [a] {
    if (a->steps) return bench_steps(*a);
    if (a->tables) return bench_tables(*a);
    return bench_labs(*a);
  });
  add_fidelity(ridge, command);
}

}  // namespace ridge
