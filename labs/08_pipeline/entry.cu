// Unpacks a call record of the judge for lab 08, and is the Stage of its contract: the engine of runtime/nn around one rank's part
// of the model.
#ifdef RIDGE_SIMT  // the real one opens libraries, which no submission may
#include <nvtx3/nvToolsExt.h>
#endif
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "lab/call.hpp"
#include "nn/block.cuh"
#include "nn/embedding.cuh"
#include "nn/head.cuh"
#include "pipeline.hpp"
#include "shards.hpp"

namespace {

using Activations = nn::BlockActivations<float>;

// Names what is launched in its scope, for timelines: "forward 3", with several chunks "forward 3 chunk 1".
class Range {
 public:
  Range(const char* what, int micro_batch, int chunk, int chunks) {
#ifdef RIDGE_SIMT
    char name[64];
    const int n = std::snprintf(name, sizeof name, "%s %d", what, micro_batch);
    if (chunks > 1) std::snprintf(name + n, sizeof name - static_cast<std::size_t>(n), " chunk %d", chunk);
    nvtxRangePushA(name);
#else
    (void)what, (void)micro_batch, (void)chunk, (void)chunks;
#endif
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;
  ~Range() {
#ifdef RIDGE_SIMT
    nvtxRangePop();
#endif
  }
};

// What one forward leaves for its backward: of all blocks of a chunk, and, where the model ends, of the head.
struct Slot {
  int chunk = -1, micro_batch = -1, box = -1;  // whose backward is to come; -1: nobody's
  std::vector<Activations> blocks;
  std::vector<float*> between;  // (B, T, C), the blocks' outputs, but for the last one
  float* final = nullptr;       // (B, T, C), the last block's output, on the last rank
  nn::HeadActivations<float> head{};
};

// Each direction of transfers has a communicator of its own: transfers of one communicator wait for each other. Even and odd
// ranks send through different ones, so that a receive does not wait for a send.
struct Ways {
  ncclComm_t whole = nullptr;
  ncclComm_t activations[2]{}, gradients[2]{};  // by sender % 2
  explicit Ways(ncclComm_t all, int rank) : whole(all) {
    for (ncclComm_t* made : {&activations[0], &activations[1], &gradients[0], &gradients[1]})
      if (ncclCommSplit(all, 0, rank, made, nullptr) != ncclSuccess) {
        std::fprintf(stderr, "pipeline: no communicator: %s\n", ncclGetLastError(all));
        std::_Exit(1);
      }
  }
};

}  // namespace

struct Stage::Parts {
  pipeline::Shard shard;
  cudaStream_t stream;
  nn::BlockShape shape;
  nn::HeadShape head;
  std::vector<nn::BlockWeights<float>> weights;  // by chunk and block
  std::vector<nn::BlockGradients> gradients;
  nn::HeadTensors<const float*> head_weights{};
  nn::HeadTensors<float*> head_gradients{};
  const float *wte = nullptr, *wpe = nullptr;
  float *d_wte = nullptr, *d_wpe = nullptr;
  const int *tokens, *targets;  // (m, B, T)
  const float* all_weights;
  float *all_gradients, *loss;
  mutable std::vector<Slot> slots;
  std::vector<float*> inputs, outputs;  // by box
  nn::Context<float> context;
  const Ways* ways;

  const nn::BlockWeights<float>& weights_of(int chunk, int block) const {
    return weights[static_cast<std::size_t>(chunk * shard.blocks + block)];
  }
  // Ends the program where a schedule needs more memory than there is.
  void require(const char* what, const char* kind, int value, int count) const {
    if (value >= 0 && value < count) return;
    std::fprintf(stderr, "pipeline: rank %d: %s with %s %d, and there are %d: 0 to %d\n", shard.rank, what, kind, value,
                 count, count - 1);
    std::fflush(stderr);
    std::_Exit(1);
  }
  // The slot of a forward, which must be free, or of a backward, which is that of its forward. All kernels are in one stream, in the
  // order of these calls.
  Slot& held(bool forward, int chunk, int micro_batch, int slot, int box) const {
    Slot& s = slots[static_cast<std::size_t>(slot)];
    const bool right = forward ? s.micro_batch < 0 : s.chunk == chunk && s.micro_batch == micro_batch && s.box == box;
    if (!right) {
      std::fprintf(stderr, "pipeline: rank %d: %s of micro-batch %d, chunk %d, with slot %d and box %d, ", shard.rank,
                   forward ? "forward" : "backward", micro_batch, chunk, slot, box);
      if (s.micro_batch < 0)
        std::fprintf(stderr, "and no forward has left anything in slot %d\n", slot);
      else
        std::fprintf(stderr, "and slot %d holds micro-batch %d, chunk %d, from a forward with box %d%s\n", slot,
                     s.micro_batch, s.chunk, s.box, forward ? ", whose backward has not been called" : "");
      std::fflush(stderr);
      std::_Exit(1);
    }
    s.chunk = forward ? chunk : -1, s.micro_batch = forward ? micro_batch : -1, s.box = forward ? box : -1;
    return s;
  }
  void require(const char* what, int chunk, int micro_batch, int slot, int box) const {
    require(what, "chunk", chunk, shard.chunks);
    require(what, "micro-batch", micro_batch, shard.micro_batches);
    require(what, "slot", slot, shard.slots);
    require(what, "box", box, shard.boxes);
  }
};

int Stage::rank() const { return parts_->shard.rank; }
int Stage::ranks() const { return parts_->shard.ranks; }
int Stage::micro_batches() const { return parts_->shard.micro_batches; }
int Stage::chunks() const { return parts_->shard.chunks; }
int Stage::slots() const { return parts_->shard.slots; }
std::size_t Stage::elements() const { return parts_->shard.message(); }

float* Stage::input(int box) const {
  parts_->require("input", "box", box, boxes());
  return parts_->inputs[static_cast<std::size_t>(box)];
}
float* Stage::output(int box) const {
  parts_->require("output", "box", box, boxes());
  return parts_->outputs[static_cast<std::size_t>(box)];
}

namespace {

// weights, gradients: (elements). gradients = 0; *loss = 0. Reads the weights, so that L2 has them: the first micro-batch then takes
// as long as the others, and bubbles are those of the schedule.
__global__ void clear_kernel(const float* weights, float* gradients, std::size_t elements, float* loss) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < elements) gradients[i] = isnan(weights[i]) ? weights[i] : 0.0f;
  if (i == 0) *loss = 0;
}

}  // namespace

void Stage::clear_gradients() {
  const Parts& p = *parts_;
  clear_kernel<<<nn::blocks_for(p.shard.elements, nn::kThreads), nn::kThreads, 0, p.stream>>>(
      p.all_weights, p.all_gradients, p.shard.elements, p.loss);
  nn::check_launch("clear_kernel");
}

void Stage::forward(int chunk, int micro_batch, int slot, int box, float weight) {
  const Parts& p = *parts_;
  p.require("forward", chunk, micro_batch, slot, box);
  const Range range("forward", micro_batch, chunk, p.shard.chunks);
  const Slot& s = p.held(true, chunk, micro_batch, slot, box);
  const std::size_t first_token = p.shard.rows() * static_cast<std::size_t>(micro_batch);
  if (first(chunk))
    nn::embedding_forward(p.tokens + first_token, p.wte, p.wpe, input(box), p.shape.B, p.shape.T, p.shape.C, p.stream);
  const float* x = input(box);
  for (std::size_t b = 0; b < s.blocks.size(); ++b) {
    float* out = b < s.between.size() ? s.between[b] : last(chunk) ? s.final : output(box);
    nn::block_forward(p.context, p.shape, p.weights_of(chunk, static_cast<int>(b)), x, s.blocks[b], out);
    x = out;
  }
  if (!last(chunk)) return;
  const float scale = weight / static_cast<float>(p.shard.rows());
  nn::head_forward(p.context, p.head, p.head_weights, x, s.head, p.targets + first_token, scale, scale, p.loss);
}

void Stage::backward(int chunk, int micro_batch, int slot, int box) {
  const Parts& p = *parts_;
  p.require("backward", chunk, micro_batch, slot, box);
  const Range range("backward", micro_batch, chunk, p.shard.chunks);
  const Slot& s = p.held(false, chunk, micro_batch, slot, box);
  float* d = output(box);
  if (last(chunk)) nn::head_backward(p.context, p.head, p.head_weights, p.head_gradients, s.final, s.head, d);
  for (std::size_t b = s.blocks.size(); b-- > 0;) {
    const std::size_t at = static_cast<std::size_t>(chunk * p.shard.blocks) + b;
    nn::block_backward(p.context, p.shape, p.weights[at], p.gradients[at], b > 0 ? s.between[b - 1] : input(box),
                       s.blocks[b], d);
  }
  if (first(chunk))
    nn::embedding_backward(p.tokens + p.shard.rows() * static_cast<std::size_t>(micro_batch), d, p.d_wte, p.d_wpe,
                           p.shape.B, p.shape.T, p.shape.C, p.stream);
}

// A direction has the name of its sender.
Link Stage::activations_in() const {
  const int from = (rank() + ranks() - 1) % ranks();
  return {ranks() > 1 ? parts_->ways->activations[from % 2] : nullptr, from};
}
Link Stage::activations_out() const {
  return {ranks() > 1 ? parts_->ways->activations[rank() % 2] : nullptr, (rank() + 1) % ranks()};
}
Link Stage::gradients_in() const {
  const int from = (rank() + 1) % ranks();
  return {ranks() > 1 ? parts_->ways->gradients[from % 2] : nullptr, from};
}
Link Stage::gradients_out() const {
  return {ranks() > 1 ? parts_->ways->gradients[rank() % 2] : nullptr, (rank() + ranks() - 1) % ranks()};
}

namespace {

// The layout of the whole model names places in its flat buffer; the shard's ranges lie one behind the other in the shard's.
template <class E>
nn::ModelTensors<E*> views_of(const pipeline::Shard& shard, const nn::ParameterLayout& layout, E* base) {
  nn::ParameterLayout moved = layout;
  std::vector<std::size_t> starts;
  std::size_t start = 0;
  for (const nn::Range& r : shard.ranges) starts.push_back(start), start += r.end - r.begin;
  auto place = [&](std::size_t& at) {
    for (std::size_t i = 0; i < starts.size(); ++i)
      if (at >= shard.ranges[i].begin && at < shard.ranges[i].end) {
        at = at - shard.ranges[i].begin + starts[i];
        return;
      }
    at = 0;  // another rank's
  };
  auto& t = moved.at;
  for (std::size_t* at : {&t.head_w, &t.final_gamma, &t.final_beta, &t.wpe, &t.wte}) place(*at);
  for (auto& b : t.blocks)
    for (std::size_t* at : {&b.ln1_gamma, &b.ln1_beta, &b.qkv_w, &b.qkv_b, &b.proj_w, &b.proj_b, &b.ln2_gamma,
                            &b.ln2_beta, &b.fc_w, &b.fc_b, &b.fc2_w, &b.fc2_b})
      place(*at);
  return nn::views(moved, base);
}

// Made once: a handle of cuBLAS takes milliseconds.
const nn::Gemm& gemm_of(cudaStream_t stream) {
  static std::unique_ptr<nn::Gemm> gemm;
  static cudaStream_t of = nullptr;
  if (gemm == nullptr || of != stream) gemm = std::make_unique<nn::Gemm>(stream), of = stream;
  return *gemm;
}

Stage::Parts parts_of(const ridge_call& c, pipeline::Schedule schedule) {
  const ridge_rank one;
  const ridge_rank& self = c.rank != nullptr ? *c.rank : one;
  pipeline::Shard shard;
  {
    std::int64_t size[8];
    std::copy_n(c.size, 8, size);
    shard = pipeline::shard_of(schedule, size, self.ranks, self.rank);
  }
  const pipeline::Memory memory = pipeline::memory_of(shard);
  const nn::ParameterLayout layout = nn::parameter_layout(shard.model);
  const nn::BlockShape shape = nn::block_shape(shard.model, shard.batch, shard.sequence);
  const nn::HeadShape head = nn::head_shape(shard.model, shard.batch, shard.sequence);

  auto* at = static_cast<char*>(c.workspace);
  auto next = [&](std::size_t bytes) {
    at += bytes;
    return nn::Arena(at - bytes, bytes);
  };
  std::vector<Slot> slots(static_cast<std::size_t>(shard.slots));
  for (Slot& s : slots) {
    nn::Arena arena = next(memory.slot);
    for (int b = 0; b < shard.blocks; ++b) s.blocks.push_back(Activations::take(arena, shape));
    for (int b = 0; b + 1 < shard.blocks; ++b)
      s.between.push_back(arena.take<float>(nn::Use::activations, shard.message()));
    if (!shard.has_last()) continue;
    s.final = arena.take<float>(nn::Use::activations, shard.message());
    s.head = nn::HeadActivations<float>::take(arena, head);
  }
  std::vector<float*> inputs, outputs;
  for (int b = 0; b < shard.boxes; ++b) {
    nn::Arena arena = next(memory.box);
    inputs.push_back(arena.take<float>(nn::Use::activations, shard.message()));
    outputs.push_back(arena.take<float>(nn::Use::activations, shard.message()));
  }
  nn::Arena scratch = next(memory.scratch);

  const Ways* ways = nullptr;
  if (self.ranks > 1) {
    static std::unique_ptr<Ways> made;
    auto* all = static_cast<ncclComm_t>(self.communicator);
    if (made == nullptr || made->whole != all) made = std::make_unique<Ways>(all, self.rank);
    ways = made.get();
  }
  const auto w = views_of(shard, layout, static_cast<const float*>(c.in[0]));
  const auto g = views_of(shard, layout, static_cast<float*>(c.out[0]));
  Stage::Parts p{shard,
                 c.stream,
                 shape,
                 head,
                 {},
                 {},
                 {w.head_w, w.final_gamma, w.final_beta},
                 {g.head_w, g.final_gamma, g.final_beta},
                 w.wte,
                 w.wpe,
                 g.wte,
                 g.wpe,
                 static_cast<const int*>(c.in[1]),
                 static_cast<const int*>(c.in[2]),
                 static_cast<const float*>(c.in[0]),
                 static_cast<float*>(c.out[0]),
                 static_cast<float*>(c.out[1]),
                 std::move(slots),
                 std::move(inputs),
                 std::move(outputs),
                 {gemm_of(c.stream), c.stream, nn::Workspace<float>::take(scratch, shape), {}},
                 ways};
  for (int chunk = 0; chunk < shard.chunks; ++chunk)
    for (int b = 0; b < shard.blocks; ++b) {
      const auto l = static_cast<std::size_t>(shard.first_block(chunk) + b);
      p.weights.push_back(w.blocks[l]);
      p.gradients.push_back(g.blocks[l]);
    }
  return p;
}

// out[0]: (p, 2 m v, 3) ints, the steps of all ranks.
void all_orders(const ridge_call& c) {
  const int p = static_cast<int>(c.size[0]), m = static_cast<int>(c.size[1]), v = static_cast<int>(c.size[2]);
  const std::size_t count = 2 * static_cast<std::size_t>(m) * static_cast<std::size_t>(v);
  std::vector<int> out;
  for (int r = 0; r < p; ++r) {
    // Room behind the end shows writes past it: a warm-up may be longer than all forwards.
    std::vector<Step> steps(count + 4 * static_cast<std::size_t>(p) * static_cast<std::size_t>(v), Step{false, -1, -1});
    order(p, m, v, r, steps.data());
    std::size_t written = steps.size();
    while (written > count && steps[written - 1].chunk == -1) --written;
    steps.resize(count);
    if (written > count) steps[0] = {false, -2, static_cast<int>(written)};
    for (const Step& s : steps) out.insert(out.end(), {s.forward ? 1 : 0, s.chunk, s.micro_batch});
  }
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof(int), cudaMemcpyHostToDevice, c.stream);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("order")) {
    all_orders(c);
    return true;
  }
  const bool gpipe_task = c.is("gpipe");
  if (!gpipe_task && !c.is("one_f_one_b") && !c.is("interleaved")) return false;
  Stage::Parts parts = parts_of(c, gpipe_task ? pipeline::Schedule::gpipe : pipeline::Schedule::one_f_one_b);
  Stage stage(parts);
  if (gpipe_task)
    gpipe(stage, c.stream);
  else if (c.is("one_f_one_b"))
    one_f_one_b(stage, c.stream);
  else
    interleaved(stage, c.stream);
  return true;
}
