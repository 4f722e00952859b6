// Task `planner`: how to train a given model on a given cluster. On the host.
#pragma once
#include <cstdint>

// A GPT as in runtime/nn: 12 h^2 + 13 h parameters a layer, an MLP of 4 h, an embedding that is also the head.
struct Model {
  int layers, hidden, heads, vocabulary, sequence;
};
// GPUs are numbered node by node, and ranks as in task `groups`: tensor innermost, then data, then pipeline; rank r has
// GPU r.
struct Machine {
  int gpus, node;            // in all, and in a node
  std::int64_t memory;       // bytes of a GPU
  double flops;              // flop/s of large products in bf16
  double node_bandwidth;     // B/s of a GPU within its node, each way
  double network_bandwidth;  // B/s of a GPU to other nodes, each way, if all of its node send at once
};
struct Problem {
  Model model;
  Machine machine;
  int global_batch;  // sequences of a step
};

// Sizes are powers of two, and data x pipeline x tensor = gpus. With m = global_batch / (data micro_batch):
//   tensor       at most `node`, and divides the heads
//   micro_batch  1 to 8 sequences; data x micro_batch divides the global batch
//   chunks       v = 1, 2 or 4 of layers on each stage; more than 1 only with a pipeline whose size divides m. pipeline
//                x chunks divides the layers
//   recompute    each layer keeps its input alone, and runs forward again before its backward
//   shard        the stage of ZeRO, 0 to 3; 0 where data is 1
struct Plan {
  int data, tensor, pipeline, micro_batch, chunks;
  bool recompute;
  int shard;
};
bool possible(const Problem& problem, const Plan& plan);

// Bytes of the stage that needs most, in bf16. d, t, p, v, b, m as above; B = b x sequence tokens; n = parameters of
// the stage / t; one = (12 h^2 + 13 h) / t, those of a layer. Each quotient is rounded up.
//   parameters   (layers / p) (12 h^2 + 13 h); on the first stage and on the last one (vocabulary + sequence) h more,
//                and once where there is one stage. For simplicity the positions' embedding, sequence h, is counted on
//                both, and the embeddings are cut as in Megatron-LM
//   weights      2 n; with shard 3: 2 n / d + 4 one: one layer is gathered while another one is used
//   gradients    4 n; with shard 2 or 3: 4 n / d + 4 one
//   optimizer    12 n; with shard 1 to 3: 12 n / d
//   activations  of a layer 34 B h / t, or 2 B h / t with recomputation, times the layers that kept_of says; with
//                recomputation also 34 B h / t for the layer at work
//   logits       6 B vocabulary / t on the last stage, of one micro-batch
std::int64_t memory_of(const Model& model, int global_batch, const Plan& plan);
// How many times a chunk of layers / (p v) layers is kept at most on stage s, between a forward and its backward.
inline int kept_of(int p, int v, int m, int s) {
  const int most = v == 1 ? p - s : 2 * (p - s - 1) + (v - 1) * p + 1;
  return m * v < most ? m * v : most;
}

// Simulates a step and returns its seconds, whether the plan fits into the memory or not. A plan that is not possible
// fails the task. The judge counts the calls: 24 at most.
class Simulate {
 public:
  using Function = double (*)(const Plan& plan);
  explicit Simulate(Function function) : function_(function) {}
  double operator()(const Plan& plan) const { return function_(plan); }

 private:
  Function function_;
};
constexpr int kSimulations = 24;

// Returns the plan that is to be used: it is possible, memory_of is at most machine.memory, and a step takes as little
// time as it can. One such plan exists.
Plan planner(const Problem& problem, const Simulate& simulate);
