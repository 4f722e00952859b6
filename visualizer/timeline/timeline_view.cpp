#include "timeline/timeline_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "timeline/scene.hpp"
#include "timeline/store/levels.hpp"

namespace ridge::viz {
namespace {

using namespace timeline;

constexpr std::uintmax_t kAtOnce = 16 << 20;  // files up to these bytes load at once, in the foreground

class TimelineView : public View {
 public:
  const char* id() const override { return "timeline"; }
  std::string title() const override { return "Timeline"; }
  bool takes(FileKind kind) const override { return kind == FileKind::trace; }
  bool empty() const override { return !trace_ && !loader_ && error_.empty(); }
  bool busy() const override { return loader_ != nullptr; }
  double wake_after() const override { return loader_ ? 0.05 : kNever; }

  void open(const Source& source) override {
    // Files opened before the first frame form one trace, one per rank. A later file replaces them.
    std::vector<std::filesystem::path> files = drawn_ ? std::vector<std::filesystem::path>{} : files_;
    files.push_back(source.path);
    std::uintmax_t bytes = 0;
    std::error_code ec;
    for (const auto& f : files) bytes += std::filesystem::file_size(f, ec);
    loader_.reset();
    if (bytes <= kAtOnce) {
      try {
        show(make_trace(std::make_shared<const EventStore>(load_traces(files))));
      } catch (const TraceError& e) {
        throw OpenError(e.what());
      }
    } else {
      loading_.reset();
      loader_ = std::make_unique<Loader>(files, [this](const auto& store) { loading_ = make_trace(store); });
    }
    files_ = std::move(files);
    drawn_ = false;
    error_.clear();
  }

  std::vector<std::string> notes() const override {
    std::vector<std::string> all;
    if (!trace_) return all;
    all = trace_->store->notes;
    if (files_.size() > 1) all.push_back(fmt::format("{} files shown as one trace", files_.size()));
    if (choice_.mode == Mode::collective && trace_->collective) {
      if (!trace_->collective->note.empty()) all.push_back(trace_->collective->note);
      if (trace_->collective->model) all.push_back("alpha-beta model: " + trace_->collective->model->source);
    }
    if (picture_.narrowest > 2 && choice_.mode == Mode::events)
      all.push_back(
          fmt::format("events narrower than {:.0f} pixels are gathered: zoom in for each", picture_.narrowest));
    return all;
  }

  std::vector<std::pair<std::string, std::string>> keys() const override {
    return {{"W S, + -, wheel", "zoom"},
            {"A D, arrows, right drag", "move"},
            {"shift + wheel", "scroll the lanes"},
            {"drag", "choose a range: its statistics"},
            {"click", "an event, or a lane's name to fold it"},
            {"F, double click", "everything; with a selection, that"},
            {"M", "mark A, then B: the time between"},
            {"/, N, Shift+N", "search, next, previous"},
            {"Esc", "choose nothing"}};
  }

  bool set(const std::string& key, const std::string& value) override;
  void draw(Frame& frame) override;

 private:
  void show(Trace trace);
  void loaded();
  void fit();
  void zoom(double factor, float at);
  void keep_inside();
  float width_of_names(const Theme& t, float width) const;
  void lay_out(Frame& f);
  void header(Frame& f);
  void search_field(Frame& f, ImVec2& at);
  void go_to(std::size_t found);
  void find(const std::string& text);
  void select(std::uint32_t event);
  void select_range(Time a, Time b);
  void keys_and_mouse(Frame& f);
  void click(ImVec2 mouse);
  std::uint32_t event_under(ImVec2 mouse) const;
  void hover(Frame& f);
  void draw_loading(Frame& f);
  std::vector<Mode> modes() const;

  std::vector<std::filesystem::path> files_;
  std::string error_;
  std::optional<Trace> trace_, loading_;  // loading_ belongs to the loader's thread until it ends
  timeline::Choice choice_;
  Layout layout_;
  Picture picture_;
  bool drawn_ = false, focus_search_ = false, dragging_ = false, in_minimap_ = false;
  float drag_from_ = 0;
  char search_text_[128] = {};
  std::unique_ptr<Loader> loader_;  // the last member: its destructor waits for the thread, which writes to loading_
};

const char* word_of(Mode m) {
  switch (m) {
    case Mode::events:
      return "Events";
    case Mode::overlap:
      return "Overlap";
    case Mode::collective:
      return "Collective";
    case Mode::pipeline:
      return "Pipeline";
  }
  return "";
}

std::vector<Mode> TimelineView::modes() const {
  std::vector<Mode> all{Mode::events};
  if (!trace_) return all;
  const auto communicates = [](const RankOverlap& r) { return r.transfers > 0; };
  if (std::any_of(trace_->overlap.begin(), trace_->overlap.end(), communicates)) all.push_back(Mode::overlap);
  if (trace_->collective && !trace_->pipeline)
    all.push_back(Mode::collective);  // a pipeline's sends are not a collective
  if (trace_->pipeline) all.push_back(Mode::pipeline);
  return all;
}

// Takes the loader's trace, and waits for it where it is not done.
void TimelineView::loaded() {
  loader_->wait();
  if (loading_)
    show(*std::exchange(loading_, std::nullopt));
  else
    trace_.reset(), error_ = loader_->error();
  loader_.reset();
}

void TimelineView::show(Trace trace) {
  trace_ = std::move(trace);
  choice_ = {};
  picture_ = {};
  search_text_[0] = 0;
  fit();
}

void TimelineView::fit() {
  const EventStore& s = *trace_->store;
  Time from = s.first, to = s.last;
  if (choice_.range) std::tie(from, to) = *choice_.range;
  const Time margin = choice_.range ? 0 : (to - from) / 100;
  choice_.from = from - margin;
  choice_.to = std::max(to + margin, choice_.from + 1000);
}

void TimelineView::keep_inside() {
  const EventStore& s = *trace_->store;
  const Time all = std::max<Time>(s.last - s.first, 1000), most = all < 7'000'000'000'000'000'000 ? all + all / 5 : all;
  Time width = std::clamp<Time>(choice_.to - choice_.from, 200, most);
  const Time low = s.first - width / 2, high = s.last - width / 2;
  choice_.from = std::clamp(choice_.from, std::min(low, high), std::max(low, high));
  choice_.to = choice_.from + width;
}

void TimelineView::zoom(double factor, float at) {
  const Window& w = layout_.window;
  const Time pivot = w.at(std::clamp(at, w.x0, w.x1));
  const auto from = static_cast<double>(pivot - choice_.from) * factor,
             to = static_cast<double>(choice_.to - pivot) * factor;
  if (from + to < 200) return;
  choice_.from = pivot - static_cast<Time>(std::min(from, 4e18));
  choice_.to = pivot + static_cast<Time>(std::min(to, 4e18));
  keep_inside();
}

bool TimelineView::set(const std::string& key, const std::string& value) {
  if (loader_) loaded();  // as --set asks before the first frame
  if (!trace_)
    return key == "mode" || key == "from_us" || key == "to_us" || key == "search" || key == "select" ||
           key == "range_us";
  const EventStore& s = *trace_->store;
  const auto time = [&](const char* text) {
    return s.first + static_cast<Time>(std::clamp(std::strtod(text, nullptr), -1e12, 1e12) * 1e6);
  };
  if (key == "mode") {
    for (const Mode m : modes()) {
      std::string word = word_of(m);
      word[0] = static_cast<char>(word[0] + 32);
      if (word == value) return choice_.mode = m, true;
    }
    return false;
  }
  if (key == "from_us")
    return choice_.from = time(value.c_str()), choice_.to = std::max(choice_.to, choice_.from + 1000), true;
  if (key == "to_us") return choice_.to = std::max(time(value.c_str()), choice_.from + 1000), true;
  if (key == "search") return find(value), true;
  if (key == "select") {
    const Found found = timeline::search(s, value, 1000);
    if (!found.events.empty()) select(found.events.front());
    return true;
  }
  if (key == "range_us") {
    const auto minus = value.find('-', 1);
    if (minus == value.npos) return false;
    select_range(time(value.c_str()), time(value.c_str() + minus + 1));
    return true;
  }
  return false;
}

void TimelineView::find(const std::string& text) {
  std::snprintf(search_text_, sizeof search_text_, "%s", text.c_str());
  choice_.search = search_text_;
  choice_.found = timeline::search(*trace_->store, choice_.search);
  choice_.found_at = 0;
}

void TimelineView::select(std::uint32_t event) {
  choice_.selected = event;
  choice_.arguments = event == kNone ? decltype(choice_.arguments){} : arguments_of(*trace_->store, event);
}

void TimelineView::select_range(Time a, Time b) {
  choice_.range = {std::min(a, b), std::max(a, b)};
  choice_.statistics = statistics_of(*trace_->store, choice_.range->first, choice_.range->second);
}

void TimelineView::go_to(std::size_t found) {
  if (choice_.found.events.empty()) return;
  choice_.mode = Mode::events;
  choice_.found_at = found % choice_.found.events.size();
  const std::uint32_t e = choice_.found.events[choice_.found_at];
  const EventStore& s = *trace_->store;
  select(e);
  choice_.folded_processes.erase(s.lanes[s.rows[s.row_of(e)].lane].process);
  choice_.folded_lanes.erase(s.rows[s.row_of(e)].lane);
  const Time width = choice_.to - choice_.from;
  if (s.begin[e] < choice_.from || s.end(e) > choice_.to || s.duration[e] * 400 < width) {
    const Time wanted =
        std::clamp<Time>(width, std::max<Time>(s.duration[e] * 3, 1000), std::max<Time>(s.duration[e] * 40, 1000));
    choice_.from = s.begin[e] + s.duration[e] / 2 - wanted / 2;
    choice_.to = choice_.from + wanted;
    keep_inside();
  }
  if (const std::uint32_t row = s.row_of(e); row < layout_.row_y.size() && layout_.row_y[row] != -1) {
    const float y = layout_.row_y[row];
    if (y < layout_.lanes.from.y || y + layout_.row > layout_.lanes.to.y)
      choice_.scroll += y - (layout_.lanes.from.y + layout_.lanes.to.y) / 2;
  }
}

// As wide as the longest of the first lanes' names needs, within bounds.
float TimelineView::width_of_names(const Theme& t, float width) const {
  constexpr std::size_t kLooked = 64;
  const EventStore& s = *trace_->store;
  float wanted = std::min(t.px(210), width * 0.22F);
  const float most = std::min(t.px(330), width * 0.28F);
  if (choice_.mode != Mode::events) return wanted;
  for (std::uint32_t l = 0; l < std::min(s.lanes.size(), kLooked); ++l)
    if (s.lanes[l].rows > 0) wanted = std::max(wanted, text_size(t.small, name_of_lane(s, l)).x + t.px(26));
  return std::min(wanted, most);
}

void TimelineView::lay_out(Frame& f) {
  const Theme& t = f.theme;
  const float edge = t.px(18), width = f.to.x - f.from.x;
  const float panel = std::min(t.px(340), width * 0.32F), names = width_of_names(t, width);
  Layout& l = layout_;
  const float right = f.to.x - edge - panel - edge;
  l.header = {{f.from.x + edge, f.from.y + t.px(14)}, {f.to.x - edge, f.from.y + t.px(104)}};
  const float left = f.from.x + edge + names;
  l.minimap = {{left, l.header.to.y}, {right, l.header.to.y + t.px(38)}};
  l.axis = {{left, l.minimap.to.y + t.px(12)}, {right, l.minimap.to.y + t.px(12) + t.small.size + t.px(10)}};
  l.names = {{f.from.x + edge, l.axis.to.y}, {left, f.to.y - t.px(8)}};
  l.lanes = {{left, l.axis.to.y}, {right, f.to.y - t.px(8)}};
  l.panel = {{right + edge, l.header.to.y}, {f.to.x - edge, f.to.y - t.px(12)}};
  l.window = {choice_.from, choice_.to, l.lanes.from.x, l.lanes.to.x};
  place_tracks(*trace_, choice_, t, l);
  const float most = std::max(0.0F, l.content - l.lanes.height());
  if (choice_.scroll > most || choice_.scroll < 0) {
    choice_.scroll = std::clamp(choice_.scroll, 0.0F, most);
    place_tracks(*trace_, choice_, t, l);
  }
}

void TimelineView::search_field(Frame& f, ImVec2& at) {
  const Theme& t = f.theme;
  const float width = t.px(240), height = button_height(t);
  const ImVec2 from{std::round(at.x), std::round(at.y)}, to{from.x + width, from.y + height};
  f.paint.fill(from, to, t.colours.paper, t.px(6));
  f.paint.outline(from, to, t.colours.line, std::max(1.0F, t.px(1)), t.px(6));
  f.log.box("search", from, to);
  if (f.interactive) {
    ImGui::SetCursorScreenPos({from.x + t.px(6), from.y + (height - t.body.size) / 2 - t.px(2)});
    ImGui::PushFont(t.body.font);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, IM_COL32(0, 0, 0, 0));
    ImGui::PushStyleColor(ImGuiCol_Text, t.colours.ink);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {t.px(4), t.px(2)});
    ImGui::SetNextItemWidth(width - t.px(12));
    if (focus_search_) ImGui::SetKeyboardFocusHere(), focus_search_ = false;
    const bool entered = ImGui::InputTextWithHint("##search", "Search names  /", search_text_, sizeof search_text_,
                                                  ImGuiInputTextFlags_EnterReturnsTrue);
    ImGui::PopStyleVar();
    ImGui::PopStyleColor(2);
    ImGui::PopFont();
    if (choice_.search != search_text_) find(std::string(search_text_));
    if (entered) go_to(choice_.found_at);
  } else {
    f.paint.text(t.body, {from.x + t.px(12), (from.y + to.y) / 2},
                 choice_.search.empty() ? t.colours.muted : t.colours.ink,
                 choice_.search.empty() ? "Search names" : choice_.search, {0, 0.5F});
  }
  at.x = to.x + t.px(8);
  if (choice_.search.empty()) return;
  const std::string count = choice_.found.count == 0 ? "none"
                            : choice_.selected != kNone
                                ? fmt::format("{} of {}", choice_.found_at + 1, count_text(choice_.found.count))
                                : count_text(choice_.found.count);
  f.paint.text(t.body, {at.x + t.px(4), (from.y + to.y) / 2}, t.colours.muted, count, {0, 0.5F});
  f.log.value("search/count", static_cast<double>(choice_.found.count));
  at.x += text_size(t.body, count).x + t.px(14);
  const std::size_t n = choice_.found.events.size();
  if (n == 0) return;
  if (button(f, "search/previous", "<", at)) go_to(choice_.found_at + n - 1);
  if (button(f, "search/next", ">", at)) go_to(choice_.selected == kNone ? choice_.found_at : choice_.found_at + 1);
}

void TimelineView::header(Frame& f) {
  const Theme& t = f.theme;
  const EventStore& s = *trace_->store;
  const Area& h = layout_.header;
  std::string title = files_.empty() ? "Timeline" : files_.front().filename().string();
  const auto& about = s.files.front().about;
  if (const auto lab = about.find("lab"); lab != about.end()) {
    title = lab->second;
    if (const auto task = about.find("task"); task != about.end()) title += "  " + task->second;
    if (const auto wrong = about.find("wrong_case"); wrong != about.end())
      title += ", the wrong case: " + wrong->second;
  } else if (files_.size() > 1) {
    title += fmt::format(" and {} more", files_.size() - 1);
  }
  const std::string what =
      fmt::format("{} events, {} lanes, {}", count_text(s.size()), s.lanes.size(), time_text(s.last - s.first));
  f.paint.text(t.heading, h.from, t.colours.ink, fitted(t.heading, title, h.width() * 0.7F));
  f.log.text("title", title);
  f.paint.text(t.small, {h.to.x, h.from.y + t.px(6)}, t.colours.muted, what, {1, 0});
  f.log.value("events", static_cast<double>(s.size()));
  ImVec2 at{h.from.x, h.from.y + t.px(42)};
  const auto all = modes();
  if (all.size() > 1) {
    std::vector<std::string> words;
    std::size_t now = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      words.emplace_back(word_of(all[i]));
      if (all[i] == choice_.mode) now = i;
    }
    const std::size_t next = viz::choice(f, "mode", words, now, at);
    if (next != now) choice_.mode = all[next], choice_.scroll = 0;
  }
  search_field(f, at);
  if (button(f, "fit", choice_.range ? "Fit range" : "Fit all", at)) fit();
}

void TimelineView::keys_and_mouse(Frame& f) {
  const ImGuiIO& io = ImGui::GetIO();
  const Layout& l = layout_;
  const Time width = choice_.to - choice_.from;
  const float middle = (l.lanes.from.x + l.lanes.to.x) / 2;
  const auto pan = [&](double part) {
    const auto by = static_cast<Time>(part * static_cast<double>(width));
    choice_.from += by, choice_.to += by;
    keep_inside();
  };
  if (!io.KeyCtrl) {
    const float at = mouse_over(l.lanes.from, l.lanes.to) ? io.MousePos.x : middle;
    if (key_pressed('W') || key_pressed('+')) zoom(0.8, at);
    if (key_pressed('S') || key_pressed('-')) zoom(1.25, at);
    if (key_pressed('A') || key_pressed(ImGuiKey_LeftArrow)) pan(-0.1);
    if (key_pressed('D') || key_pressed(ImGuiKey_RightArrow)) pan(0.1);
    if (key_pressed(ImGuiKey_UpArrow)) choice_.scroll -= 2 * l.row;
    if (key_pressed(ImGuiKey_DownArrow)) choice_.scroll += 2 * l.row;
    if (key_pressed('F', false)) fit();
    if (key_pressed('/', false)) focus_search_ = true;
    if (key_pressed('N', false) && !choice_.found.events.empty())
      go_to(io.KeyShift ? choice_.found_at + choice_.found.events.size() - 1 : choice_.found_at + 1);
    if (key_pressed('M', false) && mouse_over(l.lanes.from, l.lanes.to)) {
      const Time t = l.window.at(io.MousePos.x);
      if (!choice_.mark_a || choice_.mark_b)
        choice_.mark_a = t, choice_.mark_b.reset();
      else
        choice_.mark_b = t;
    }
    if (key_pressed(ImGuiKey_Escape, false)) {
      select(kNone);
      choice_.range.reset(), choice_.statistics.reset(), choice_.mark_a.reset(), choice_.mark_b.reset();
    }
  }
  const ImVec2 whole_to{l.lanes.to.x, l.lanes.to.y};
  if (const float wheel = wheel_over({l.names.from.x, l.minimap.from.y}, whole_to); wheel != 0) {
    if (io.KeyShift || io.MousePos.x < l.lanes.from.x)
      choice_.scroll -= wheel * 3 * l.row;
    else
      zoom(std::pow(0.82, static_cast<double>(wheel)), io.MousePos.x);
  }
  const ImVec2 mouse = io.MousePos;
  const auto from_minimap = [&] {
    const EventStore& s = *trace_->store;
    const double part = std::clamp(static_cast<double>((mouse.x - l.minimap.from.x) / l.minimap.width()), 0.0, 1.0);
    choice_.from = s.first + static_cast<Time>(part * static_cast<double>(s.last - s.first)) - width / 2;
    choice_.to = choice_.from + width;
    keep_inside();
  };
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    in_minimap_ = mouse_over(l.minimap.from, l.minimap.to);
    dragging_ = !in_minimap_ && mouse_over({l.lanes.from.x, l.axis.from.y}, l.lanes.to);
    drag_from_ = mouse.x;
    if (mouse_over(l.names.from, l.names.to)) click(mouse);
  }
  if (in_minimap_ && ImGui::IsMouseDown(ImGuiMouseButton_Left)) from_minimap();
  const float moved = std::fabs(mouse.x - drag_from_);
  if (dragging_ && ImGui::IsMouseDown(ImGuiMouseButton_Left) && moved > f.theme.px(5)) {
    const Time a = l.window.at(std::clamp(drag_from_, l.lanes.from.x, l.lanes.to.x)),
               b = l.window.at(std::clamp(mouse.x, l.lanes.from.x, l.lanes.to.x));
    choice_.range = {std::min(a, b), std::max(a, b)};
  }
  if (dragging_ && ImGui::IsMouseReleased(ImGuiMouseButton_Left)) {
    dragging_ = false;
    if (moved > f.theme.px(5) && choice_.range)
      select_range(choice_.range->first, choice_.range->second);
    else
      click(mouse);
  }
  if (mouse_over(l.lanes.from, l.lanes.to) && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) {
    choice_.range.reset(), choice_.statistics.reset();
    fit();
  }
  for (const auto b : {ImGuiMouseButton_Right, ImGuiMouseButton_Middle})
    if (ImGui::IsMouseDown(b) && mouse_over({l.names.from.x, l.axis.from.y}, whole_to) &&
        (io.MouseDelta.x != 0 || io.MouseDelta.y != 0)) {
      pan(-static_cast<double>(io.MouseDelta.x) / static_cast<double>(l.lanes.width()));
      choice_.scroll -= io.MouseDelta.y;
    }
}

std::uint32_t TimelineView::event_under(ImVec2 mouse) const {
  const EventStore& s = *trace_->store;
  if (choice_.mode == Mode::collective && trace_->collective) {
    for (const Track& t : layout_.tracks)
      if (t.what == Track::What::ring && mouse.y >= t.y0 && mouse.y < t.y1)
        for (const RingStep& step : trace_->collective->steps)
          if (step.place == t.index && layout_.window.x(step.begin) <= mouse.x && mouse.x <= layout_.window.x(step.end))
            return step.event;
    return kNone;
  }
  if (choice_.mode != Mode::events) return kNone;
  for (const Piece& p : picture_.pieces)
    if (mouse.x >= p.x0 - 1 && mouse.x <= p.x1 + 1 && mouse.y >= p.y0 && mouse.y < p.y1) {
      if (p.count == 1) return p.event;
      const Row& row = s.rows[s.row_of(p.event)];
      const std::uint32_t e = first_ending_after(s, row, layout_.window.at(mouse.x), p.event);
      return std::min(e, p.event + p.count - 1);
    }
  return kNone;
}

void TimelineView::click(ImVec2 mouse) {
  if (mouse.x < layout_.lanes.from.x) {
    for (const Track& t : layout_.tracks) {
      if (mouse.y < t.y0 || mouse.y >= t.y1 || mouse.y < layout_.names.from.y || choice_.mode != Mode::events) continue;
      const auto flip = [](auto& set, std::uint32_t i) {
        if (!set.erase(i)) set.insert(i);
      };
      if (t.what == Track::What::process) flip(choice_.folded_processes, t.index);
      if (t.what == Track::What::lane) flip(choice_.folded_lanes, t.index);
    }
    return;
  }
  select(event_under(mouse));
  if (choice_.selected == kNone) choice_.range.reset(), choice_.statistics.reset();
}

void TimelineView::hover(Frame& f) {
  if (dragging_ || !mouse_over(layout_.lanes.from, layout_.lanes.to)) return;
  const std::uint32_t e = event_under(ImGui::GetMousePos());
  if (e == kNone) return;
  const EventStore& s = *trace_->store;
  std::string text = fmt::format("{}\n{}", s.name_of(e), s.duration[e] > 0 ? time_text(s.duration[e]) : "instant");
  if (const Detail* d = s.detail(e); d && d->bytes > 0) {
    text += "\n" + bytes_text(d->bytes);
    if (s.duration[e] > 0) text += ", " + rate_text(d->bytes / seconds(s.duration[e]));
  }
  tooltip(f, text);
}

void TimelineView::draw_loading(Frame& f) {
  const Theme& t = f.theme;
  const ImVec2 middle{(f.from.x + f.to.x) / 2, (f.from.y + f.to.y) / 2};
  const float half = t.px(260);
  if (!loader_) {
    f.paint.text(t.heading, {middle.x, middle.y - t.px(60)}, t.colours.ink,
                 error_.empty() ? "No timeline is open" : "This trace cannot be shown", {0.5F, 0.5F});
    paragraph(f.paint, t.body, {middle.x - half * 1.4F, middle.y - t.px(20)}, half * 2.8F, t.colours.muted,
              error_.empty() ? "Open a Chrome trace: what ./ridge check writes beside its results, PyTorch's profiler "
                               "(also .json.gz), or any other tool. Several files, one per rank, are shown as one."
                             : error_);
    return;
  }
  const double part = loader_->fraction();
  f.paint.text(t.heading, {middle.x, middle.y - t.px(50)}, t.colours.ink,
               fmt::format("Reading {}", files_.back().filename().string()), {0.5F, 0.5F});
  f.paint.fill({middle.x - half, middle.y}, {middle.x + half, middle.y + t.px(10)}, t.colours.line, t.px(5));
  f.paint.fill({middle.x - half, middle.y},
               {middle.x - half + 2 * half * static_cast<float>(part), middle.y + t.px(10)}, t.colours.accent, t.px(5));
  f.paint.text(
      t.body, {middle.x, middle.y + t.px(40)}, t.colours.muted,
      part < 1 ? fmt::format("{:.0f}%, {} events", 100 * part, count_text(loader_->events())) : "sorting lanes",
      {0.5F, 0.5F});
  ImVec2 at{middle.x - t.px(45), middle.y + t.px(70)};
  if (button(f, "cancel", "Cancel", at)) loader_->cancel();
}

void TimelineView::draw(Frame& f) {
  drawn_ = true;
  if (loader_ && loader_->done()) loaded();
  if (loader_ || !trace_) return draw_loading(f);
  lay_out(f);
  if (f.interactive) {
    keys_and_mouse(f);
    lay_out(f);
  }
  draw_minimap(f, *trace_, choice_, layout_);
  draw_axis(f, *trace_, layout_);
  draw_tracks(f, *trace_, choice_, layout_, picture_);
  draw_panel(f, *trace_, choice_, layout_);
  header(f);
  if (f.interactive) hover(f);
}

}  // namespace

std::unique_ptr<View> make_timeline_view() { return std::make_unique<TimelineView>(); }

}  // namespace ridge::viz
