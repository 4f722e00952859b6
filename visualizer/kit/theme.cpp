#include "kit/theme.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

#ifdef RIDGE_VIZ_FREETYPE
#include <imgui_freetype.h>
#endif

namespace ridge::viz {
namespace {

struct Family {
  const char* name;
  const char* regular;
  const char* bold;
};

// Font folders of Debian and Ubuntu, Fedora, Arch, and macOS.
constexpr Family kFamilies[] = {
    {"DejaVu Sans", "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
     "/usr/share/fonts/truetype/dejavu/DejaVuSans-Bold.ttf"},
    {"DejaVu Sans", "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans.ttf",
     "/usr/share/fonts/dejavu-sans-fonts/DejaVuSans-Bold.ttf"},
    {"DejaVu Sans", "/usr/share/fonts/TTF/DejaVuSans.ttf", "/usr/share/fonts/TTF/DejaVuSans-Bold.ttf"},
    {"Noto Sans", "/usr/share/fonts/truetype/noto/NotoSans-Regular.ttf",
     "/usr/share/fonts/truetype/noto/NotoSans-Bold.ttf"},
    {"Liberation Sans", "/usr/share/fonts/truetype/liberation/LiberationSans-Regular.ttf",
     "/usr/share/fonts/truetype/liberation/LiberationSans-Bold.ttf"},
    {"Arial", "/Library/Fonts/Arial.ttf", "/Library/Fonts/Arial Bold.ttf"},
};

const Family* installed_family() {
  std::error_code ignored;
  for (const Family& family : kFamilies)
    if (std::filesystem::exists(family.regular, ignored) && std::filesystem::exists(family.bold, ignored))
      return &family;
  return nullptr;
}

const char* installed_mono() {
  static constexpr const char* kFiles[] = {"/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf",
                                           "/usr/share/fonts/dejavu-sans-mono-fonts/DejaVuSansMono.ttf",
                                           "/usr/share/fonts/TTF/DejaVuSansMono.ttf",
                                           "/usr/share/fonts/truetype/noto/NotoSansMono-Regular.ttf",
                                           "/usr/share/fonts/truetype/liberation/LiberationMono-Regular.ttf"};
  std::error_code ignored;
  for (const char* file : kFiles)
    if (std::filesystem::exists(file, ignored)) return file;
  return nullptr;  // ImGui's own font is monospaced too
}

// The characters of names and messages: Latin, Greek, punctuation, sub- and superscripts, arrows, relations.
constexpr ImWchar kGlyphs[] = {0x20,   0x17F,  0x370,  0x3FF,  0x2010, 0x205E, 0x2070, 0x209F,
                               0x2190, 0x21FF, 0x2200, 0x22FF, 0x25A0, 0x25FF, 0};

// Rasterises for framebuffer pixels; sizes are in window pixels.
Type load(const char* path, float size, bool bold, float density, bool mono = false) {
  ImGuiIO& io = ImGui::GetIO();
  size = std::round(size);
  ImFont* font = nullptr;
  if (path) font = io.Fonts->AddFontFromFileTTF(path, std::round(size * density), nullptr, kGlyphs);
  if (!font) {
    ImFontConfig config;
    config.SizePixels = std::round(size * density);
    font = io.Fonts->AddFontDefault(&config);
  }
  return {font, size, bold, mono};
}

ImVec4 rgba(ImU32 c) { return ImGui::ColorConvertU32ToFloat4(c); }

void set_style(float scale, const Palette& c, Scheme scheme) {
  ImGuiStyle style;
  if (scheme == Scheme::light)
    ImGui::StyleColorsLight(&style);
  else
    ImGui::StyleColorsDark(&style);
  style.WindowBorderSize = 0;
  style.WindowRounding = 0;
  style.WindowPadding = {0, 0};
  style.FrameRounding = 6;
  style.FramePadding = {10, 6};
  style.PopupRounding = 8;
  style.PopupBorderSize = 0;
  style.ScrollbarSize = 10;
  style.ScrollbarRounding = 5;
  const auto set = [&](ImGuiCol which, ImU32 colour) { style.Colors[which] = rgba(colour); };
  set(ImGuiCol_WindowBg, faded(c.desk, 0));  // transparent: each frame starts as the desk
  set(ImGuiCol_PopupBg, c.tip);
  set(ImGuiCol_Text, c.ink);
  set(ImGuiCol_TextDisabled, c.muted);
  set(ImGuiCol_FrameBg, c.paper);
  set(ImGuiCol_FrameBgHovered, c.hover);
  set(ImGuiCol_FrameBgActive, c.hover);
  set(ImGuiCol_Border, c.line);
  set(ImGuiCol_ScrollbarBg, faded(c.desk, 0));
  set(ImGuiCol_ScrollbarGrab, c.line);
  set(ImGuiCol_ScrollbarGrabHovered, c.muted);
  set(ImGuiCol_ScrollbarGrabActive, c.muted);
  set(ImGuiCol_Button, c.line_faint);
  set(ImGuiCol_ButtonHovered, c.hover);
  set(ImGuiCol_ButtonActive, c.selection);
  set(ImGuiCol_TextSelectedBg, c.selection);
  style.ScaleAllSizes(scale);
  ImGui::GetStyle() = style;
}

}  // namespace

float scale_for(float width, float height, float zoom) {
  const float fit = std::min(width / 1600, height / 900) * zoom;
  return std::clamp(std::round(fit * 20) / 20, 0.4F, 6.0F);
}

Theme make_theme(float scale, const Look& look, float density) {
  ImFontAtlas* atlas = ImGui::GetIO().Fonts;
  atlas->Clear();
#ifdef RIDGE_VIZ_FREETYPE
#if IMGUI_VERSION_NUM < 19200
  atlas->FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#else
  atlas->SetFontLoader(ImGuiFreeType::GetFontLoader());
#endif
#endif
  const Family* family = installed_family();
  const char* regular = family ? family->regular : nullptr;
  const char* bold = family ? family->bold : nullptr;
  Theme theme;
  theme.scale = scale;
  theme.scheme = look.scheme;
  theme.present = look.present;
  theme.colours = palette_of(look.scheme, look.present);
  if (family) theme.family = family->name;
  // Small print grows most for a projector: it must be legible from the last row.
  const float large = look.present ? 1.22F : 1;
  theme.body = load(regular, 20 * large * scale, false, density);
  theme.small = load(regular, (look.present ? 23.0F : 17.5F) * scale, false, density);
  theme.strong = load(bold, 20 * large * scale, true, density);
  theme.heading = load(bold, 23 * large * scale, true, density);
  theme.title = load(bold, 34 * large * scale, true, density);
  theme.figure = load(bold, 46 * large * scale, true, density);
  theme.code = load(installed_mono(), (look.present ? 21.0F : 16.0F) * scale, false, density, true);
#if IMGUI_VERSION_NUM < 19200
  atlas->Build();
#endif
  ImGui::GetIO().FontGlobalScale = 1 / density;
  set_style(scale, theme.colours, look.scheme);
  return theme;
}

}  // namespace ridge::viz
