#include "cluster/src/intake/lms_dates.hpp"

#include <cstdio>
#include <ctime>
#include <map>

#include "cluster/src/base/cluster_clock.hpp"
#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"

namespace ridge::cluster {

namespace {

// Of English and the neighbours in which Moodle often speaks, by the first letters; 0: none.
int month_of(const std::string& word) {
  static const std::map<std::string, int> known = {
      {"jan", 1}, {"feb", 2},  {"mar", 3},  {"apr", 4},  {"may", 5}, {"jun", 6}, {"jul", 7},  {"aug", 8},
      {"sep", 9}, {"oct", 10}, {"nov", 11}, {"dec", 12}, {"mär", 3}, {"mai", 5}, {"okt", 10}, {"dez", 12},
      {"fév", 2}, {"avr", 4},  {"aoû", 8},  {"déc", 12}, {"ene", 1}, {"abr", 4}, {"ago", 8},  {"dic", 12}};
  const std::string text = lower(word);
  for (const auto& [begin, month] : known)
    if (text.starts_with(begin)) return month;
  return 0;
}

std::optional<std::int64_t> local(int year, int month, int day, int hour, int minute, int second) {
  if (year < 2000 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 60)
    return std::nullopt;
  std::tm t{};
  t.tm_year = year - 1900, t.tm_mon = month - 1, t.tm_mday = day;
  t.tm_hour = hour, t.tm_min = minute, t.tm_sec = second, t.tm_isdst = -1;
  const std::time_t at = std::mktime(&t);
  return at == -1 ? std::nullopt : std::optional<std::int64_t>(at);
}

// Hours of a day from those of a clock; "" where the clock has 24.
int hours(int hour, const std::string& half) {
  if (half == "am" || half == "pm") return hour < 1 || hour > 12 ? -1 : hour % 12 + (half == "pm" ? 12 : 0);
  return half.empty() ? hour : -1;
}

std::optional<std::int64_t> zoned(const std::string& text) {
  try {
    return parse_date(text);
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::optional<std::int64_t> blackboard_date(const std::string& text) {
  int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0, used = 0;
  if (std::sscanf(text.c_str(), "%4d-%2d-%2d-%2d-%2d-%2d%n", &y, &mo, &d, &h, &mi, &s, &used) != 6 ||
      static_cast<std::size_t>(used) != text.size())
    return std::nullopt;
  return local(y, mo, d, h, mi, s);
}

std::optional<std::int64_t> brightspace_date(const std::string& text) {
  char month[16] = "", half[8] = "";
  int day = 0, year = 0, clock = 0, used = 0;
  if (std::sscanf(text.c_str(), "%15s %2d, %4d %4d %7s%n", month, &day, &year, &clock, half, &used) != 5 ||
      static_cast<std::size_t>(used) != text.size())
    return std::nullopt;
  const std::string which = lower(half);
  if (which != "am" && which != "pm") return std::nullopt;
  return local(year, month_of(month), day, hours(clock / 100, which), clock % 100, 0);
}

std::optional<std::int64_t> moodle_date(const std::string& text) {
  const auto comma = text.find(", ");
  if (comma == std::string::npos) return std::nullopt;
  char month[32] = "", half[8] = "";
  int day = 0, year = 0, hour = 0, minute = 0;
  const std::string rest = replaced(text.substr(comma + 2), ".", "");
  if (std::sscanf(rest.c_str(), "%2d %31s %4d, %2d:%2d %7s", &day, month, &year, &hour, &minute, half) < 5 &&
      std::sscanf(rest.c_str(), "%31s %2d, %4d, %2d:%2d %7s", month, &day, &year, &hour, &minute, half) < 5)
    return std::nullopt;
  return local(year, month_of(month), day, hours(hour, lower(half)), minute, 0);
}

std::optional<std::int64_t> sakai_date(const std::string& given) {
  const std::string text = trimmed(given);
  if (text.size() == 17 && text.find_first_not_of("0123456789") == std::string::npos)
    return zoned(text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" + text.substr(8, 2) + ":" +
                 text.substr(10, 2) + ":" + text.substr(12, 2) + "Z");
  return gradescope_date(text);
}

std::optional<std::int64_t> gradescope_date(const std::string& text) {
  if (text.size() < 19) return std::nullopt;
  std::string zone = text.substr(19);
  if (zone.starts_with(".")) zone.erase(0, std::min(zone.find_first_not_of("0123456789", 1), zone.size()));
  return zoned(text.substr(0, 19) + trimmed(zone));
}

}  // namespace ridge::cluster
