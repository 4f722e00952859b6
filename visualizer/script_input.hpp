// A script's mouse and keys, passed to ImGui frame by frame.
#pragma once
#include <imgui.h>

#include <string>
#include <vector>

namespace ridge::viz {

struct ScriptInput {
  ImVec2 mouse{-1, -1};
  bool buttons[3] = {};
  float wheel = 0;  // for the next frame only
  bool control = false, shift = false;
  std::vector<int> keys;   // GLFW's numbers
  std::string typed;       // for the next frame only
  float step = 1.0F / 60;  // duration of the next frame in seconds
  // Passes the input to ImGui. Call it between the backend's NewFrame and ImGui's.
  void apply();
};

}  // namespace ridge::viz
