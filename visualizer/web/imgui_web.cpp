#include "web/imgui_web.hpp"

#include <imgui.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <utility>

#include "kit/keys.hpp"

namespace ridge::viz::web {
namespace {

constexpr std::uint32_t kAtlas = 1;

std::uint32_t number_of(ImTextureID id) {
  return static_cast<std::uint32_t>((std::uintptr_t)id);
}  // a pointer before 1.91.4

DrawList copy(const ImDrawList& list) {
  DrawList out;
  out.name = list._OwnerName ? list._OwnerName : "";
  out.vertices.reserve(static_cast<std::size_t>(list.VtxBuffer.Size));
  for (const ImDrawVert& v : list.VtxBuffer) out.vertices.push_back({v.pos.x, v.pos.y, v.uv.x, v.uv.y, v.col});
  out.indices.assign(list.IdxBuffer.begin(), list.IdxBuffer.end());
  for (const ImDrawCmd& c : list.CmdBuffer) {
    if (c.UserCallback || c.ElemCount == 0) continue;  // no view of ours has callbacks
    out.commands.push_back({{c.ClipRect.x, c.ClipRect.y, c.ClipRect.z, c.ClipRect.w},
                            number_of(c.GetTexID()),
                            c.ElemCount,
                            c.IdxOffset,
                            c.VtxOffset});
  }
  return out;
}

static_assert(sizeof(ImDrawIdx) == 2, "draw_stream sends indices of 16 bits");

}  // namespace

ImGuiWeb::ImGuiWeb() {
  IMGUI_CHECKVERSION();
  ImGui::CreateContext();
  ImGuiIO& io = ImGui::GetIO();
  io.IniFilename = nullptr;
  io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset | ImGuiBackendFlags_HasMouseCursors;
  io.MousePos = {-FLT_MAX, -FLT_MAX};
#if IMGUI_VERSION_NUM >= 19200
  io.BackendFlags |= ImGuiBackendFlags_RendererHasTextures;
#endif
#if IMGUI_VERSION_NUM < 18700
  map_keys(io);
#endif
#if IMGUI_VERSION_NUM >= 19110
  ImGuiPlatformIO& platform = ImGui::GetPlatformIO();
  platform.Platform_ClipboardUserData = this;
  platform.Platform_GetClipboardTextFn = [](ImGuiContext*) {
    return static_cast<ImGuiWeb*>(ImGui::GetPlatformIO().Platform_ClipboardUserData)->clipboard_.c_str();
  };
  platform.Platform_SetClipboardTextFn = [](ImGuiContext*, const char* text) {
    auto* self = static_cast<ImGuiWeb*>(ImGui::GetPlatformIO().Platform_ClipboardUserData);
    self->copied_ = self->clipboard_ = text;
  };
#else
  io.ClipboardUserData = this;
  io.GetClipboardTextFn = [](void* self) { return static_cast<ImGuiWeb*>(self)->clipboard_.c_str(); };
  io.SetClipboardTextFn = [](void* user, const char* text) {
    auto* self = static_cast<ImGuiWeb*>(user);
    self->copied_ = self->clipboard_ = text;
  };
#endif
  theme_.scale = 0;  // no fonts yet
}

ImGuiWeb::~ImGuiWeb() { ImGui::DestroyContext(); }

void ImGuiWeb::apply(const Event& event) {
  ImGuiIO& io = ImGui::GetIO();
  const auto modifiers = [&] {
    const auto has = [&](std::uint8_t bit) { return (event.modifiers & bit) != 0; };
#if IMGUI_VERSION_NUM >= 18700
    io.AddKeyEvent(ImGuiMod_Ctrl, has(kControl));
    io.AddKeyEvent(ImGuiMod_Shift, has(kShift));
    io.AddKeyEvent(ImGuiMod_Alt, has(kAlt));
    io.AddKeyEvent(ImGuiMod_Super, has(kSuper));
#else
    io.KeyCtrl = has(kControl);
    io.KeyShift = has(kShift);
    io.KeyAlt = has(kAlt);
    io.KeySuper = has(kSuper);
#endif
  };
  switch (event.kind) {
    case Event::Kind::resize:
      width_ = event.x, height_ = event.y, ratio_ = event.ratio;
      return;
    case Event::Kind::clipboard:
      clipboard_ = event.text;
      return;
    case Event::Kind::theme:  // the look is the program's
      return;
    case Event::Kind::text:
      io.AddInputCharactersUTF8(event.text.c_str());
      return;
#if IMGUI_VERSION_NUM >= 18700
    case Event::Kind::move:
      return io.AddMousePosEvent(event.x, event.y);
    case Event::Kind::leave:
      return io.AddMousePosEvent(-FLT_MAX, -FLT_MAX);
    case Event::Kind::button:
      return io.AddMouseButtonEvent(event.code, event.on);
    case Event::Kind::wheel:
      modifiers();
      return io.AddMouseWheelEvent(event.x, event.y);
    case Event::Kind::key:
      modifiers();
      return io.AddKeyEvent(imgui_key(event.code), event.on);
    case Event::Kind::focus:
      return io.AddFocusEvent(event.on);
#else
    case Event::Kind::move:
      io.MousePos = {event.x, event.y};
      return;
    case Event::Kind::leave:
      io.MousePos = {-FLT_MAX, -FLT_MAX};
      return;
    case Event::Kind::button:
      io.MouseDown[event.code] = event.on;
      return;
    case Event::Kind::wheel:
      modifiers();
      io.MouseWheelH += event.x;
      io.MouseWheel += event.y;
      return;
    case Event::Kind::key:
      modifiers();
      io.KeysDown[event.code] = event.on;
      return;
    case Event::Kind::focus:
      if (event.on) return;
      // Releases of keys that another window gets are never seen here.
      std::fill(std::begin(io.KeysDown), std::end(io.KeysDown), false);
      std::fill(std::begin(io.MouseDown), std::end(io.MouseDown), false);
      io.KeyCtrl = io.KeyShift = io.KeyAlt = io.KeySuper = false;
      return;
#endif
  }
}

const Theme& ImGuiWeb::begin(const std::vector<Event>& events, const Look& look, float seconds) {
  for (const Event& event : events) apply(event);
  const float scale = scale_for(width_, height_, look.zoom);
  if (scale != theme_.scale || look != look_ || ratio_ != theme_ratio_) {
    theme_ = make_theme(scale, look, ratio_);
    look_ = look;
    theme_ratio_ = ratio_;
#if IMGUI_VERSION_NUM < 19200
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    unsigned char* pixels = nullptr;
    Texture t{kAtlas, 0, 0, 1, {}};
    atlas.GetTexDataAsAlpha8(&pixels, &t.width, &t.height);
    t.pixels.assign(reinterpret_cast<const char*>(pixels),
                    static_cast<std::size_t>(t.width) * static_cast<std::size_t>(t.height));
    atlas.SetTexID(reinterpret_cast<ImTextureID>(static_cast<std::uintptr_t>(kAtlas)));
    textures_ = {std::move(t)};
#endif
  }
  ImGuiIO& io = ImGui::GetIO();
  io.DisplaySize = {width_, height_};
  io.DisplayFramebufferScale = {ratio_, ratio_};
  io.DeltaTime = std::max(seconds, 1e-4F);
  ImGui::NewFrame();
  return theme_;
}

DrawFrame ImGuiWeb::end() {
  ImGui::Render();
  ImDrawData& data = *ImGui::GetDrawData();
#if IMGUI_VERSION_NUM >= 19200
  if (data.Textures)
    for (ImTextureData* t : *data.Textures) {
      if (t->Status == ImTextureStatus_WantCreate || t->Status == ImTextureStatus_WantUpdates) {
        const auto id = static_cast<std::uint32_t>(t->UniqueID + 1);
        textures_.push_back(
            {id,
             t->Width,
             t->Height,
             t->BytesPerPixel,
             {static_cast<const char*>(t->GetPixels()), static_cast<std::size_t>(t->GetSizeInBytes())}});
        t->SetTexID(static_cast<ImTextureID>(id));
        t->SetStatus(ImTextureStatus_OK);
      }
      if (t->Status == ImTextureStatus_WantDestroy) t->SetStatus(ImTextureStatus_Destroyed);
    }
#endif
  DrawFrame frame;
  frame.width = width_, frame.height = height_, frame.ratio = ratio_;
  frame.background = theme_.colours.desk;
  frame.cursor = static_cast<std::uint8_t>(ImGui::GetMouseCursor() + 1);
  frame.wants_text = ImGui::GetIO().WantTextInput;
  frame.lists.reserve(static_cast<std::size_t>(data.CmdListsCount));
  for (int i = 0; i < data.CmdListsCount; ++i) frame.lists.push_back(copy(*data.CmdLists[i]));
  return frame;
}

std::vector<Texture> ImGuiWeb::textures() { return std::exchange(textures_, {}); }
std::optional<std::string> ImGuiWeb::copied() { return std::exchange(copied_, std::nullopt); }

}  // namespace ridge::viz::web
