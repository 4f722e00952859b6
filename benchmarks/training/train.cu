// Data-parallel training with runtime/nn and NCCL, one process a GPU: gradients in buckets, all-reduced beside backward. Prints one
// line of JSON with the time of each update; torch_gpt.py prints the same for PyTorch.
//
//   nvcc -std=c++20 -O3 -gencode=arch=compute_90a,code=sm_90a -I runtime benchmarks/training/train.cu -lcublas -lnccl -o train
//   ./train [--ranks 1] [--model gpt2-124m] [--type bf16|fp16|fp32|tf32] [--batch 8] [--sequence 1024] [--steps 20]
//           [--accumulate 1] [--checkpoint] [--fused] [--bucket-mb 25] [--no-overlap] [--no-messages]
//           [--loss-scale 65536] [--fixed-scale] [--rate 3e-4] [--clip 1] [--losses FILE] [--graph] [--leave 0]
//           [--message-blocks 0] [--register] [--peer | --peer-kernels] [--shard]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "nn/trainer.cuh"
#include "peer_buckets.cuh"
#include "ranks.hpp"

namespace {

struct Options {
  std::string model = "gpt2-124m", type = "bf16";
  int ranks = 1;
  double bucket_mb = 25;
  std::string losses;  // where to write the loss of each update
  bool overlap = true, messages = true, fixed_scale = false;
  bool graph = false;      // forward, backward and all-reduces as one CUDA graph
  int leave = 0;           // multiprocessors that products leave to messages
  int message_blocks = 0;  // that NCCL's kernels may have; 0: as NCCL likes
  bool peer = false;       // copy engines in place of NCCL, two ranks
  bool peer_kernels = false;
  bool shard = false;       // each rank updates its part of the weights
  bool registered = false;  // NCCL knows the buffer of gradients
  nn::TrainConfig train;
};

Options parse(int argc, char** argv) {
  Options o;
  o.train.batch = 8, o.train.sequence = 1024, o.train.steps = 20, o.train.learning_rate = 3e-4f;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    auto value = [&] {
      return i + 1 < argc ? std::string(argv[++i]) : throw std::invalid_argument("no value: " + name);
    };
    if (name == "--checkpoint")
      o.train.checkpoint = true;
    else if (name == "--fused")
      o.train.fused = true;
    else if (name == "--no-overlap")
      o.overlap = false;
    else if (name == "--no-messages")
      o.messages = false;
    else if (name == "--graph")
      o.graph = true;
    else if (name == "--peer")
      o.peer = true;
    else if (name == "--peer-kernels")
      o.peer = o.peer_kernels = true;
    else if (name == "--shard")
      o.shard = true;
    else if (name == "--register")
      o.registered = true;
    else if (name == "--message-blocks")
      o.message_blocks = std::stoi(value());
    else if (name == "--fixed-scale")
      o.fixed_scale = true;
    else if (name == "--loss-scale")
      o.train.loss_scale = std::stof(value());
    else if (name == "--clip")
      o.train.clip = std::stof(value());
    else if (name == "--rate")
      o.train.learning_rate = std::stof(value());
    else if (name == "--losses")
      o.losses = value();
    else if (name == "--leave")
      o.leave = std::stoi(value());
    else if (name == "--ranks")
      o.ranks = std::stoi(value());
    else if (name == "--model")
      o.model = value();
    else if (name == "--type")
      o.type = value();
    else if (name == "--batch")
      o.train.batch = std::stoi(value());
    else if (name == "--sequence")
      o.train.sequence = std::stoi(value());
    else if (name == "--steps")
      o.train.steps = std::stoi(value());
    else if (name == "--accumulate")
      o.train.accumulate = std::stoi(value());
    else if (name == "--bucket-mb")
      o.bucket_mb = std::stod(value());
    else
      throw std::invalid_argument("unknown option " + name);
  }
  if (o.graph && o.type == "fp16" && !o.fixed_scale)
    throw std::invalid_argument("--graph keeps the loss scale of the first update: add --fixed-scale");
  if (o.shard && (o.ranks == 1 || !o.messages))
    throw std::invalid_argument("--shard needs several ranks and their messages");
  o.train.tf32 = o.type == "tf32";
  if (o.type == "fp16" && !o.fixed_scale) o.train.scale_interval = 100;
  return o;
}

template <class T>
constexpr ncclDataType_t kNcclType = ncclFloat;
template <>
constexpr ncclDataType_t kNcclType<__half> = ncclHalf;
template <>
constexpr ncclDataType_t kNcclType<__nv_bfloat16> = ncclBfloat16;

// Takes the mean of gradients over the ranks, bucket by bucket as they get ready: all-reduces, or with --shard reduce-scatters,
// and all-gathers of the weights that each rank has updated.
template <class T>
class Buckets {
 public:
  Buckets(nn::Gpt<T>& gpt, const Options& o, int rank, ncclComm_t comm, cudaStream_t compute)
      : gpt_(gpt),
        elements_(gpt.layout().elements),
        unit_(o.shard ? nn::kDecayPart * static_cast<std::size_t>(o.ranks) : 1),
        rank_(static_cast<std::size_t>(rank)),
        ranks_(static_cast<std::size_t>(o.ranks)),
        shard_(o.shard),
        comm_(comm),
        compute_(compute) {
    if (elements_ % unit_ != 0) throw std::runtime_error("the weights can't be cut into equal parts for these ranks");
    least_ = o.overlap ? static_cast<std::size_t>(o.bucket_mb * 1e6 / sizeof(float)) : elements_;
    int low = 0, high = 0;  // messages first: they take few multiprocessors, and what waits for them is long
    nn::check(cudaDeviceGetStreamPriorityRange(&low, &high), "priorities");
    nn::check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, high), "a stream");
    nn::check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "an event");
  }
  // Ranges come in the order of the buffer: what is ready is a prefix. The bucket that `ready` completes, or an empty range.
  nn::Range take(nn::Range ready) {
    const nn::Range bucket{sent_, ready.end / unit_ * unit_};
    if (bucket.end - sent_ < least_ && bucket.end != elements_) return {sent_, sent_};
    sent_ = bucket.end == elements_ ? 0 : bucket.end;
    return bucket;
  }
  void ready(nn::Range range) {
    const auto [begin, end] = take(range);
    if (begin == end) return;
    await(compute_, stream_);
    float* at = gpt_.gradients() + begin;
    if (shard_) {
      const std::size_t count = (end - begin) / ranks_;
      bench::check(ncclReduceScatter(at, at + rank_ * count, count, ncclFloat, ncclAvg, comm_, stream_),
                   "ncclReduceScatter");
    } else {
      bench::check(ncclAllReduce(at, at, end - begin, ncclFloat, ncclAvg, comm_, stream_), "ncclAllReduce");
    }
  }
  void finish() { await(stream_, compute_); }

  // After a pass over `ready`.
  nn::OptimizerShards shards() {
    nn::OptimizerShards s;
    for (const nn::Range& range : buckets(gpt_.layout())) {
      const std::size_t count = (range.end - range.begin) / ranks_, begin = range.begin + rank_ * count;
      s.own.push_back({begin, begin + count});
    }
    // The last bucket, which is the largest, first: its messages hide behind the updates of the others.
    std::reverse(s.own.begin(), s.own.end());
    s.sum = [this](float* partial, int count) {
      bench::check(
          ncclAllReduce(partial, partial, static_cast<std::size_t>(count), ncclFloat, ncclSum, comm_, compute_),
          "ncclAllReduce");
    };
    s.updated = [this, own = s.own](std::size_t i) {
      await(compute_, stream_);
      const std::size_t count = own[i].end - own[i].begin;
      T* at = gpt_.weights() + own[i].begin;
      bench::check(ncclAllGather(at, at - rank_ * count, count, kNcclType<T>, comm_, stream_), "ncclAllGather");
    };
    s.finish = [this] { finish(); };
    return s;
  }

 private:
  // The buckets of a step.
  std::vector<nn::Range> buckets(const nn::ParameterLayout& layout) {
    std::vector<nn::Range> all;
    auto one = [&](nn::Range range) {
      if (const nn::Range b = take(range); b.begin != b.end) all.push_back(b);
    };
    one(layout.head);
    for (std::size_t l = layout.blocks.size(); l-- > 0;) one(layout.blocks[l]);
    one(layout.embeddings);
    return all;
  }
  void await(cudaStream_t first, cudaStream_t then) {
    nn::check(cudaEventRecord(event_, first), "recording");
    nn::check(cudaStreamWaitEvent(then, event_), "waiting");
  }

  nn::Gpt<T>& gpt_;
  std::size_t elements_, unit_, rank_, ranks_, least_ = 0, sent_ = 0;  // a bucket ends at a multiple of `unit_`
  bool shard_;
  ncclComm_t comm_;
  cudaStream_t compute_, stream_ = nullptr;
  cudaEvent_t event_ = nullptr;
};

// What `work` puts into the stream, to be launched again and again.
template <class Work>
cudaGraphExec_t captured(cudaStream_t stream, Work&& work) {
  nn::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
  work();
  cudaGraph_t graph;
  nn::check(cudaStreamEndCapture(stream, &graph), "ending a capture");
  cudaGraphExec_t exec;
  nn::check(cudaGraphInstantiate(&exec, graph, 0), "instantiating the graph");
  nn::check(cudaGraphDestroy(graph), "freeing the graph");
  return exec;
}

// Memory for a batch that stays where it is, and that a graph may copy from: of pages that nothing else is in.
void pin(std::vector<int>& values, const Options& o) {
  const std::size_t tokens = static_cast<std::size_t>(o.train.batch) * static_cast<std::size_t>(o.train.sequence);
  values.reserve(std::max(tokens, std::size_t{1} << 20));
  nn::check(cudaHostRegister(values.data(), tokens * sizeof(int), cudaHostRegisterDefault), "pinning a batch");
}

template <class T>
void train(const Options& o, int rank, bench::Ranks& ranks) {
  using Clock = std::chrono::steady_clock;
  ncclComm_t comm = ranks.communicator(rank, o.message_blocks);
  cudaStream_t stream;
  nn::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  const nn::ModelConfig model = nn::model_config(o.model);
  nn::Trainer<T> trainer(model, o.train, stream);  // the same seed everywhere: the same weights
  if (o.leave > 0) trainer.gpt().products().leave_multiprocessors(o.leave);
  const std::size_t elements = trainer.gpt().layout().elements;
  void* registration = nullptr;
  if (o.registered && comm != nullptr)
    bench::check(ncclCommRegister(comm, trainer.gpt().gradients(), elements * sizeof(float), &registration),
                 "ncclCommRegister");
  Buckets<T> buckets(trainer.gpt(), o, rank, comm, stream);
  std::optional<nn::OptimizerShards> shards;
  if (o.shard) shards = buckets.shards();
  std::optional<bench::PeerBuckets> peer;
  if (o.peer && o.ranks == 2) {
    peer.emplace(trainer.gpt().gradients(), elements,
                 o.overlap ? static_cast<std::size_t>(o.bucket_mb * 1e6 / sizeof(float)) : elements, rank, ranks,
                 stream);
    peer->wait_in_kernels = o.peer_kernels;
    peer->own_half_only = o.shard;
    if (shards) {
      // Halves of buckets are the same here and there: no bucket ends between two units.
      for (const nn::Range& r : trainer.gpt().layout().blocks)
        if (r.end % (2 * nn::kDecayPart) != 0) throw std::runtime_error("--peer can't halve this model's buckets");
      // One allocation holds the weights in fp32 and behind them the others.
      char *mine = reinterpret_cast<char*>(trainer.gpt().master()),
           *theirs = static_cast<char*>(bench::PeerBuckets::exchange(mine, rank, ranks));
      shards->updated = [&, mine, theirs](std::size_t i) {
        const nn::Range own = shards->own[i];
        T* at = trainer.gpt().weights() + own.begin;
        peer->give(i, at, theirs + (reinterpret_cast<char*>(at) - mine), (own.end - own.begin) * sizeof(T));
      };
      shards->finish = [&] { peer->finish_given(shards->own.size()); };
    }
  }
  nn::MarkovSource chain(std::min(model.vocabulary, 256), 1, 1);
  nn::Random random(static_cast<std::uint64_t>(100 + rank));
  std::vector<double> seconds, slowest;  // of this rank; of the slowest one in each update
  std::vector<float> losses;
  std::vector<nn::Batch> batches(static_cast<std::size_t>(o.train.accumulate));
  if (o.graph)
    for (nn::Batch& batch : batches) pin(batch.tokens, o), pin(batch.targets, o);
  const bool messages = comm != nullptr && o.messages;
  auto gradients = [&] {
    std::size_t next = 0;
    auto ready = [&](nn::Range r) { peer ? peer->ready(r) : buckets.ready(r); };
    trainer.accumulate([&]() -> const nn::Batch& { return batches[next++]; },
                       messages ? nn::GradientsReady(ready) : nn::GradientsReady());
    if (messages) peer ? peer->finish() : buckets.finish();
  };
  cudaGraphExec_t graph = nullptr;
  for (int step = -5; step < o.train.steps; ++step) {
    // Into the same memory each time: a graph copies from where the tokens were when it was made.
    for (nn::Batch& batch : batches) {
      const nn::Batch sample = chain.sample(o.train.batch, o.train.sequence, random);
      batch.tokens.assign(sample.tokens.begin(), sample.tokens.end());
      batch.targets.assign(sample.targets.begin(), sample.targets.end());
    }
    if (o.graph && step == -3) graph = captured(stream, gradients);  // libraries have set themselves up by now
    ranks.barrier();
    const auto start = Clock::now();
    if (graph == nullptr)
      gradients();
    else
      nn::check(cudaGraphLaunch(graph, stream), "launching the graph");
    losses.push_back(trainer.update(shards ? &*shards : nullptr).loss);  // waits for the device
    ranks.of(rank) = std::chrono::duration<double>(Clock::now() - start).count();
    if (step >= 0) seconds.push_back(ranks.of(rank));
    ranks.barrier();
    const std::vector<double> all = ranks.of_all();
    if (step >= 0) slowest.push_back(*std::max_element(all.begin(), all.end()));
  }
  const double median = bench::median(seconds);
  ranks.of(rank) = median;
  ranks.barrier();
  if (rank != 0) return;
  const double tokens = static_cast<double>(o.train.batch) * o.train.sequence * o.train.accumulate;
  cudaDeviceProp about{};
  nn::check(cudaGetDeviceProperties(&about, rank), "the GPU's name");
  std::printf(
      "{\"what\": \"ridge nn\", \"device\": \"%s\", \"model\": \"%s\", \"type\": \"%s\", \"ranks\": %d, \"batch\": %d, "
      "\"sequence\": %d, \"accumulate\": %d, \"checkpoint\": %s, \"fused\": %s, \"overlap\": %s, \"messages\": %s, "
      "\"graph\": %s, "
      "\"leave\": %d, \"message_blocks\": %d, \"registered\": %s, \"peer\": %s, \"shard\": %s, \"bucket_mb\": %g, "
      "\"parameters\": %zu, \"median_s\": %.6f, \"slowest_median_s\": %.6f, \"fastest_s\": %.6f, "
      "\"tokens_per_s_per_gpu\": %.0f, "
      "\"memory_bytes\": %zu, \"loss\": %.4f",
      about.name, o.model.c_str(), o.type.c_str(), o.ranks, o.train.batch, o.train.sequence, o.train.accumulate,
      o.train.checkpoint ? "true" : "false", o.train.fused ? "true" : "false", o.overlap ? "true" : "false",
      o.messages ? "true" : "false", o.graph ? "true" : "false", o.leave, o.message_blocks,
      o.registered ? "true" : "false", o.peer ? "true" : "false", o.shard ? "true" : "false", o.bucket_mb,
      trainer.gpt().layout().count, median, bench::median(slowest), *std::min_element(seconds.begin(), seconds.end()),
      tokens / median, trainer.gpt().memory().total(), static_cast<double>(losses.back()));
  bench::print("rank_medians_s", ranks.of_all());
  bench::print("seconds", seconds);
  std::printf("}\n");
  if (o.losses.empty()) return;
  std::FILE* file = std::fopen(o.losses.c_str(), "w");
  if (file == nullptr) throw std::runtime_error("cannot write " + o.losses);
  for (float l : losses) std::fprintf(file, "%.6f\n", static_cast<double>(l));
  if (std::fclose(file) != 0) throw std::runtime_error("cannot write " + o.losses);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  try {
    o = parse(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train: %s\n", e.what());
    return 2;
  }
  bench::Ranks ranks(o.ranks);
  return ranks.run([&](int rank) {
    if (o.type == "bf16") return train<__nv_bfloat16>(o, rank, ranks);
    if (o.type == "fp16") return train<__half>(o, rank, ranks);
    if (o.type == "fp32" || o.type == "tf32") return train<float>(o, rank, ranks);
    throw std::invalid_argument("--type is bf16, fp16, fp32 or tf32");
  });
}
