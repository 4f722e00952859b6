// Unpacks a call record of the judge for lab 14.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <vector>

#include "groups.hpp"
#include "lab/ask.hpp"
#include "lab/call.hpp"
#include "part.hpp"
#include "place.hpp"
#include "planner.hpp"

namespace {

template <class T>
void copy_out(const ridge_call& c, int index, const std::vector<T>& values) {
  cudaMemcpyAsync(c.out[index], values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before `values` goes
}

// out[0]: of each rank its coordinates and rank_of them; of each group the number of members, color and key; then all
// members. Sizes: data, pipeline, tensor.
void all_groups(const ridge_call& c) {
  const Sizes sizes{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  const std::size_t fixed = 4 + 3 * 5, room = static_cast<std::size_t>(sizes.data + sizes.pipeline + sizes.tensor +
                                                                       sizes.pipeline * sizes.tensor + 2);
  std::vector<int> out(static_cast<std::size_t>(sizes.ranks()) * (fixed + room), -7);
  std::vector<int> list(static_cast<std::size_t>(sizes.ranks()));
  for (int r = 0; r < sizes.ranks(); ++r) {
    int* to = out.data() + static_cast<std::size_t>(r) * (fixed + room);
    const Coordinates at = coordinates(sizes, r);
    to[0] = at.data, to[1] = at.pipeline, to[2] = at.tensor, to[3] = rank_of(sizes, at);
    std::size_t listed = fixed;
    for (int g = 0; g < 5; ++g) {
      const Group group = static_cast<Group>(g);
      const int count = members(sizes, group, r, list.data());
      const Split mine = split(sizes, group, r);
      to[4 + 3 * g] = count, to[5 + 3 * g] = mine.color, to[6 + 3 * g] = mine.key;
      for (int i = 0; i < count && i < sizes.ranks() && listed < fixed + room; ++i)
        to[listed++] = list[static_cast<std::size_t>(i)];
    }
  }
  copy_out(c, 0, out);
}

// out[0]: bytes by level of the mapping in in[1], then of the one that `place` writes, 4 numbers each; out[1]: that
// one. in[0]: the traffic. Sizes: data, pipeline, tensor; GPUs of a node and of two larger containers (0: none); rails.
void places(const ridge_call& c) {
  const Sizes sizes{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  Cluster cluster{};
  for (int k = 3; k < 6; ++k)
    if (c.size[k] > 0 && c.size[k] < sizes.ranks()) cluster.gpus[cluster.containers++] = static_cast<int>(c.size[k]);
  cluster.gpus[cluster.containers++] = sizes.ranks();
  cluster.rails = c.size[6] != 0;
  std::int64_t bytes[3];
  std::vector<int> given(static_cast<std::size_t>(sizes.ranks())), mine(given.size(), -1);
  cudaMemcpyAsync(bytes, c.in[0], sizeof bytes, cudaMemcpyDeviceToHost, c.stream);
  cudaMemcpyAsync(given.data(), c.in[1], given.size() * sizeof(int), cudaMemcpyDeviceToHost, c.stream);
  cudaStreamSynchronize(c.stream);
  const Traffic traffic{bytes[0], bytes[1], bytes[2]};
  std::vector<std::int64_t> out(2 * kMostLevels, 0);
  bytes_by_level(sizes, cluster, traffic, given.data(), out.data());
  place(sizes, cluster, traffic, mine.data());
  bool each = true;  // a mapping to no GPU has no levels
  for (const int gpu : mine) each = each && gpu >= 0 && gpu < sizes.ranks();
  if (each) bytes_by_level(sizes, cluster, traffic, mine.data(), out.data() + kMostLevels);
  copy_out(c, 0, out);
  copy_out(c, 1, mine);
}

// As in the lesson, and made without the student's functions: a mistake in `groups` is not told here once more. Kept,
// by sizes.
const Communicators& communicators_of(const Sizes& s, const Coordinates& at, ncclComm_t world, int rank) {
  static thread_local auto& all =
      *new std::map<std::vector<int>, Communicators>;  // never freed: CUDA may be gone before
  Communicators& made = all[{s.data, s.pipeline, s.tensor}];
  if (made.world == world) return made;
  made.world = world;
  auto make = [&](ncclComm_t& comm, int color) {
    if (ncclCommSplit(world, color, rank, &comm, nullptr) == ncclSuccess) return;
    std::fprintf(stderr, "step_3d: no communicator: %s\n", ncclGetLastError(world));
    std::_Exit(1);
  };
  const bool end = at.pipeline == 0 || at.pipeline + 1 == s.pipeline;
  make(made.tensor, at.pipeline * s.data + at.data);
  make(made.data, at.pipeline * s.tensor + at.tensor);
  make(made.pipeline, at.data * s.tensor + at.tensor);
  make(made.embedding, end ? at.data * s.tensor + at.tensor : NCCL_SPLIT_NOCOLOR);
  make(made.model, at.data);
  return made;
}

// in: the rank's weights; (2, m, B, T) tokens and targets of its replica; the loss scale. out: weights, gradients,
// state. Sizes: shards::Run.
void step(const ridge_call& c) {
  std::int64_t size[8];
  for (int i = 0; i < 8; ++i) size[i] = c.size[i];
  const shards::Run run(size);
  const int r = c.rank->rank;
  const Sizes sizes{run.data, run.pipeline, run.tensor};
  const Coordinates at{r / run.tensor % run.data, r / (run.tensor * run.data), r % run.tensor};
  const Communicators& comms = communicators_of(sizes, at, static_cast<ncclComm_t>(c.rank->communicator), r);
  struct Kept {
    std::unique_ptr<nn::Gemm> gemm;
    cudaStream_t stream = nullptr;
  };
  static thread_local Kept& kept = *new Kept;
  if (kept.gemm == nullptr || kept.stream != c.stream)
    kept.gemm = std::make_unique<nn::Gemm>(c.stream), kept.stream = c.stream;
  auto *weights = static_cast<float*>(c.out[0]), *gradients = static_cast<float*>(c.out[1]);
  auto* state = static_cast<State*>(c.out[2]);
  Part::Engine engine(run, at, nn::parameter_layout(run.model()), weights, gradients, static_cast<const int*>(c.in[1]),
                      c.workspace, c.workspace_bytes, *kept.gemm, comms.tensor, c.stream);
  cudaMemcpyAsync(weights, c.in[0], engine.shard.elements * sizeof(float), cudaMemcpyDeviceToDevice, c.stream);
  cudaMemcpyAsync(&state->loss_scale, c.in[2], sizeof(float), cudaMemcpyDeviceToDevice, c.stream);
  Part part(engine);
  step_3d(part, comms, shards::Run::kRate, run.max_norm(), state, c.stream);
}

// The judge has the simulator.
double simulated(const Plan& plan) {
  const long long question[8] = {
      plan.data, plan.tensor, plan.pipeline, plan.micro_batch, plan.chunks, plan.recompute ? 1 : 0, plan.shard};
  double answer[4] = {-1};
  if (!ridge_ask(question, answer))
    std::fprintf(stderr, "planner: a simulation was refused: %d are allowed\n", kSimulations);
  return answer[0];
}

// out[0]: memory_of each plan in in[1]; out[1]: the chosen plan, 7 ints. in[0]: a Problem. Sizes: plans.
void plans(const ridge_call& c) {
  Problem problem;
  const auto count = static_cast<std::size_t>(c.size[0]);
  std::vector<int> given(7 * count);
  cudaMemcpyAsync(&problem, c.in[0], sizeof problem, cudaMemcpyDeviceToHost, c.stream);
  cudaMemcpyAsync(given.data(), c.in[1], given.size() * sizeof(int), cudaMemcpyDeviceToHost, c.stream);
  cudaStreamSynchronize(c.stream);
  std::vector<std::int64_t> bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const int* g = &given[7 * i];
    bytes.push_back(memory_of(problem.model, problem.global_batch, {g[0], g[1], g[2], g[3], g[4], g[5] != 0, g[6]}));
  }
  const Plan plan = planner(problem, Simulate(simulated));
  copy_out(c, 0, bytes);
  copy_out(c, 1,
           std::vector<int>{plan.data, plan.tensor, plan.pipeline, plan.micro_batch, plan.chunks,
                            plan.recompute ? 1 : 0, plan.shard});
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("groups")) {
    all_groups(c);
  } else if (c.is("place")) {
    places(c);
  } else if (c.is("step_3d")) {
    step(c);
  } else if (c.is("planner")) {
    plans(c);
  } else {
    return false;
  }
  return true;
}
