// The figures of the instructor's page, as SVG without scripts; the colours come from the page's style.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ridge::cluster {

// How many have how many of `most` points: none, four equal ranges between, and all.
std::string histogram_svg(const std::vector<double>& points, double most, const std::string& what);

// Hand-ins over time, by the hour or the day, with a line at the deadline. Unix seconds, in order; not empty.
std::string times_svg(const std::vector<std::int64_t>& dates, std::optional<std::int64_t> deadline);

}  // namespace ridge::cluster
