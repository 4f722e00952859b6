// Plays `stripes` for entry.cu; the records that the judge sends, and the answers.
#pragma once
#include "stripes.hpp"

struct StripesQuestion {
  System system;
  Striping striping;
  long long offset, bytes;  // target_bytes
  long long file_bytes;     // makespan, choose
  int readers;              // the same
  long long request_bytes, most_request_bytes;
  Collection collection;
  long long per_shard;
};
struct StripesAnswer {
  long long on_target[kMostTargets];
  double makespan;
  Choice choice;
  double files, shards;
  long long per_shard;
};

#ifdef __CUDACC__
#include <vector>

#include "lab/call.hpp"

// in[0]: questions on the host; out[0]: answers. Sizes: questions.
inline void call_stripes(const ridge_call& c) {
  const auto* questions = static_cast<const StripesQuestion*>(c.in[0]);
  std::vector<StripesAnswer> answers(static_cast<std::size_t>(c.size[0]));
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const StripesQuestion& q = questions[i];
    StripesAnswer& a = answers[i];
    a = {};
    target_bytes(q.system, q.striping, q.offset, q.bytes, a.on_target);
    a.makespan = makespan(q.system, q.striping, q.file_bytes, q.readers, q.request_bytes);
    a.choice = choose(q.system, q.file_bytes, q.readers, q.most_request_bytes);
    a.files = seconds_of_files(q.system, q.collection);
    a.shards = seconds_of_shards(q.system, q.collection, q.per_shard);
    a.per_shard = least_per_shard(q.system, q.collection);
  }
  cudaMemcpyAsync(c.out[0], answers.data(), answers.size() * sizeof(StripesAnswer), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}
#endif
