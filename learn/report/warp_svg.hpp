// Draws one request of a warp from a recording: the lanes, and the sectors or banks that they touch.
#pragma once
#include <string>

namespace ridge::loop {

// `warp` is the text of a ridge.warp/1 file (docs/warp-format.md). Shows the request that costs most beyond its ideal,
// as SVG with a sentence about it; empty where there is none that can be drawn.
std::string warp_svg(const std::string& warp);

}  // namespace ridge::loop
