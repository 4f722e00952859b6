#include "kit/input.hpp"

namespace ridge::viz {
namespace {

// GLFW's numbers for punctuation keys, by their places on a US keyboard.
constexpr int kMinus = 45, kEqual = 61, kPadPlus = 334, kPadMinus = 333, kSlash = 47;

#if IMGUI_VERSION_NUM < 18700
bool down(int glfw_key, bool repeat) { return ImGui::IsKeyPressed(glfw_key, repeat); }
#else
bool down(int glfw_key, bool repeat) {
  ImGuiKey key = ImGuiKey_None;
  if (glfw_key >= 'A' && glfw_key <= 'Z') key = static_cast<ImGuiKey>(ImGuiKey_A + (glfw_key - 'A'));
  if (glfw_key >= '0' && glfw_key <= '9') key = static_cast<ImGuiKey>(ImGuiKey_0 + (glfw_key - '0'));
  if (glfw_key == kMinus) key = ImGuiKey_Minus;
  if (glfw_key == kEqual) key = ImGuiKey_Equal;
  if (glfw_key == kPadPlus) key = ImGuiKey_KeypadAdd;
  if (glfw_key == kPadMinus) key = ImGuiKey_KeypadSubtract;
  if (glfw_key == kSlash) key = ImGuiKey_Slash;
  return key != ImGuiKey_None && ImGui::IsKeyPressed(key, repeat);
}
#endif

bool held = false;

}  // namespace

void hold_keys(bool now) { held = now; }

bool key_pressed(ImGuiKey key, bool repeat) {
  if (held) return false;
  if (ImGui::GetIO().WantTextInput && key != ImGuiKey_Escape) return false;
#if IMGUI_VERSION_NUM < 18700
  return ImGui::IsKeyPressed(ImGui::GetKeyIndex(key), repeat);
#else
  return ImGui::IsKeyPressed(key, repeat);
#endif
}

bool key_pressed(char key, bool repeat) {
  if (held) return false;
  if (ImGui::GetIO().WantTextInput) return false;
  switch (key) {
    case '+':
      return down(kEqual, repeat) || down(kPadPlus, repeat);
    case '-':
      return down(kMinus, repeat) || down(kPadMinus, repeat);
    case '?':  // shift and / on some keyboards, the character itself on others
      for (const ImWchar c : ImGui::GetIO().InputQueueCharacters)
        if (c == '?') return true;
      return false;
    default:
      return down(key, repeat);
  }
}

bool mouse_over(ImVec2 from, ImVec2 to) {
  const ImVec2 at = ImGui::GetMousePos();
  return ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem) && at.x >= from.x && at.x < to.x &&
         at.y >= from.y && at.y < to.y;
}

float wheel_over(ImVec2 from, ImVec2 to) { return mouse_over(from, to) ? ImGui::GetIO().MouseWheel : 0; }

}  // namespace ridge::viz
