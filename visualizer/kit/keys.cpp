#include "kit/keys.hpp"

#include <array>

namespace ridge::viz {
namespace {

struct Named {
  const char* name;
  int glfw;  // GLFW/glfw3.h has these numbers
  ImGuiKey key;
};

constexpr std::array kNamed {
  Named{"Left", 263, ImGuiKey_LeftArrow}, Named{"Right", 262, ImGuiKey_RightArrow}, Named{"Up", 265, ImGuiKey_UpArrow},
      Named{"Down", 264, ImGuiKey_DownArrow}, Named{"Escape", 256, ImGuiKey_Escape},
      Named{"Enter", 257, ImGuiKey_Enter}, Named{"Backspace", 259, ImGuiKey_Backspace},
      Named{"Delete", 261, ImGuiKey_Delete}, Named{"Tab", 258, ImGuiKey_Tab}, Named{"Space", 32, ImGuiKey_Space},
      Named{"Home", 268, ImGuiKey_Home}, Named{"End", 269, ImGuiKey_End}, Named{"PageUp", 266, ImGuiKey_PageUp},
      Named{"PageDown", 267, ImGuiKey_PageDown}, Named{"Insert", 260, ImGuiKey_Insert},
#if IMGUI_VERSION_NUM >= 18700
      Named{"+", 61, ImGuiKey_Equal}, Named{"-", 45, ImGuiKey_Minus}, Named{"/", 47, ImGuiKey_Slash},
      Named{"Pad+", 334, ImGuiKey_KeypadAdd}, Named{"Pad-", 333, ImGuiKey_KeypadSubtract},
#else  // it has no names for them
      Named{"+", 61, ImGuiKey_COUNT}, Named{"-", 45, ImGuiKey_COUNT}, Named{"/", 47, ImGuiKey_COUNT},
      Named{"Pad+", 334, ImGuiKey_COUNT}, Named{"Pad-", 333, ImGuiKey_COUNT},
#endif
};

}  // namespace

int key_number(const std::string& name) {
  for (const Named& n : kNamed)
    if (name == n.name) return n.glfw;
  if (name.size() == 1 && ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= '0' && name[0] <= '9'))) return name[0];
  return 0;
}

#if IMGUI_VERSION_NUM >= 18700
ImGuiKey imgui_key(int glfw) {
  for (const Named& n : kNamed)
    if (n.glfw == glfw) return n.key;
  if (glfw >= 'A' && glfw <= 'Z') return static_cast<ImGuiKey>(ImGuiKey_A + (glfw - 'A'));
  if (glfw >= '0' && glfw <= '9') return static_cast<ImGuiKey>(ImGuiKey_0 + (glfw - '0'));
  return ImGuiKey_None;
}
#else
void map_keys(ImGuiIO& io) {
  for (const Named& n : kNamed)
    if (n.key < ImGuiKey_COUNT) io.KeyMap[n.key] = n.glfw;
  // The letters that text fields know: all, copy, paste, cut, redo, undo.
  io.KeyMap[ImGuiKey_A] = 'A';
  io.KeyMap[ImGuiKey_C] = 'C';
  io.KeyMap[ImGuiKey_V] = 'V';
  io.KeyMap[ImGuiKey_X] = 'X';
  io.KeyMap[ImGuiKey_Y] = 'Y';
  io.KeyMap[ImGuiKey_Z] = 'Z';
}
#endif

}  // namespace ridge::viz
