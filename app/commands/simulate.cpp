// ridge simulate tells how long a training step takes on a cluster that is not here.
#include "app/simulate/simulate.hpp"

#include <algorithm>
#include <cmath>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"

namespace ridge {

namespace {

const CLI::Range kMany(1, 1 << 20);

CLI::Validator finite() {
  return CLI::Validator(
      [](const std::string& text) {
        double value = 0;
        const bool good = CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0;
        return good ? std::string() : "'" + text + "' is not a number of 0 or more";
      },
      "NUMBER");
}

// How the model is spread over ranks.
void add_layout(CLI::App* command, const std::shared_ptr<simulate::Arguments>& a) {
  network::Layout& l = a->layout;
  command->add_option("--data", l.data, "Data-parallel replicas")->check(kMany);
  command->add_option("--tensor", l.tensor, "Ranks that share each layer")->check(kMany);
  command->add_option("--pipeline", l.pipeline, "Stages")->check(kMany);
  command->add_option("--chunks", l.chunks, "Chunks of layers on each stage; several make 1F1B interleaved")
      ->check(kMany);
  command->add_option("--micro-batch", l.micro_batch, "Sequences of a pass")->check(kMany);
  command
      ->add_option("--global-batch", l.global_batch,
                   "Sequences of a step, all replicas together (default: one micro-batch each)")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("--sequence", a->sequence, "Tokens of a sequence (default: the model's)")->check(kMany);
  command
      ->add_option("--zero", l.shard, "ZeRO stage: 0 shards nothing, 1 the optimizer, 2 gradients too, 3 weights too")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
}

// What the program that trains does.
void add_software(CLI::App* command, const std::shared_ptr<simulate::Arguments>& a) {
  network::Layout& l = a->layout;
  command->add_option("--recompute", a->recompute, "Activations that backward recomputes: none, selective or full")
      ->check(CLI::IsMember({"none", "selective", "full"}))
      ->capture_default_str();
  command->add_option("--precision", a->precision, "Precision of the layers' matrix products: bf16 or fp8")
      ->check(CLI::IsMember({"bf16", "fp8"}))
      ->capture_default_str();
  command
      ->add_option("--software", a->software,
                   "fused: element-wise kernels are fused; float-loss: the loss is not; fused-norms: the norms alone; "
                   "eager: none is")
      ->check(CLI::IsMember({"fused", "float-loss", "fused-norms", "eager"}))
      ->capture_default_str();
  command
      ->add_option("--attention", a->attention,
                   "flash: FlashAttention-2; cudnn: cuDNN's; unfused: scores pass through memory")
      ->check(CLI::IsMember({"flash", "cudnn", "unfused"}))
      ->capture_default_str();
  command->add_flag("!--no-sequence-parallel", l.sequence_parallel,
                    "All-reduces in the tensor-parallel group, norms on each rank");
  command->add_flag("--overlap-tensor", l.overlap_tensor,
                    "Messages of the tensor-parallel group travel under products");
  command->add_flag("--fp8-gather", l.fp8_gather, "With fp8, ZeRO-3 gathers the layers' weights as fp8");
  command->add_flag("--separate-inputs", l.separate_inputs,
                    "q, k and v, and the two first products of a gated MLP, are products of their own");
  command->add_flag("--repeat-keys", l.repeats_keys,
                    "Keys and values are kept as often as there are query heads, as PyTorch repeats them");
  command->add_flag("--keep-gathered", l.keeps_gathered,
                    "Backward keeps gathered inputs of the tensor-parallel group and does not gather them again");
  command->add_flag("--copy-rows", l.copies_rows,
                    "Rows of the tensor-parallel group are copied where they are gathered or summed, as PyTorch does");
  command->add_flag("--stop-early", l.stops_early,
                    "Full recomputation ends before the last product, as PyTorch's does");
  command->add_flag("!--unfused-update", l.fused_update, "The optimizer is a kernel for each of its operations");
  command->add_flag("!--no-overlap-data", l.overlap_data, "Gradients travel after the backward pass");
  command->add_option("--gradient-bytes", l.gradient_bytes, "Bytes of a gradient that is reduced: 2 or 4")
      ->check(CLI::IsMember({2, 4}))
      ->capture_default_str();
}

// Failures and checkpoints.
void add_failures(CLI::App* command, const std::shared_ptr<simulate::Arguments>& a) {
  command
      ->add_option("--failures", a->reliability.gpu_hours_between_failures,
                   "GPU-hours between failures (default: none)")
      ->check(finite());
  CLI::Option* seconds =
      command
          ->add_option("--save-seconds", a->reliability.save_seconds, "Seconds for which a checkpoint stops training")
          ->check(finite());
  command
      ->add_option("--save-bandwidth", a->save_bandwidth,
                   "Bytes/s at which the job writes checkpoints of 12 bytes a parameter, in place of --save-seconds")
      ->check(finite())
      ->excludes(seconds);
  command->add_option("--restart-seconds", a->reliability.restart_seconds, "Seconds that a restart takes")
      ->check(finite());
  command->add_option("--checkpoint-seconds", a->checkpoint_seconds, "Seconds between checkpoints (default: Young's)")
      ->check(finite());
}

// A collective in place of a step.
void add_collective(CLI::App* command, const std::shared_ptr<simulate::Arguments>& a) {
  command->add_option("--collective", a->collective, "Simulate this collective alone, in all groups at once")
      ->check(CLI::IsMember({"all-reduce", "all-gather", "reduce-scatter"}));
  command->add_option("--group", a->group, "Groups of the collective: data or tensor")
      ->check(CLI::IsMember({"data", "tensor"}))
      ->capture_default_str();
  command->add_option("--bytes", a->bytes, "Bytes of the whole vector")->check(finite());
}

}  // namespace

void add_simulate(Commands& ridge) {
  CLI::App* command =
      ridge.add("simulate", "A training step on a cluster that is not here, in virtual time",
                "  ridge simulate --list\n"
                "  ridge simulate --model llama3_8b --data 128 --zero 3 --micro-batch 2 --global-batch 256 "
                "--recompute selective\n"
                "  ridge simulate --model gpt3_175b --tensor 8 --pipeline 8 --data 16 --chunks 12 "
                "--global-batch 1536 --timeline step.trace.json\n"
                "  ridge simulate --collective all-reduce --bytes 1e9 --data 2048 --tensor 8 --fabric fat_tree_4to1");
  auto a = std::make_shared<simulate::Arguments>();
  command->add_flag("--list", a->list, "Name the models, GPUs and fabrics that are there");
  command->add_option("--model", a->model, "Transformer: a name of --list, or a file that ends in .toml");
  command->add_option("--gpu", a->gpu, "GPU, likewise");
  command->add_option("--fabric", a->fabric, "Nodes and network, likewise");
  add_layout(command, a);
  add_software(command, a);
  add_failures(command, a);
  add_collective(command, a);
  command->add_option("--seed", a->seed, "Seed that draws the paths of messages")->capture_default_str();
  command->add_option("--timeline", a->timeline, "File for a replica's step, for ridge viz");
  command->add_option("--json", a->json, "File for the result");
  ridge.set_action(command, [a] {
    network::Layout& layout = a->layout;
    constexpr std::int64_t most = 1 << 30;
    if (layout.global_batch == 0)
      layout.global_batch = static_cast<int>(std::min(most, std::int64_t{layout.data} * layout.micro_batch));
    if (a->reliability.gpu_hours_between_failures > 0 && a->reliability.save_seconds == 0 && a->save_bandwidth == 0)
      throw Error(Exit::usage, "--failures needs --save-seconds or --save-bandwidth",
                  "how long does a checkpoint stop training?");
    return simulate::run(*a);
  });
  a->layout.global_batch = 0;  // one micro-batch of each replica, once the sizes are known
}

}  // namespace ridge
