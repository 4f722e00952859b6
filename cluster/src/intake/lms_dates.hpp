// When a hand-in came, as learning management systems write it. The files of a download are as old as the download.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace ridge::cluster {

// Unix seconds; nothing where the text is no such date. Times without a zone are in this machine's.
std::optional<std::int64_t> blackboard_date(const std::string& text);   // "2026-11-20-10-32-45"
std::optional<std::int64_t> brightspace_date(const std::string& text);  // "Nov 20, 2026 926 PM"
// "Friday, 20 November 2026, 9:41 AM", "Friday, November 20, 2026, 9:41 AM", "Freitag, 20. November 2026, 09:41"
std::optional<std::int64_t> moodle_date(const std::string& text);
std::optional<std::int64_t> sakai_date(const std::string& text);       // "20261120103245678", "2026-11-20T10:32:45Z"
std::optional<std::int64_t> gradescope_date(const std::string& text);  // "2026-11-20 10:00:00.034551000 -08:00"

}  // namespace ridge::cluster
