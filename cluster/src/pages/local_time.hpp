// Dates as people read them, in the time zone of this machine or of the variable TZ.
#pragma once
#include <cstdint>
#include <string>

namespace ridge::cluster {

enum class TimeForm {
  full,       // "Sun 1 Nov 2026, 23:00 CET"
  minutes,    // "1 Nov 2026, 23:00"
  this_year,  // "1 Nov, 23:00"
  day,        // "1 Nov 2026"
  year        // "2026"
};

std::string local_text(std::int64_t unix_seconds, TimeForm form);

// The same as an element whose attributes have the date in UTC, as RFC 3339.
std::string time_html(std::int64_t unix_seconds, TimeForm form);

// Seconds since 1970 on a clock of this zone, whose days all have 24 hours: for bins by the day, and for shown_clock.
std::int64_t local_clock(std::int64_t unix_seconds);
std::string shown_clock(std::int64_t local_seconds, TimeForm form);  // `full` without the zone

}  // namespace ridge::cluster
