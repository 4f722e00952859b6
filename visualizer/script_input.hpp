// Mouse and keys that a script holds down, given to ImGui frame by frame.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

namespace ridge::viz {

struct ScriptInput {
  ImVec2 mouse{-1, -1};
  bool buttons[3] = {};
  float wheel = 0;  // of the next frame only
  bool control = false, shift = false;
  std::vector<int> keys;   // GLFW's numbers
  std::string typed;       // in the next frame
  float step = 1.0F / 60;  // seconds of the next frame
  // Between the backend's NewFrame and ImGui's.
  void apply();
};

// GLFW's number of "Left", "Escape", "A", "+"; 0 where there is no such key.
int key_number(const std::string& name);

}  // namespace ridge::viz
