#include "app/simulate/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "grader/base/error.hpp"
#include "grader/base/paths.hpp"
#include "grader/result/result.hpp"
#include "network/description.hpp"

namespace ridge::simulate {

using namespace network;

namespace {

std::string folder() { return (root_dir() / "runtime/network").string(); }

int list() {
  const char* const kinds[][2] = {{"models", "--model"}, {"gpus", "--gpu"}, {"fabrics", "--fabric"}};
  for (const auto& [part, option] : kinds) {
    fmt::print("{} ({}):\n", part, option);
    for (const std::string& name : names_in(folder() + "/" + part)) {
      const std::string title = std::string(part) == "models" ? load_transformer(folder(), name).title
                                : std::string(part) == "gpus" ? load_gpu(folder(), name).title
                                                              : load_fabric(folder(), name).title;
      fmt::print("  {:<20} {}\n", name, title);
    }
  }
  return static_cast<int>(Exit::passed);
}

constexpr double kSavedBytes = 12;  // of a parameter: the weight and AdamW's two moments as floats

Recompute recompute_of(const std::string& name) {
  return name == "full" ? Recompute::full : name == "selective" ? Recompute::selective : Recompute::none;
}

Attention attention_of(const std::string& name) {
  return name == "cudnn" ? Attention::cudnn : name == "unfused" ? Attention::unfused : Attention::flash;
}

struct Row {
  const char* name;
  double seconds;
};
std::vector<Row> rows_of(const StepReport& r) {
  return {{"matrix products", r.work.products},
          {"attention", r.work.attention},
          {"element-wise kernels", r.work.elementwise},
          {"recomputation", r.recomputed},
          {"optimizer", r.update},
          {"exposed: tensor parallel", r.work.exposed},
          {"exposed: data parallel", r.exposed_data},
          {"pipeline bubble", r.bubble},
          {"waiting for the slowest GPU", r.slowest}};
}

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1 << 30)); }

void print(const Arguments& a, const Transformer& model, const Cluster& cluster, const StepReport& r,
           const Goodput& good) {
  const Layout& l = a.layout;
  fmt::print("{}, {:.3g} billion parameters, {} tokens a sequence\n", model.title, model.parameters() / 1e9,
             model.sequence);
  fmt::print(
      "{} ranks: {} x data, {} x pipeline, {} x tensor; {} sequences a step in {} micro-batches of {} on each replica\n",
      l.ranks(), l.data, l.pipeline, l.tensor, l.global_batch, l.micro_batches(), l.micro_batch);
  fmt::print("{}; {}\n\n", cluster.gpu.title, cluster.fabric.title);
  fmt::print("step                              {:10.4f} s   {:.4g} tokens/s, {:.5g} of each GPU\n", r.seconds,
             r.tokens_per_second(), r.tokens_per_second() / l.ranks());
  for (const Row& row : rows_of(r))
    fmt::print("  {:<31} {:10.4f} s   {:4.1f}%\n", row.name, row.seconds, 100 * row.seconds / r.seconds);
  fmt::print(
      "\nmodel flops                       {:10.1f} TFLOP/s of each GPU, MFU {:.1f}% of the data sheet in bf16\n",
      r.flops_per_second() / 1e12, 100 * r.flops_per_second() / cluster.gpu.bf16_flops);
  fmt::print("peak memory of a GPU              {:>12}: weights {}, gradients {}, optimizer {}, activations {}\n",
             gib(r.memory.total()), gib(r.memory.weights), gib(r.memory.gradients), gib(r.memory.optimizer),
             gib(r.memory.activations));
  fmt::print(
      "sent by a GPU in a step           {:>12} to its data-parallel group, {} to its tensor-parallel group, {} to other stages\n",
      gib(r.data_bytes), gib(r.tensor_bytes), gib(r.pipeline_bytes));
  if (r.memory.total() > cluster.gpu.memory_bytes)
    fmt::print(
        "\nThis does not fit: the GPU has {}. More recomputation, a smaller micro-batch, a higher ZeRO stage or more "
        "tensor or pipeline parallelism needs less.\n",
        gib(cluster.gpu.memory_bytes));
  if (a.reliability.gpu_hours_between_failures > 0)
    fmt::print(
        "\na failure every {:.1f} h; a checkpoint every {:.0f} s, which stops training for {:.1f} s; {:.1f}% of the time "
        "advances the training: {:.4g} tokens a day\n",
        good.seconds_between_failures / 3600, good.interval, a.reliability.save_seconds, 100 * good.fraction,
        good.fraction * r.tokens_per_second() * 86400);
}

nlohmann::json json_of(const Arguments& a, const Transformer& model, const StepReport& r, const Goodput& good,
                       bool fits) {
  const Layout& l = a.layout;
  nlohmann::json parts;
  for (const Row& row : rows_of(r)) parts[row.name] = row.seconds;
  nlohmann::json j{{"schema", "ridge.simulation/1"},
                   {"model", a.model},
                   {"gpu", a.gpu},
                   {"fabric", a.fabric},
                   {"parameters", model.parameters()},
                   {"ranks", l.ranks()},
                   {"data", l.data},
                   {"tensor", l.tensor},
                   {"pipeline", l.pipeline},
                   {"chunks", l.chunks},
                   {"micro_batch", l.micro_batch},
                   {"global_batch", l.global_batch},
                   {"zero", l.shard},
                   {"recompute", a.recompute},
                   {"precision", a.precision},
                   {"step_s", r.seconds},
                   {"parts_s", parts},
                   {"tokens_per_s", r.tokens_per_second()},
                   {"tokens_per_s_per_gpu", r.tokens_per_second() / l.ranks()},
                   {"model_flops_per_gpu", r.flops_per_second()},
                   {"memory_bytes", r.memory.total()},
                   {"memory_parts_bytes",
                    {{"weights", r.memory.weights},
                     {"gradients", r.memory.gradients},
                     {"optimizer", r.memory.optimizer},
                     {"activations", r.memory.activations}}},
                   {"fits", fits},
                   {"software", a.software},
                   {"sequence", model.sequence},
                   {"attention", a.attention},
                   {"sequence_parallel", l.sequence_parallel},
                   {"overlap_tensor", l.overlap_tensor},
                   {"separate_inputs", l.separate_inputs},
                   {"repeat_keys", l.repeats_keys},
                   {"keep_gathered", l.keeps_gathered},
                   {"copy_rows", l.copies_rows},
                   {"stop_early", l.stops_early},
                   {"fp8_gather", l.fp8_gather},
                   {"fused_update", l.fused_update},
                   {"overlap_data", l.overlap_data},
                   {"gradient_bytes", l.gradient_bytes},
                   {"seed", a.seed},
                   {"data_bytes", r.data_bytes},
                   {"tensor_bytes", r.tensor_bytes},
                   {"pipeline_bytes", r.pipeline_bytes}};
  if (a.reliability.gpu_hours_between_failures > 0)
    j["goodput"] = {{"seconds_between_failures", good.seconds_between_failures},
                    {"checkpoint_interval_s", good.interval},
                    {"save_s", a.reliability.save_seconds},
                    {"tokens_per_day", good.fraction * r.tokens_per_second() * 86400},
                    {"fraction", good.fraction}};
  return j;
}

}  // namespace

int run(const Arguments& given) try {
  if (given.list) return list();
  Arguments a = given;
  a.layout.recompute = recompute_of(a.recompute);
  a.layout.precision = a.precision == "fp8" ? Precision::fp8 : Precision::bf16;
  a.layout.attention = attention_of(a.attention);
  a.layout.fused = a.software == "fused" || a.software == "float-loss";
  a.layout.fused_norms = a.software == "fused-norms";
  a.layout.fused_loss = a.software == "fused";
  const Cluster cluster{load_gpu(folder(), a.gpu), load_fabric(folder(), a.fabric)};
  if (!a.collective.empty()) return run_collective(a, cluster);
  Transformer model = load_transformer(folder(), a.model);
  if (a.sequence > 0) model.sequence = a.sequence;
  const StepReport report = simulate_step(model, a.layout, cluster, !a.timeline.empty(), a.seed);
  if (a.save_bandwidth > 0) a.reliability.save_seconds = kSavedBytes * model.parameters() / a.save_bandwidth;
  const Goodput good = goodput(a.reliability, a.layout.ranks(), a.checkpoint_seconds);
  print(a, model, cluster, report, good);
  if (!a.json.empty())
    write_durably(fs::absolute(a.json),
                  json_of(a, model, report, good, report.memory.total() <= cluster.gpu.memory_bytes).dump(1) + "\n");
  if (!a.timeline.empty()) {
    write_durably(fs::absolute(a.timeline), trace_of(report, a.layout, model.title));
    fmt::print("\nA replica's timeline: ridge viz {}\n", a.timeline);
  }
  return static_cast<int>(Exit::passed);
} catch (const DescriptionError& e) {
  throw Error(Exit::usage, e.what(), "ridge simulate --list names what is there");
} catch (const std::invalid_argument& e) {
  throw Error(Exit::usage, fmt::format("this layout is impossible: {}", e.what()),
              "change the sizes or options: ridge simulate --help");
}

}  // namespace ridge::simulate
