// ridge simulate tells how long a training step takes on a cluster that is not here.
#include "app/simulate/simulate.hpp"

#include "app/cli/command.hpp"

namespace ridge {

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
  network::Layout& l = a->layout;
  l.overlap_tensor = false;
  command->add_flag("--list", a->list, "Models, GPUs and fabrics that are there");
  command->add_option("--model", a->model, "Transformer: a name of --list, or a file that ends in .toml");
  command->add_option("--gpu", a->gpu, "GPU, likewise");
  command->add_option("--fabric", a->fabric, "Nodes and network, likewise");
  command->add_option("--data", l.data, "Data-parallel replicas")->check(CLI::Range(1, 1 << 20));
  command->add_option("--tensor", l.tensor, "Ranks that share each layer")->check(CLI::Range(1, 1 << 20));
  command->add_option("--pipeline", l.pipeline, "Stages")->check(CLI::Range(1, 1 << 20));
  command->add_option("--chunks", l.chunks, "Of layers on each stage: more than one is interleaved 1F1B")
      ->check(CLI::Range(1, 1024));
  command->add_option("--micro-batch", l.micro_batch, "Sequences of a pass")->check(CLI::Range(1, 1 << 20));
  command
      ->add_option("--global-batch", l.global_batch,
                   "Sequences of a step, all replicas together (default: one micro-batch each)")
      ->check(CLI::Range(0, 1 << 30));
  command->add_option("--sequence", a->sequence, "Tokens of a sequence (default: the model's)")
      ->check(CLI::Range(1, 1 << 24));
  command->add_option("--zero", l.shard, "Stage: 0 replicas, 1 optimizer, 2 gradients, 3 weights are shared out")
      ->check(CLI::Range(0, 3));
  command->add_option("--recompute", a->recompute, "none, selective or full")
      ->check(CLI::IsMember({"none", "selective", "full"}));
  command->add_option("--precision", a->precision, "Of the layers' products: bf16 or fp8")
      ->check(CLI::IsMember({"bf16", "fp8"}));
  command
      ->add_option("--software", a->software,
                   "fused: element-wise kernels are fused; float-loss: the loss is not; eager: none is")
      ->check(CLI::IsMember({"fused", "float-loss", "eager"}));
  command->add_flag("!--unfused-attention", l.fused_attention, "Scores pass through memory, as before FlashAttention");
  command->add_flag("!--no-sequence-parallel", l.sequence_parallel,
                    "All-reduces in the tensor group, norms on each rank");
  command->add_flag("--overlap-tensor", l.overlap_tensor, "The tensor group's messages travel under products");
  command->add_flag("!--no-overlap-data", l.overlap_data, "Gradients travel after the backward pass");
  command->add_option("--gradient-bytes", l.gradient_bytes, "Of an element that is reduced: 2 or 4")
      ->check(CLI::IsMember({2, 4}));
  command
      ->add_option("--failures", a->reliability.gpu_hours_between_failures,
                   "Hours between failures of one GPU (0: none)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--save-seconds", a->reliability.save_seconds, "That a checkpoint stops the training for")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--restart-seconds", a->reliability.restart_seconds, "From a failure to the next step")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--checkpoint-seconds", a->checkpoint_seconds, "Between checkpoints (default: the best)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("--collective", a->collective, "This collective alone, by all groups at once")
      ->check(CLI::IsMember({"all-reduce", "all-gather", "reduce-scatter"}));
  command->add_option("--group", a->group, "Whose collective: data or tensor")
      ->check(CLI::IsMember({"data", "tensor"}));
  command->add_option("--bytes", a->bytes, "Of the whole vector")->check(CLI::NonNegativeNumber);
  command->add_option("--seed", a->seed, "Draws the paths that messages take");
  command->add_option("--timeline", a->timeline, "Writes the first replica's step to this file, for ridge viz");
  command->add_option("--json", a->json, "Also write the result to this file");
  ridge.set_action(command, [a] {
    network::Layout& layout = a->layout;
    if (layout.global_batch == 0) layout.global_batch = layout.data * layout.micro_batch;
    return simulate::run(*a);
  });
  l.global_batch = 0;
}

}  // namespace ridge
