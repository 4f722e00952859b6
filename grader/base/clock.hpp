// The judge's clock, monotonic seconds, and the date.
#pragma once
#include <chrono>
#include <ctime>
#include <string>

namespace ridge {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The date and time in UTC, as strftime writes them.
inline std::string utc_text(const char* format, std::time_t when = std::time(nullptr)) {
  char text[64];
  std::tm utc{};
  gmtime_r(&when, &utc);
  text[std::strftime(text, sizeof text, format, &utc)] = 0;
  return text;
}
constexpr const char* kDate = "%Y-%m-%d";
constexpr const char* kDateAndTime = "%Y-%m-%dT%H:%M:%SZ";

// Adds the seconds of its life to `to`.
class Lap {
 public:
  explicit Lap(double& to) : to_(to), start_(now()) {}
  ~Lap() { to_ += now() - start_; }
  Lap(const Lap&) = delete;
  Lap& operator=(const Lap&) = delete;

 private:
  double& to_;
  double start_;
};

}  // namespace ridge
