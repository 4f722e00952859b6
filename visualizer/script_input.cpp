#include "script_input.hpp"

#include <utility>

#include "kit/keys.hpp"

namespace ridge::viz {

void ScriptInput::apply() {
  ImGuiIO& io = ImGui::GetIO();
  io.DeltaTime = std::exchange(step, 1.0F / 60);
#if IMGUI_VERSION_NUM >= 18700
  io.AddMousePosEvent(mouse.x, mouse.y);
  for (int i = 0; i < 3; ++i) io.AddMouseButtonEvent(i, buttons[i]);
  if (wheel != 0) io.AddMouseWheelEvent(0, std::exchange(wheel, 0.0F));
  io.AddKeyEvent(ImGuiMod_Ctrl, control);
  io.AddKeyEvent(ImGuiMod_Shift, shift);
  static std::vector<int> held;
  for (const int key : held) io.AddKeyEvent(imgui_key(key), false);
  for (const int key : keys) io.AddKeyEvent(imgui_key(key), true);
  held = keys;
#else
  io.MousePos = mouse;
  for (int i = 0; i < 3; ++i) io.MouseDown[i] = buttons[i];
  io.MouseWheel = std::exchange(wheel, 0.0F);
  io.KeyCtrl = control;
  io.KeyShift = shift;
  for (bool& down : io.KeysDown) down = false;
  for (const int key : keys) io.KeysDown[key] = true;
#endif
  for (const char c : std::exchange(typed, {})) io.AddInputCharacter(static_cast<unsigned char>(c));
}

}  // namespace ridge::viz
