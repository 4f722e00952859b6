#include "kit/state.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "kit/files.hpp"

namespace ridge::viz {
namespace {

using nlohmann::json;
constexpr std::size_t kMostRecent = 12;
constexpr std::uintmax_t kMostBytes = 1 << 20;

double number(const json& j, const char* key, double otherwise, double low, double high) {
  return std::clamp(number_at(j, key, otherwise), low, high);
}

}  // namespace

std::filesystem::path state_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  // The XDG standard says to ignore a relative path.
  if (state && state[0] == '/') return std::filesystem::path(state) / "ridge" / "visualizer.json";
  if (home && home[0] == '/') return std::filesystem::path(home) / ".local/state/ridge/visualizer.json";
  return {};
}

State load_state(const std::filesystem::path& file) {
  State s;
  std::error_code error;
  if (file.empty() || !std::filesystem::is_regular_file(file, error) ||
      std::filesystem::file_size(file, error) > kMostBytes)
    return s;
  const json j = json::parse(read_file(file).value_or(""), nullptr, false);
  if (!j.is_object()) return s;
  s.dark = flag_at(j, "dark");
  s.present = flag_at(j, "present");
  s.zoom = static_cast<float>(number(j, "zoom", 1, 0.5, 3));
  s.width = static_cast<int>(number(j, "width", 1600, 320, 8192));
  s.height = static_cast<int>(number(j, "height", 900, 320, 8192));
  if (j.contains("recent") && j["recent"].is_array())
    for (const json& item : j["recent"])
      if (item.is_string() && s.recent.size() < kMostRecent) s.recent.push_back(item);
  return s;
}

bool save_state(const std::filesystem::path& file, const State& state) {
  if (file.empty()) return false;
  const json j{{"dark", state.dark},   {"present", state.present}, {"zoom", state.zoom},
               {"width", state.width}, {"height", state.height},   {"recent", state.recent}};
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  try {
    write_file(file, j.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

}  // namespace ridge::viz
