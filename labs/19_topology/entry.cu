// Unpacks a call record of the judge for lab 19.
#include <algorithm>
#include <bit>
#include <vector>

#include "all_to_all.hpp"
#include "lab/call.hpp"
#include "schedule.hpp"
#include "share.hpp"
#include "trees.hpp"

namespace {

template <class T>
void copy_out(const ridge_call& c, int index, const std::vector<T>& values) {
  cudaMemcpyAsync(c.out[index], values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before `values` goes
}

template <class T>
std::vector<T> copy_in(const ridge_call& c, int index, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpyAsync(values.data(), c.in[index], count * sizeof(T), cudaMemcpyDeviceToHost, c.stream);
  cudaStreamSynchronize(c.stream);
  return values;
}

// Without a communicator. Sizes: 1, ranks of the trees, and twice ranks and the bits of alpha and beta. out[0]: the places
// of each rank in both trees; out[1]: the crossovers of halving_doubling and double_tree, for both questions.
void on_paper(const ridge_call& c) {
  const int ranks = static_cast<int>(c.size[1]);
  std::vector<int> places;
  for (int r = 0; r < ranks; ++r) {
    TreeNode tree[2] = {{-7, {-7, -7}}, {-7, {-7, -7}}};
    double_tree(ranks, r, tree);
    for (const TreeNode& t : tree) places.insert(places.end(), {t.parent, t.child[0], t.child[1]});
  }
  copy_out(c, 0, places);
  std::vector<double> answers;
  for (int i = 2; i < 8; i += 3)
    for (const Algorithm a : {Algorithm::halving_doubling, Algorithm::double_tree})
      answers.push_back(crossover(a, static_cast<int>(c.size[i]), std::bit_cast<double>(c.size[i + 1]),
                                  std::bit_cast<double>(c.size[i + 2])));
  copy_out(c, 1, answers);
}

// Writes -1 where `limit` dropped a choice. rows: (n, layer.row()); expert: (n, choices).
__global__ void keep_kernel(float* rows, const int* expert, int n, Layer layer) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n * layer.choices) return;
  const int token = i / layer.choices, j = i % layer.choices;
  if (expert[i] < 0) rows[token * layer.row() + layer.width + j] = -1;
}

// The experts of a rank, from number `first` on: each scales a token by its weights. batch: (count, layer.row());
// weights: (experts, width); results: (count, width), weighted by the gates.
__global__ void experts_kernel(const float* batch, const float* weights, float* results, int count, int first,
                               Layer layer) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= count * layer.width) return;
  const float* row = batch + i / layer.width * layer.row();
  const int at = i % layer.width;
  float sum = 0;
  for (int j = 0; j < layer.choices; ++j) {
    const int e = static_cast<int>(row[layer.width + j]) - first;
    if (e >= 0 && e < layer.experts) sum += row[layer.width + layer.choices + j] * weights[e * layer.width + at];
  }
  results[i] = sum * row[at];
}

// in[0]: rows; in[1]: weights of the rank's experts. out[0]: (n, width); out[1]: the batch; out[2]: its number of rows, and
// how many choices `limit` dropped; out[3]: the experts' results. Sizes: n, ranks of a node, experts of a rank, choices,
// width, capacity, rows that the batch has room for.
void experts(const ridge_call& c) {
  const Layer layer{static_cast<int>(c.size[1]), static_cast<int>(c.size[2]), static_cast<int>(c.size[3]),
                    static_cast<int>(c.size[4])};
  const int rank = c.rank->rank, ranks = c.rank->ranks;
  const int n = static_cast<int>(c.size[0]) > 5 * rank ? static_cast<int>(c.size[0]) - 5 * rank : 0;
  const int room = static_cast<int>(c.size[6]), choices = n * layer.choices;
  auto comm = static_cast<ncclComm_t>(c.rank->communicator);

  // The end of the workspace is the course's: rows after the limit, and numbers of experts.
  auto* end = static_cast<char*>(c.workspace) + c.workspace_bytes / 256 * 256;
  auto take = [&end](std::size_t bytes) { return end -= (bytes + 255) / 256 * 256; };
  auto* results = static_cast<float*>(c.out[3]);
  auto* rows = reinterpret_cast<float*>(take(static_cast<std::size_t>(n * layer.row() + 1) * sizeof(float)));
  auto* numbers = reinterpret_cast<int*>(take(static_cast<std::size_t>(choices + 1) * sizeof(int)));
  const auto left = static_cast<std::size_t>(end - static_cast<char*>(c.workspace));

  const std::vector<float> given = copy_in<float>(c, 0, static_cast<std::size_t>(n * layer.row()));
  std::vector<int> expert(static_cast<std::size_t>(choices));
  for (int i = 0; i < choices; ++i)
    expert[static_cast<std::size_t>(i)] = static_cast<int>(
        given[static_cast<std::size_t>(i / layer.choices * layer.row() + layer.width + i % layer.choices)]);
  const int dropped = limit(n, layer.choices, ranks * layer.experts, static_cast<int>(c.size[5]), expert.data());
  if (n > 0) {
    cudaMemcpyAsync(rows, c.in[0], given.size() * sizeof(float), cudaMemcpyDeviceToDevice, c.stream);
    cudaMemcpyAsync(numbers, expert.data(), expert.size() * sizeof(int), cudaMemcpyHostToDevice, c.stream);
    keep_kernel<<<static_cast<unsigned>((choices + 255) / 256), 256, 0, c.stream>>>(rows, numbers, n, layer);
  }
  Plan plan;
  auto* batch = static_cast<float*>(c.out[1]);
  const int count = dispatch(layer, rows, expert.data(), n, batch, &plan, c.workspace, left, comm, c.stream);
  if (count > 0 && count <= room)
    experts_kernel<<<static_cast<unsigned>((count * layer.width + 255) / 256), 256, 0, c.stream>>>(
        batch, static_cast<const float*>(c.in[1]), results, count, rank * layer.experts, layer);
  combine(layer, results, n, plan, static_cast<float*>(c.out[0]), c.workspace, left, comm, c.stream);
  copy_out(c, 2, std::vector<int>{count, dropped});
}

// in[0]: a Network; in[1]: transfers; in[2]: a path for each. out[0]: seconds of each link with these paths; out[1],
// out[2]: the order and the path that `schedule` chooses; out[3]: the links of each transfer with the given paths,
// ascending, and -1 to fill up 4. Size 6 is the number of transfers.
void transfers(const ridge_call& c) {
  const Network network = copy_in<Network>(c, 0, 1).front();
  const auto count = static_cast<std::size_t>(c.size[6]);
  const std::vector<Transfer> all = copy_in<Transfer>(c, 1, count);
  const std::vector<int> given = copy_in<int>(c, 2, count);
  const int n = static_cast<int>(count);
  std::vector<int> order(count, 0), path(count, -1);
  std::vector<double> seconds(static_cast<std::size_t>(links(network)), -1);
  std::vector<int> taken;
  for (std::size_t i = 0; i < count; ++i) {
    int of_one[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const int k = std::clamp(links_of(network, all[i], given[i], of_one), 0, 4);
    std::sort(of_one, of_one + k), std::fill(of_one + k, of_one + 4, -1);
    taken.insert(taken.end(), of_one, of_one + 4);
  }
  copy_out(c, 3, taken);
  busy_seconds(network, all.data(), n, given.data(), seconds.data());
  copy_out(c, 0, seconds);
  schedule(network, all.data(), n, order.data(), path.data());
  copy_out(c, 1, order);
  copy_out(c, 2, path);
}

// in[0]: jobs; in[1], in[2]: a plan. out[0]: when each job of that plan ends; out[1] to out[3]: slots and runs that
// `share` chooses, and how many slots. Sizes: jobs, slots of the plan.
void shares(const ridge_call& c) {
  const auto count = static_cast<std::size_t>(c.size[0]), given = static_cast<std::size_t>(c.size[1]);
  const int n = static_cast<int>(count);
  const std::vector<Job> jobs = copy_in<Job>(c, 0, count);
  const std::vector<Slot> slots = copy_in<Slot>(c, 1, given);
  const std::vector<Run> runs = copy_in<Run>(c, 2, count);
  std::vector<double> end(count, -1);
  finish_times(jobs.data(), n, slots.data(), static_cast<int>(given), runs.data(), end.data());
  copy_out(c, 0, end);
  std::vector<Slot> own(count, Slot{-1, Kind::whole, 0, 0, 0});
  std::vector<Run> run(count, Run{-1, 0});
  copy_out(c, 1, std::vector<int>{share(jobs.data(), n, own.data(), run.data())});
  copy_out(c, 2, own);
  copy_out(c, 3, run);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("trees") && c.size[0] == 1) {
    on_paper(c);
  } else if (c.is("trees")) {
    halving_doubling(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]),
                     static_cast<std::size_t>(c.size[1]), c.workspace, c.workspace_bytes,
                     static_cast<ncclComm_t>(c.rank->communicator), c.stream);
  } else if (c.is("all_to_all")) {
    experts(c);
  } else if (c.is("schedule")) {
    transfers(c);
  } else if (c.is("share")) {
    shares(c);
  } else {
    return false;
  }
  return true;
}
