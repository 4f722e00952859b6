#include "cluster/src/pages/local_time.hpp"

#include <fmt/format.h>

#include <ctime>

#include "cluster/src/base/cluster_clock.hpp"
#include "grader/base/clock.hpp"
#include "learn/report/svg.hpp"

namespace ridge::cluster {

namespace {

std::tm local_fields(std::int64_t unix_seconds) {
  const std::time_t when = unix_seconds;
  std::tm fields{};
  localtime_r(&when, &fields);
  return fields;
}

const char* format_of(TimeForm form) {
  switch (form) {
    case TimeForm::full:
      return "%a %-d %b %Y, %H:%M";
    case TimeForm::minutes:
      return "%-d %b %Y, %H:%M";
    case TimeForm::this_year:
      return "%-d %b, %H:%M";
    case TimeForm::day:
      return "%-d %b %Y";
    case TimeForm::year:
      break;
  }
  return "%Y";
}

}  // namespace

std::int64_t local_clock(std::int64_t unix_seconds) { return unix_seconds + local_fields(unix_seconds).tm_gmtoff; }

std::string shown_clock(std::int64_t local_seconds, TimeForm form) { return utc_text(format_of(form), local_seconds); }

std::string local_text(std::int64_t unix_seconds, TimeForm form) {
  const std::string text = shown_clock(local_clock(unix_seconds), form);
  if (form != TimeForm::full) return text;
  const std::tm fields = local_fields(unix_seconds);
  const std::string zone = fields.tm_zone;
  if (zone.find_first_of("+-") == std::string::npos) return text + " " + zone;
  return text + " UTC" + zone;  // a zone without letters of its own: "+08"
}

std::string time_html(std::int64_t unix_seconds, TimeForm form) {
  const std::string utc = date_text(unix_seconds);
  return fmt::format("<time datetime=\"{0}\" title=\"{0}\">{1}</time>", utc,
                     loop::escaped(local_text(unix_seconds, form)));
}

}  // namespace ridge::cluster
