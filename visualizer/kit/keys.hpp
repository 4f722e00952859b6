// Keys by GLFW's numbers, which scripts and the page in a browser use whatever the generation of ImGui.
#pragma once
#include <imgui.h>

#include <string>

namespace ridge::viz {

// GLFW's number of a key such as "Left", "Escape", "A" or "+"; 0 where there is none.
int key_number(const std::string& name);

#if IMGUI_VERSION_NUM >= 18700
ImGuiKey imgui_key(int glfw);
#else
// Tells ImGui the numbers, as GLFW's backend does.
void map_keys(ImGuiIO& io);
#endif

}  // namespace ridge::viz
