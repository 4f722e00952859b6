// What the program remembers from one day to the next: the look, the view, files opened lately. In
// $XDG_STATE_HOME/ridge/visualizer.json, else in ~/.local/state.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace ridge::viz {

struct State {
  bool dark = false, present = false;
  float zoom = 1;
  int width = 1600, height = 900;
  std::vector<std::string> recent;  // newest first
};

// Empty where there is no home.
std::filesystem::path state_file();
// What cannot be read is as on the first day.
State load_state(const std::filesystem::path& file);
// False where it could not be written: nothing else depends on it.
bool save_state(const std::filesystem::path& file, const State& state);

}  // namespace ridge::viz
