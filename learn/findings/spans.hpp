// Time that operations of a timeline take, and streams in words.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grader/result/counts.hpp"
#include "grader/result/timeline_trace.hpp"

namespace ridge::loop {

using Spans = std::vector<std::pair<double, double>>;

constexpr double kMoment = 1e-8;  // s: the clock's printed digits

inline std::string in_stream(const Timeline& t, int stream) {
  if (stream == 0) return "the default stream";
  if (t.stream == stream) return fmt::format("stream {} (the argument `stream`)", stream);
  const std::string name = given_stream_name(t, stream);
  return name.empty() ? fmt::format("stream {}", stream) : fmt::format("stream {} (`{}`)", stream, name);
}

// Spans in order and without overlaps.
inline Spans merged(Spans all) {
  std::sort(all.begin(), all.end());
  Spans out;
  for (const auto& s : all) {
    if (out.empty() || s.first > out.back().second)
      out.push_back(s);
    else
      out.back().second = std::max(out.back().second, s.second);
  }
  return out;
}

inline Spans of_kind(const Timeline& t, std::string_view kind, bool others = false) {
  Spans all;
  for (const Timeline::Item& i : t.items)
    if ((i.kind == kind) != others && i.end > i.start) all.emplace_back(i.start, i.end);
  return merged(std::move(all));
}

inline double length(const Spans& spans) {
  double sum = 0;
  for (const auto& [start, end] : spans) sum += end - start;
  return sum;
}

// The part of [from, to) that `spans` cover.
inline double covered(const Spans& spans, double from, double to) {
  double sum = 0;
  for (const auto& [start, end] : spans) sum += std::max(0.0, std::min(end, to) - std::max(start, from));
  return sum;
}

}  // namespace ridge::loop
