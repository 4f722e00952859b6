// The program's memory between sessions: the look, the window's size, recent files. It is stored in
// $XDG_STATE_HOME/ridge/visualizer.json, else below ~/.local/state.
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

// The file's path; empty without a home folder.
std::filesystem::path state_file();
// Defaults stand in for what cannot be read.
State load_state(const std::filesystem::path& file);
// False where the file cannot be written, which callers may ignore.
bool save_state(const std::filesystem::path& file, const State& state);

}  // namespace ridge::viz
