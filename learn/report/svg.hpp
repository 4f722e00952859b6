// Figures of results as SVG, for pages that stand alone: no script, colours from the page's style.
#pragma once
#include <string>

#include "grader/result/result.hpp"

namespace ridge::loop {

// Text for HTML and SVG, in element content and quoted attributes.
std::string escaped(const std::string& text);

// Tasks of a result under the roofs, both axes logarithmic. Empty where no task has a roofline.
std::string roofline_svg(const Result& result);

// The operations of a Chrome trace (docs/result-format.md, "timeline") by row. Empty where it holds none.
std::string timeline_svg(const std::string& trace, const std::string& title);

}  // namespace ridge::loop
