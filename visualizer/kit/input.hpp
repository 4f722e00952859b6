// Keys by their name, the same with ImGui 1.86 and later. None is pressed while one types into a field.
#pragma once
#include <imgui.h>

namespace ridge::viz {

bool key_pressed(ImGuiKey key, bool repeat = true);  // ImGuiKey_LeftArrow
bool key_pressed(char key, bool repeat = true);      // 'W', '7', '+', '-': capital letters
void hold_keys(bool held);                           // while held, none is pressed
// The wheel's turn where the mouse is over from..to of the current window, else 0.
float wheel_over(ImVec2 from, ImVec2 to);
bool mouse_over(ImVec2 from, ImVec2 to);

}  // namespace ridge::viz
