#include "script_input.hpp"

#include <GLFW/glfw3.h>

#include <array>
#include <utility>

namespace ridge::viz {
namespace {

struct Named {
  const char* name;
  int glfw;
#if IMGUI_VERSION_NUM >= 18700
  ImGuiKey key;
#endif
};

#if IMGUI_VERSION_NUM >= 18700
#define RIDGE_KEY(name, glfw, imgui) \
  { name, glfw, imgui }
#else
#define RIDGE_KEY(name, glfw, imgui) \
  { name, glfw }
#endif
constexpr std::array kNamed{Named RIDGE_KEY("Left", GLFW_KEY_LEFT, ImGuiKey_LeftArrow),
                            Named RIDGE_KEY("Right", GLFW_KEY_RIGHT, ImGuiKey_RightArrow),
                            Named RIDGE_KEY("Up", GLFW_KEY_UP, ImGuiKey_UpArrow),
                            Named RIDGE_KEY("Down", GLFW_KEY_DOWN, ImGuiKey_DownArrow),
                            Named RIDGE_KEY("Escape", GLFW_KEY_ESCAPE, ImGuiKey_Escape),
                            Named RIDGE_KEY("Enter", GLFW_KEY_ENTER, ImGuiKey_Enter),
                            Named RIDGE_KEY("Backspace", GLFW_KEY_BACKSPACE, ImGuiKey_Backspace),
                            Named RIDGE_KEY("Delete", GLFW_KEY_DELETE, ImGuiKey_Delete),
                            Named RIDGE_KEY("Tab", GLFW_KEY_TAB, ImGuiKey_Tab),
                            Named RIDGE_KEY("Space", GLFW_KEY_SPACE, ImGuiKey_Space),
                            Named RIDGE_KEY("Home", GLFW_KEY_HOME, ImGuiKey_Home),
                            Named RIDGE_KEY("End", GLFW_KEY_END, ImGuiKey_End),
                            Named RIDGE_KEY("PageUp", GLFW_KEY_PAGE_UP, ImGuiKey_PageUp),
                            Named RIDGE_KEY("PageDown", GLFW_KEY_PAGE_DOWN, ImGuiKey_PageDown),
                            Named RIDGE_KEY("+", GLFW_KEY_EQUAL, ImGuiKey_Equal),
                            Named RIDGE_KEY("-", GLFW_KEY_MINUS, ImGuiKey_Minus),
                            Named RIDGE_KEY("/", GLFW_KEY_SLASH, ImGuiKey_Slash)};
#undef RIDGE_KEY

#if IMGUI_VERSION_NUM >= 18700
ImGuiKey imgui_key(int glfw) {
  for (const Named& n : kNamed)
    if (n.glfw == glfw) return n.key;
  if (glfw >= 'A' && glfw <= 'Z') return static_cast<ImGuiKey>(ImGuiKey_A + (glfw - 'A'));
  if (glfw >= '0' && glfw <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (glfw - '0'));
  return ImGuiKey_None;
}
#endif

}  // namespace

int key_number(const std::string& name) {
  for (const Named& n : kNamed)
    if (name == n.name) return n.glfw;
  if (name.size() == 1 && ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= '0' && name[0] <= '9'))) return name[0];
  return 0;
}

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
