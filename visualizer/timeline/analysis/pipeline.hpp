// Pipelines: forwards and backwards of micro-batches by rank, the bubble, and the schedule that it could be.
#pragma once
#include <optional>

#include "timeline/analysis/overlap.hpp"

namespace ridge::viz::timeline {

struct PipelineStep {
  std::uint32_t place = 0;  // of the rank, in Pipeline::processes
  int micro_batch = 0, chunk = 0;
  bool forward = true;
  Time begin = 0, end = 0;
  std::uint32_t first_event = 0, events = 0;
};

struct Pipeline {
  std::vector<std::uint32_t> processes;
  std::vector<PipelineStep> steps;  // by rank, then by time
  // The same steps in the same order, each as long as the median of its rank and direction; transfers take no time.
  std::vector<PipelineStep> ideal;
  int micro_batches = 0, chunks = 1;
  double bubble = 0, ideal_bubble = 0;
  Time whole = 0, ideal_whole = 0;
  std::string note;
};

// Finds a pipeline in kernels whose args (micro_batch, direction) or names ("forward 3") tell their place; else
// nothing.
std::optional<Pipeline> pipeline_of(const EventStore& store);

}  // namespace ridge::viz::timeline
