// Ring collectives: the chunk that each rank sends in each step, its bandwidth, and the alpha-beta model.
#pragma once
#include <optional>

#include "timeline/analysis/kinds.hpp"

namespace ridge::viz::timeline {

struct RingStep {
  std::uint32_t event = 0, place = 0;  // place: index of the rank in Collective::processes
  int step = 0, chunk = -1, peer = -1;
  Phase phase = Phase::none;
  double bytes = 0;
  double alpha = 0, beta = 0;  // s and B/s of its link, where the trace tells; else beta is 0
  Time begin = 0, end = 0;
  double bandwidth() const { return end > begin ? bytes / seconds(end - begin) : 0; }  // B/s
};

// time = alpha + bytes / beta
struct AlphaBeta {
  double alpha = 0;  // s
  double beta = 0;   // B/s
  std::string source;
  double of(double bytes) const { return alpha + bytes / beta; }
};

struct Collective {
  std::vector<std::uint32_t> processes;  // one for each rank, in order
  std::vector<RingStep> steps;           // ordered by rank, then by time
  std::optional<AlphaBeta> model;        // of all links; empty where they differ
  std::vector<AlphaBeta> links;          // where they differ: of each kind, the fastest first
  std::vector<RingStep> ideal;           // the steps as the model times them; `event` is unused
  int most_steps = 0;
  std::string note;  // what was inferred, as a sentence
};

// Built from events with a number of bytes. Nothing where fewer than two ranks send.
std::optional<Collective> collective_of(const EventStore& store);
// The latency and the bandwidth that the trace's emulator gave its links; nothing where the trace does not say.
std::optional<AlphaBeta> known_alpha_beta(const EventStore& store);
// Fits the fastest send of each size, since waiting for a neighbour slows the others.
std::optional<AlphaBeta> fit_alpha_beta(const std::vector<std::pair<double, double>>& bytes_and_seconds);

}  // namespace ridge::viz::timeline
