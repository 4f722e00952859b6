// How a training step is spread over ranks (Narayanan et al. 2021; Rajbhandari et al. 2020; Korthikanti et al. 2022).
#pragma once
#include <string>
#include <vector>

#include "gpu.hpp"
#include "transformer.hpp"

namespace ridge::network {

constexpr double kBf16 = 2;  // bytes

// selective: scores, softmax and their product without fused attention (Korthikanti et al. 2022); with it, what
// torchtitan's per-operation mode recomputes: the products of keys, of attention's output and of the MLP's second
// input, and all element-wise kernels.
enum class Recompute { none, selective, full };

struct Layout {
  int data = 1, tensor = 1, pipeline = 1;
  int chunks = 1;        // of layers on a stage: interleaved 1F1B where more than one
  int micro_batch = 1;   // sequences
  int global_batch = 1;  // sequences of one step on all ranks
  int shard = 1;         // ZeRO's stage: 0 replicas, 1 optimizer state, 2 gradients too, 3 weights too
  Recompute recompute = Recompute::none;
  Precision precision = Precision::bf16;
  Attention attention = Attention::flash;
  bool fp8_gather = false;        // ZeRO-3 gathers the layers' weights as fp8; else each rank casts what it gathered
  bool sequence_parallel = true;  // layer norms and residuals are shared out over the tensor group
  bool fused = true;              // element-wise kernels are fused, as by a compiler or by hand
  bool fused_norms = false;       // norms are one kernel each, where the others are not fused
  bool fused_loss = true;         // the loss reads bf16 logits in one kernel, without a float for each
  bool overlap_tensor = false;    // collectives of the tensor group run under products, chunk by chunk
  bool separate_inputs = false;   // q, k and v, and the two first products of a gated MLP, are products of their own
  bool repeats_keys = false;      // keys and values are repeated for each query head, as by PyTorch; kept so, too
  bool keeps_gathered = false;    // gathered inputs are kept for backward, as by PyTorch's DTensor, not gathered again
  bool copies_rows = false;       // rows are laid out anew where they are gathered or summed, as sequences x tokens are
  bool stops_early = false;       // full recomputation ends before the last product, as PyTorch's does
  bool fused_update = true;       // AdamW is one kernel over all parameters, not one for each operation
  bool overlap_data = true;       // gradients travel under the backward pass, weights under the forward pass
  int gradient_bytes = 4;         // of an element that is reduced

  bool fused_attention() const { return attention != Attention::unfused; }  // no T x T array in memory
  int row_shares() const { return sequence_parallel ? tensor : 1; }         // ranks that share a micro-batch's rows
  int ranks() const { return data * tensor * pipeline; }
  int micro_batches() const { return global_batch / data / micro_batch; }
};

// Coordinates of a rank: tensor is innermost, then data, then pipeline, as in Megatron-LM.
struct Place {
  int data = 0, pipeline = 0, tensor = 0;
};
Place place_of(const Layout& layout, int rank);
int rank_of(const Layout& layout, const Place& place);
// The ranks of each group, in order.
std::vector<std::vector<int>> tensor_groups(const Layout& layout);
std::vector<std::vector<int>> data_groups(const Layout& layout);

constexpr int kMostRanks = 1 << 20, kMostSegments = 50'000'000;
// What makes this layout impossible, for all, for the model or for the GPU, in a sentence; empty where nothing does.
std::string misfit(const Layout& layout);
std::string misfit(const Layout& layout, const Transformer& model);
std::string misfit(const Layout& layout, const Gpu& gpu);

}  // namespace ridge::network
