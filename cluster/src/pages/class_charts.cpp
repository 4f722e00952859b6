#include "cluster/src/pages/class_charts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cluster/src/pages/local_time.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster {

using loop::escaped;

namespace {

constexpr double kBarsWidth = 300, kBarsHeight = 150, kBarsFoot = 24, kBarsHead = 18;
constexpr double kTimesWidth = 760, kTimesHeight = 200, kTimesFoot = 36, kTimesHead = 32, kTimesLeft = 6;

}  // namespace

std::string histogram_svg(const std::vector<double>& points, double most, const std::string& what) {
  constexpr std::array<const char*, 6> kNames = {"0", "<25%", "<50%", "<75%", "<100%", "all"};
  std::array<int, 6> bins{};
  for (const double p : points) {
    const double part = most > 0 ? p / most : 0;
    std::size_t bin = 1 + static_cast<std::size_t>(std::clamp(part * 4, 0.0, 3.0));
    if (part < 1e-9) bin = 0;
    if (part > 1 - 1e-9) bin = 5;
    ++bins[bin];
  }
  const int highest = std::max(1, *std::max_element(bins.begin(), bins.end()));
  std::string told, bars;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double step = kBarsWidth / static_cast<double>(bins.size()), x = step * static_cast<double>(i);
    const double height = (kBarsHeight - kBarsFoot - kBarsHead) * bins[i] / highest;
    const double top = kBarsHeight - kBarsFoot - height;
    told += fmt::format("{}{}: {}", i == 0 ? "" : ", ", kNames[i], bins[i]);
    bars += fmt::format(
        "<rect class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"2\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text>"
        "<text class=\"soft\" x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n",
        i == 0   ? "none-of"
        : i == 5 ? "all-of"
                 : "some-of",
        x + 4, top, step - 8, height, x + step / 2, top - 5, bins[i], x + step / 2, kBarsHeight - 6,
        escaped(kNames[i]));
  }
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n<line class=\"grid\" x1=\"0\" x2=\"{}\" y1=\"{}\" "
      "y2=\"{}\"/>\n{}</svg>\n",
      kBarsWidth, kBarsHeight, escaped(fmt::format("{}, students by points: {}", what, told)), kBarsWidth,
      kBarsHeight - kBarsFoot, kBarsHeight - kBarsFoot, bars);
}

std::string times_svg(const std::vector<std::int64_t>& given, std::optional<std::int64_t> deadline) {
  constexpr std::int64_t kHour = 3600, kDay = 86400, kMostBins = 90;
  // On the clock of this time zone, so that a bar is a day of the calendar. An hour that the clock goes back makes an
  // earlier date the later one.
  std::vector<std::int64_t> dates;
  for (const std::int64_t d : given) dates.push_back(local_clock(d));
  std::sort(dates.begin(), dates.end());
  if (deadline) deadline = local_clock(*deadline);
  std::int64_t first = dates.front(), last = dates.back();
  if (deadline && *deadline > first - 60 * kDay && *deadline < last + 60 * kDay)
    first = std::min(first, *deadline), last = std::max(last, *deadline);
  else
    deadline.reset();
  std::int64_t step = last - first <= 3 * kDay ? kHour : kDay;
  while ((last - first) / step >= kMostBins) step *= 2;
  const std::int64_t begin = first - first % std::min(step, kDay);
  std::vector<int> bins(static_cast<std::size_t>((last - begin) / step) + 1, 0);
  for (const std::int64_t d : dates) ++bins[static_cast<std::size_t>((d - begin) / step)];
  const int highest = *std::max_element(bins.begin(), bins.end());
  const double width = (kTimesWidth - 2 * kTimesLeft) / static_cast<double>(bins.size());
  std::string out;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (bins[i] == 0) continue;
    const double height = (kTimesHeight - kTimesFoot - kTimesHead) * bins[i] / highest;
    const std::string from =
        shown_clock(begin + static_cast<std::int64_t>(i) * step, step < kDay ? TimeForm::minutes : TimeForm::day);
    out += fmt::format(
        "<rect class=\"some-of\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"><title>{}: {} "
        "hand-in{}</title></rect>\n",
        kTimesLeft + width * static_cast<double>(i) + width * 0.08, kTimesHeight - kTimesFoot - height, width * 0.84,
        height, from, bins[i], bins[i] == 1 ? "" : "s");
  }
  if (deadline) {
    const double x = kTimesLeft + (kTimesWidth - 2 * kTimesLeft) * static_cast<double>(*deadline - begin) /
                                      static_cast<double>(step * static_cast<std::int64_t>(bins.size()));
    const bool right = x > kTimesWidth / 2;
    out += fmt::format(
        "<line class=\"deadline\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"0\" y2=\"{1}\"/><text x=\"{2:.1f}\" y=\"22\" "
        "text-anchor=\"{3}\">deadline</text>\n",
        x, kTimesHeight - kTimesFoot, right ? x - 5 : x + 5, right ? "end" : "start");
  }
  const auto day = [](std::int64_t date) { return shown_clock(date, TimeForm::day); };
  out += fmt::format(
      "<line class=\"grid\" x1=\"0\" x2=\"{0}\" y1=\"{1}\" y2=\"{1}\"/><text class=\"soft\" x=\"{2}\" "
      "y=\"{3}\">{4}</text><text class=\"soft\" x=\"{5}\" y=\"{3}\" text-anchor=\"end\">{6}</text>\n",
      kTimesWidth, kTimesHeight - kTimesFoot, kTimesLeft, kTimesHeight - 9, day(begin), kTimesWidth - kTimesLeft,
      day(last));
  return fmt::format(
      "<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{} hand-ins from {} to {}; the most in one {}: "
      "{}\">\n{}</svg>\n",
      kTimesWidth, kTimesHeight, dates.size(), day(dates.front()), day(dates.back()),
      step == kHour  ? "hour"
      : step == kDay ? "day"
                     : fmt::format("span of {} hours", step / kHour),
      highest, out);
}

}  // namespace ridge::cluster
