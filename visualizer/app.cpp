#include "app.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"

namespace ridge::viz {
namespace {

constexpr ImGuiWindowFlags kFixed = ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                                    ImGuiWindowFlags_NoCollapse | ImGuiWindowFlags_NoSavedSettings |
                                    ImGuiWindowFlags_NoBringToFrontOnFocus | ImGuiWindowFlags_NoScrollbar |
                                    ImGuiWindowFlags_NoScrollWithMouse | ImGuiWindowFlags_NoNav;
constexpr float kRail = 92, kStatus = 34;  // pixels at 1600x900
constexpr std::size_t kMostRecent = 12;

void begin(const char* name, ImVec2 from, ImVec2 to, ImGuiWindowFlags more = 0) {
  ImGui::SetNextWindowPos(from);
  ImGui::SetNextWindowSize({to.x - from.x, to.y - from.y});
  // ImGui creates windows with this flag behind the others; an overlay lacks it and opens in front.
  ImGui::Begin(name, nullptr, (kFixed & (more ? ~ImGuiWindowFlags_NoBringToFrontOnFocus : ~0)) | more);
}

}  // namespace

App::App(std::vector<std::unique_ptr<View>> views) : views_(std::move(views)) {}

void App::open(const std::filesystem::path& path) {
  const Source source = identify(path);
  // One view may find files in a folder where another finds none: only a refusal by all views is an error.
  std::optional<OpenError> refused;
  std::size_t first = views_.size();
  for (std::size_t i = 0; i < views_.size(); ++i) {
    if (!views_[i]->takes(source.kind)) continue;
    try {
      views_[i]->open(source);
      first = std::min(first, i);
    } catch (const OpenError& e) {
      if (!refused) refused = e;
    }
  }
  if (first == views_.size() && refused) throw *refused;
  if (first == views_.size())
    throw OpenError("cannot open '" + path.string() + "': no view shows a " + name_of(source.kind) +
                    "\n  try: a result, `./ridge check 01 --json F`");
  if (!asked_for_ && (opened.empty() || !views_[chosen_]->takes(source.kind))) chosen_ = first;
  opened.push_back(path);
  std::error_code ignored;
  const auto whole = std::filesystem::absolute(path, ignored).lexically_normal();
  std::erase(recent, whole);
  recent.insert(recent.begin(), whole);
  if (recent.size() > kMostRecent) recent.resize(kMostRecent);
}

void App::open_or_say(const std::filesystem::path& path) {
  try {
    const bool asked = std::exchange(asked_for_, false);
    open(path);
    asked_for_ = asked;
    const Source source = identify(path);
    if (!view().takes(source.kind))
      for (std::size_t i = views_.size(); i-- > 0;)
        if (views_[i]->takes(source.kind)) chosen_ = i;
    error_.clear();
  } catch (const std::exception& e) {
    error_ = e.what();
  }
}

bool App::choose(const std::string& id) {
  for (std::size_t i = 0; i < views_.size(); ++i)
    if (id == views_[i]->id()) {
      chosen_ = i;
      return asked_for_ = true;
    }
  return false;
}

bool App::set(const std::string& key, const std::string& value) { return view().set(key, value); }

void App::grant(const Wish& wish) {
  for (const auto& file : wish.open) {
    open_or_say(file);
    if (!error_.empty()) return;
  }
  if (!wish.view.empty() && !choose(wish.view)) error_ = "there is no view '" + wish.view + "'";
  for (const auto& [key, value] : wish.set)
    if (!set(key, value))
      error_ = "the " + std::string(view().id()) + " view has no setting '" + key + "=" + value + "'";
}

void App::tell(Story story, std::size_t step) {
  // A story may begin at any step, so the files of earlier steps are opened too.
  for (std::size_t i = 0; i <= step && i < story.steps.size(); ++i) {
    for (const auto& file : story.steps[i].open) open(file);
    if (!story.steps[i].view.empty()) choose(story.steps[i].view);
    for (const auto& [key, value] : story.steps[i].set) set(key, value);
  }
  story_.start(std::move(story), step);
  story_.take_wish();
}

bool App::nothing_open() const {
  return std::all_of(views_.begin(), views_.end(), [](const auto& v) { return v->empty(); });
}

void App::keys() {
  const bool control = ImGui::GetIO().KeyCtrl;
  for (std::size_t i = 0; i < views_.size() && i < 9; ++i)
    if (!control && key_pressed(static_cast<char>('1' + i), false)) chosen_ = i;
  if (control && key_pressed('+')) look.zoom = std::min(3.0F, look.zoom * 1.1F);
  if (control && key_pressed('-')) look.zoom = std::max(0.5F, look.zoom / 1.1F);
  if (control && key_pressed('0', false)) look.zoom = 1;
  if (control && key_pressed('D', false)) look.scheme = look.scheme == Scheme::light ? Scheme::dark : Scheme::light;
  if (control && key_pressed('P', false)) look.present = !look.present;
  if (control && key_pressed('E', false)) wants_picture = !nothing_open();
  if (key_pressed('?', false)) help_ = !help_;
  if (key_pressed(ImGuiKey_Escape, false)) help_ = all_notes_ = false, error_.clear();
}

void App::draw_view(Frame& frame) {
  frame.paint.fill(frame.from, frame.to, frame.theme.colours.desk, 0);
  view().draw(frame);
}

void App::frame(const Theme& theme, LayoutLog& log) {
  log.clear();
  keys();
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float rail_width = std::round(theme.px(theme.present ? kRail + 14 : kRail));
  const float status = std::round(theme.px(theme.present ? kStatus + 8 : kStatus));
  const bool start = nothing_open();
  const auto with_window = [&](const char* name, ImVec2 from, ImVec2 to, auto&& draw, ImGuiWindowFlags flags = 0) {
    begin(name, from, to, flags);
    ScreenPainter painter(ImGui::GetWindowDrawList());
    Frame frame{painter, theme, log, from, to, true};
    draw(frame);
    ImGui::End();
  };
  with_window("rail", {0, 0}, {rail_width, size.y}, [&](Frame& f) { rail(f); });
  with_window("status", {rail_width, size.y - status}, size, [&](Frame& f) { status_line(f); });
  const bool stepped = story_.keys();
  if (const auto wish = story_.take_wish()) grant(*wish);
  const float band = std::round(story_.height(theme));
  hold_keys(stepped);  // the story's keys have no other effect
  with_window(("view " + std::string(view().id())).c_str(), {rail_width, 0}, {size.x, size.y - status - band},
              [&](Frame& f) { start ? start_page(f) : view().draw(f); });
  hold_keys(false);
  if (story_.on())
    with_window("story", {rail_width, size.y - status - band}, {size.x, size.y - status},
                [&](Frame& f) { story_.draw(f); });
  if (const auto wish = view().take_wish()) grant(*wish);
  if (all_notes_ || help_ || !error_.empty()) {
    const ImVec2 from{rail_width, 0}, to{size.x, size.y - status};
    with_window(
        "over", from, to, [&](Frame& f) { help_ ? help(f) : error_card(f); }, ImGuiWindowFlags_NoBackground);
  }
}

}  // namespace ridge::viz
