// From events in the order of the file to lanes with rows: sorted, nested, joined by arrows, with levels of detail.
#pragma once
#include "timeline/reader/trace_parser.hpp"

namespace ridge::viz::timeline {

EventStore arrange(RawTrace raw);

// Rows of a lane at most; what overlaps deeper shares the last one.
inline constexpr std::uint32_t kMostRows = 512;

}  // namespace ridge::viz::timeline
