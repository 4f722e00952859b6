// Keys by name, alike for ImGui 1.86 and later. No key counts as pressed while the user types into a field.
#pragma once
#include <imgui.h>

namespace ridge::viz {

bool key_pressed(ImGuiKey key, bool repeat = true);  // ImGuiKey_LeftArrow
bool key_pressed(char key, bool repeat = true);      // 'W', '7', '+', '-'; letters are capitals
void hold_keys(bool held);                           // while held, no key counts as pressed
// The wheel's movement while the mouse is over from..to of the current window, else 0.
float wheel_over(ImVec2 from, ImVec2 to);
bool mouse_over(ImVec2 from, ImVec2 to);

}  // namespace ridge::viz
