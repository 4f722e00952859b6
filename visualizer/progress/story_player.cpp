#include "progress/story_player.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"

namespace ridge::viz {

void StoryPlayer::start(Story story, std::size_t step) {
  story_ = std::move(story);
  entered_ = false;
  // A step without files shows those of earlier steps.
  step_ = std::min(step, story_.steps.size() - 1);
}

void StoryPlayer::go(std::size_t step) {
  if (step >= story_.steps.size() || step == step_) return;
  step_ = step;
  entered_ = false;
}

bool StoryPlayer::keys() {
  if (!on()) return false;
  const std::size_t before = step_;
  if (key_pressed(ImGuiKey_Space, false) || key_pressed(ImGuiKey_RightArrow, false) ||
      key_pressed(ImGuiKey_PageDown, false))
    go(step_ + 1);
  else if ((key_pressed(ImGuiKey_LeftArrow, false) || key_pressed(ImGuiKey_PageUp, false)) && step_ > 0)
    go(step_ - 1);
  return before != step_;
}

float StoryPlayer::height(const Theme& theme) const { return on() ? 2 * theme.heading.size * 1.28F + theme.px(32) : 0; }

void StoryPlayer::draw(Frame& f) {
  const Theme& t = f.theme;
  const Palette& c = t.colours;
  f.paint.fill(f.from, f.to, c.accent, 0);
  const float pad = t.px(28);
  const std::string place = fmt::format("{} / {}", step_ + 1, story_.steps.size());
  const float side = text_size(t.strong, place).x + t.px(10);
  const std::string& say = story_.steps[step_].say;
  const float wrap = f.to.x - f.from.x - 2 * pad - side - t.px(20);
  const float lines = static_cast<float>(std::min<std::size_t>(2, wrapped(t.heading, say, wrap).size()));
  const float line = t.heading.size * 1.28F;
  paragraph(f.paint, t.heading, {f.from.x + pad, (f.from.y + f.to.y - lines * line) / 2}, wrap, c.on_accent, say, 2);
  f.paint.text(t.strong, {f.to.x - pad, (f.from.y + f.to.y) / 2}, c.on_accent, place, {1, 0.5F});
  f.log.value("story/step", static_cast<double>(step_ + 1));
  f.log.text("story/say", say);
  const float middle = (f.from.x + f.to.x) / 2;
  if (clicked(f, "story/previous", f.from, {middle, f.to.y}) && step_ > 0)
    go(step_ - 1);
  else if (clicked(f, "story/next", {middle, f.from.y}, f.to))
    go(step_ + 1);
}

std::optional<Wish> StoryPlayer::take_wish() {
  if (!on() || std::exchange(entered_, true)) return std::nullopt;
  const StoryStep& s = story_.steps[step_];
  return Wish{s.open, s.view, s.set};
}

}  // namespace ridge::viz
