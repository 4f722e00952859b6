// Draws figures of results as SVG without scripts; the colours come from the page's style.
#pragma once
#include <string>
#include <vector>

#include "grader/result/result.hpp"

namespace ridge::loop {

// Text as it may stand in the elements and quoted attributes of HTML and SVG.
std::string escaped(const std::string& text);

// Draws the tasks of a result under the roofs, on logarithmic axes. Empty if no task has a roofline.
std::string roofline_svg(const Result& result);

// A task's attempts, oldest first, as a path under the roofs of the newest one; equal neighbours share a point.
std::string attempts_roofline_svg(const std::vector<Result>& attempts, const std::string& task);

// Draws the operations of a Chrome trace (docs/result-format.md, "timeline"), row by row. Empty if there are none.
std::string timeline_svg(const std::string& trace, const std::string& title);

}  // namespace ridge::loop
