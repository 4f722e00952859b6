// Plays `shards` for entry.cu.
#pragma once
#include <cstring>
#include <vector>

#include "files/ranks.hpp"
#include "lab/call.hpp"
#include "shards.hpp"
#include "shards_plan.hpp"

// in[0]: the samples' bytes; in[1]: where each begins. Sizes: samples, batch, bytes of a shard, seed, numbers of out[0].
// out[0]: shards; for each step of the plan and each rank how many samples it got, and these; then the same steps by one
// rank; then, for each sample of the first run, the bytes and checksum that read_sample gave; then the same
// for kExamined samples, of which some are damaged; then the orders of kOrders, and kSmallOrders orders of kFewSamples
// samples, each in one number. Behind the last number there are zeros.
inline void call_shards(const ridge_call& c) {
  const Samples samples{static_cast<const unsigned char*>(c.in[0]), static_cast<const long long*>(c.in[1]), c.size[0]};
  const Epochs epochs{static_cast<std::uint64_t>(c.size[3]), samples.count, static_cast<int>(c.size[1])};
  std::vector<long long> out;
  out.push_back(write_shards(samples, c.size[2]));
  files::mark(kWritten);
  std::vector<long long> taken;
  // Each rank has a cursor of its own, which begins where the last phase has left the first rank's.
  const auto play = [&](bool alone) {
    Cursor saved;
    for (const Phase& phase : kPhases) {
      const int ranks = alone ? 1 : phase.ranks;
      std::vector<Cursor> cursors(static_cast<std::size_t>(ranks), saved);
      for (int step = 0; step < phase.steps; ++step)
        for (int rank = 0; rank < ranks; ++rank) {
          std::vector<long long> mine;
          next_batch(epochs, cursors[rank], rank, ranks, mine);
          if (mine.size() > static_cast<std::size_t>(epochs.batch)) mine.resize(epochs.batch);
          out.push_back(static_cast<long long>(mine.size()));
          out.insert(out.end(), mine.begin(), mine.end());
          if (!alone) taken.insert(taken.end(), mine.begin(), mine.end());
        }
      saved = cursors[0];
    }
  };
  play(false);
  play(true);
  Shards shards;
  const bool opened = open_shards(shards);
  std::vector<unsigned char> to(kMostSample + sizeof(RecordHead));
  const auto read = [&](long long sample) {
    const bool known = opened && sample >= 0 && sample < samples.count;
    const long long bytes = known ? read_sample(shards, sample, to.data()) : -1;
    out.push_back(bytes);
    out.push_back(bytes >= 0 && bytes <= kMostSample ? checksum(to.data() + sizeof(RecordHead), bytes) : 0);
  };
  for (long long sample : taken) read(sample);
  files::mark(kRead);
  for (int i = 0; i < kExamined; ++i) read(files::mark(kDamage));
  for (const Order& o : kOrders) {
    std::vector<long long> order(static_cast<std::size_t>(samples.count));
    epoch_order(epochs.seed + static_cast<std::uint64_t>(o.seed), o.epoch, order);
    order.resize(static_cast<std::size_t>(samples.count));
    out.insert(out.end(), order.begin(), order.end());
  }
  for (int epoch = 0; epoch < kSmallOrders; ++epoch) {
    std::vector<long long> order(kFewSamples);
    epoch_order(epochs.seed, epoch, order);
    order.resize(kFewSamples);
    long long number = 0;
    for (long long sample : order) number = number * 256 + (sample & 255);
    out.push_back(number);
  }
  for (int fd : shards.fd) files::close(fd);
  out.resize(static_cast<std::size_t>(c.size[4]));
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof(long long), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
