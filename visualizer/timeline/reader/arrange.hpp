// Turns events in file order into a store: sorted lanes, rows by nesting, arrows, and levels of detail.
#pragma once
#include "timeline/reader/trace_parser.hpp"

namespace ridge::viz::timeline {

EventStore arrange(RawTrace raw);

// The most rows of a lane; deeper events share the last one.
inline constexpr std::uint32_t kMostRows = 512;

}  // namespace ridge::viz::timeline
