#include "roofline/roofline_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "roofline/ncu_file.hpp"
#include "roofline/roofline_plot.hpp"
#include "roofline/side_panel.hpp"

namespace ridge::viz {
namespace {

constexpr std::size_t kMostFiles = 2000;  // files of a folder that are opened

class RooflineView : public View {
 public:
  const char* id() const override { return "roofline"; }
  std::string title() const override { return "Roofline"; }
  bool takes(FileKind kind) const override {
    return kind == FileKind::result || kind == FileKind::steps || kind == FileKind::calibration ||
           kind == FileKind::folder || kind == FileKind::ncu_csv;
  }
  bool empty() const override { return groups_.empty(); }
  std::vector<std::string> notes() const override;
  bool set(const std::string& key, const std::string& value) override;

  void open(const Source& source) override {
    if (source.kind == FileKind::calibration) {
      calibrated_ = read_calibration(source.path);
      if (results_.empty()) show_roofs(source.path);
      return;
    }
    auto files = results_;
    std::string attempt;
    if (source.kind == FileKind::result) {
      Result r = read_result(source.path);
      attempt = r.attempt;
      files.push_back(std::move(r));
    }
    if (source.kind == FileKind::steps)
      for (Result& r : read_steps(source.path)) files.push_back(std::move(r));
    if (source.kind == FileKind::ncu_csv) files.push_back(read_ncu(source.path));
    if (source.kind == FileKind::folder) add_folder(source.path, files);
    // An attempt that is opened again, as by a step back in a story, is kept once.
    std::set<std::pair<std::string, std::string>> seen;
    std::erase_if(files, [&](const Result& r) {
      return !r.attempt.empty() && !r.steps && !seen.emplace(r.lab, r.attempt).second;
    });
    show(std::move(files));
    for (std::size_t g = 0; !attempt.empty() && g < groups_.size(); ++g)
      for (std::size_t i = 0; i < groups_[g].attempts.size(); ++i)
        if (groups_[g].attempts[i].attempt == attempt) chosen_.group = g, chosen_.shown = i;
  }

  std::vector<std::pair<std::string, std::string>> keys() const override {
    return {{"Left   Right", "the attempt before, after"},
            {"Up   Down", "the lab before, after"},
            {"C", "compare with the attempt before"},
            {"L", "bytes at each level of the memory hierarchy"},
            {"Click a point or a card", "show this task alone"},
            {"Ctrl wheel   drag", "zoom at the mouse, move"},
            {"Right drag   double click", "zoom into a box, fit all"}};
  }

  void draw(Frame& frame) override {
    if (groups_.empty()) return say_how(frame);
    if (frame.interactive) handle_keys();
    const Theme& t = frame.theme;
    const Scene scene(groups_, calibrated_, chosen_);
    const float width = frame.to.x - frame.from.x;
    const float panel = std::round(std::min(t.px(t.present ? 600 : 500), width * 0.45F));
    const ImVec2 split{frame.to.x - panel, frame.from.y};
    const float top = tools(frame, scene, {frame.from.x + t.px(16), frame.from.y + t.px(14)}, split.x);
    draw_roofline(frame, scene, chosen_, {frame.from.x + t.px(16), top}, {split.x, frame.to.y - t.px(6)});
    frame.paint.push_clip(split, frame.to);
    const float height = draw_side_panel(frame, scene, chosen_, split, frame.to, scroll_);
    frame.paint.pop_clip();
    const float most = std::max(0.0F, height - (frame.to.y - frame.from.y));
    if (frame.interactive) scroll_ = std::clamp(scroll_ - wheel_over(split, frame.to) * t.px(60), 0.0F, most);
    if (most > 0 && frame.interactive) {
      const float all = frame.to.y - frame.from.y, bar = all * all / height, y = frame.from.y + scroll_ / height * all;
      frame.paint.fill({frame.to.x - t.px(7), y}, {frame.to.x - t.px(2), y + bar}, t.colours.line, t.px(2));
    }
  }

 private:
  void show(std::vector<Result> files) {
    results_ = std::move(files);
    groups_ = grouped(results_);
    // Shows the newest group at its last attempt.
    chosen_ = {};
    chosen_.group = groups_.size() - 1;
    chosen_.shown = groups_.back().attempts.size() - 1;
    scroll_ = 0;
  }

  // Shows a machine's roofs without tasks.
  void show_roofs(const std::filesystem::path& file) {
    Result r;
    r.title = "Measured roofs";
    r.lab = file.parent_path().filename().string();
    r.attempt = file.filename().string();
    groups_ = grouped({r});
    chosen_ = {};
  }

  void add_folder(const std::filesystem::path& folder, std::vector<Result>& files);
  void handle_keys();
  float tools(Frame& frame, const Scene& scene, ImVec2 at, float right);
  void say_how(Frame& frame);

  std::vector<Result> results_;  // in the order of opening
  std::vector<Group> groups_;
  std::vector<Ceiling> calibrated_;
  std::vector<std::string> broken_;  // files of a folder that could not be read
  std::size_t left_out_ = 0;
  Chosen chosen_;
  float scroll_ = 0;
};

void RooflineView::add_folder(const std::filesystem::path& folder, std::vector<Result>& files) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<fs::path> found;
  fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied, error), end;
  for (; !error && it != end && found.size() < 50 * kMostFiles; it.increment(error))
    if (it.depth() < 3 && it->path().extension() == ".json" && !it->path().string().ends_with(".trace.json"))
      found.push_back(it->path());
  std::sort(found.begin(), found.end());
  left_out_ = found.size() > kMostFiles ? found.size() - kMostFiles : 0;
  found.erase(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(left_out_));
  broken_.clear();
  const std::size_t before = files.size();
  for (const auto& file : found) {
    try {
      const Source source = identify(file);
      if (source.kind == FileKind::result) files.push_back(read_result(file));
      if (source.kind == FileKind::steps)
        for (Result& r : read_steps(file)) files.push_back(std::move(r));
      if (source.kind == FileKind::calibration) calibrated_ = read_calibration(file);
    } catch (const OpenError& e) {
      const std::string text = e.what();
      broken_.push_back(text.substr(0, text.find('\n')));
    }
  }
  if (files.size() == before)
    throw OpenError(
        fmt::format("cannot open the directory '{}': it holds no result that can be read{}\n  try: "
                    "`./ridge check 01`, then work/.ridge/results",
                    folder.string(), broken_.empty() ? "" : " (" + broken_[0] + ")"));
}

std::vector<std::string> RooflineView::notes() const {
  std::vector<std::string> out;
  if (groups_.empty()) return out;
  if (!broken_.empty()) out.push_back(fmt::format("{} files were left out: {}", broken_.size(), broken_[0]));
  if (left_out_ > 0) out.push_back(fmt::format("the {} oldest files were left out", left_out_));
  const Scene scene(groups_, calibrated_, chosen_);
  if (scene.result.left_out > 0)
    out.push_back(fmt::format("{} kernels that took less time were left out", scene.result.left_out));
  std::size_t pointless = 0;
  for (const Task& t : scene.result.tasks)
    pointless += scene.dot(chosen_.shown, t.id) == nullptr && t.status != "skipped";
  if (pointless > 0)
    out.push_back(fmt::format("{} of {} have no point: their cards say why", pointless, scene.result.tasks.size()));
  const Roofs first = roofs_of(scene.ceilings);
  if (chosen_.precision.empty() && scene.roofs.compute != first.compute)
    out.push_back(fmt::format("The {} roof is taken: rates lie above {}.", short_name(*scene.roofs.compute),
                              short_name(*first.compute)));
  if (!calibrated_.empty() && scene.result.backend == "cpu")
    out.push_back("These roofs were measured on a GPU, the traffic was counted on the emulator.");
  return out;
}

bool RooflineView::set(const std::string& key, const std::string& value) {
  if (groups_.empty()) return false;
  const Group& group = groups_[chosen_.group];
  const auto number = [&](std::size_t most) -> std::optional<std::size_t> {
    char* end = nullptr;
    const unsigned long n = std::strtoul(value.c_str(), &end, 10);
    if (value.empty() || *end != '\0' || n < 1 || n > most) return {};
    return n - 1;
  };
  if (key == "task" && std::find(group.tasks.begin(), group.tasks.end(), value) != group.tasks.end()) {
    chosen_.task = value;
    return true;
  }
  if (key == "attempt" || key == "compare") {
    const auto n = number(group.attempts.size());
    if (n && key == "attempt") chosen_.shown = *n;
    if (n && key == "compare") chosen_.other = *n;
    return n.has_value();
  }
  if (key == "levels" && (value == "on" || value == "off")) {
    chosen_.levels = value == "on";
    return true;
  }
  if (key == "roof") {
    const Scene scene(groups_, calibrated_, chosen_);
    for (const Ceiling& c : scene.ceilings)
      if (c.kind == CeilingKind::compute && c.id == value) {
        chosen_.precision = value;
        return true;
      }
  }
  return false;
}

void RooflineView::handle_keys() {
  const Group& group = groups_[chosen_.group];
  const auto go = [&](std::size_t to) {
    const bool levels = chosen_.levels;
    chosen_ = {};
    chosen_.group = to;
    chosen_.shown = groups_[to].attempts.size() - 1;
    chosen_.levels = levels;
    scroll_ = 0;
  };
  if (key_pressed(ImGuiKey_LeftArrow) && chosen_.shown > 0) --chosen_.shown;
  if (key_pressed(ImGuiKey_RightArrow) && chosen_.shown + 1 < group.attempts.size()) ++chosen_.shown;
  if (chosen_.other && *chosen_.other == chosen_.shown) chosen_.other.reset();
  if (key_pressed(ImGuiKey_UpArrow) && chosen_.group > 0) return go(chosen_.group - 1);
  if (key_pressed(ImGuiKey_DownArrow) && chosen_.group + 1 < groups_.size()) return go(chosen_.group + 1);
  if (ImGui::GetIO().KeyCtrl) return;
  if (key_pressed('L', false)) chosen_.levels = !chosen_.levels;
  if (key_pressed('C', false) && group.attempts.size() > 1) {
    if (chosen_.other)
      chosen_.other.reset();
    else
      chosen_.other = chosen_.shown > 0 ? chosen_.shown - 1 : 1;
  }
  if (key_pressed(ImGuiKey_Escape, false)) chosen_.task.clear(), chosen_.other.reset();
}

// Draws the row above the plot and returns its lower edge.
float RooflineView::tools(Frame& frame, const Scene& scene, ImVec2 at, float right) {
  std::vector<std::string> roofs{"auto"};
  for (const Ceiling& c : scene.ceilings)
    if (c.kind == CeilingKind::compute) roofs.push_back(c.id);
  const bool levels = std::any_of(scene.dots.begin(), scene.dots.end(),
                                  [](const Dot& d) { return d.point.level_bytes[1].has_value(); });
  if (roofs.size() < 3 && !levels && chosen_.task.empty() && !chosen_.zoom) return at.y;
  const Theme& t = frame.theme;
  at.x += t.px(t.present ? 92 : 78);
  const auto label = [&](const char* text) {
    frame.paint.text(t.small, {at.x, at.y + button_height(t) / 2}, t.colours.muted, text, {0, 0.5F});
    at.x += text_size(t.small, text).x + t.px(10);
  };
  if (roofs.size() >= 3) {
    label("Compute roof");
    const auto now = std::find(roofs.begin(), roofs.end(), chosen_.precision);
    const std::size_t chosen = now == roofs.end() ? 0 : static_cast<std::size_t>(now - roofs.begin());
    const std::size_t next = choice(frame, "roofs", roofs, chosen, at);
    chosen_.precision = next == 0 ? "" : roofs[next];
  }
  if (levels && at.x < right - t.px(120) && button(frame, "button/levels", "Levels", at, chosen_.levels))
    chosen_.levels = !chosen_.levels;
  if (!chosen_.task.empty() && button(frame, "button/all", "All tasks", at)) chosen_.task.clear();
  if (chosen_.zoom && button(frame, "button/fit", "Fit", at)) chosen_.zoom.reset();
  return at.y + button_height(t) + t.px(6);
}

void RooflineView::say_how(Frame& frame) {
  const Theme& t = frame.theme;
  frame.paint.text(t.heading, {(frame.from.x + frame.to.x) / 2, (frame.from.y + frame.to.y) / 2}, t.colours.muted,
                   "Open a result: ./ridge check 01, then ./ridge viz", {0.5F, 0.5F});
}

}  // namespace

std::unique_ptr<View> make_roofline_view() { return std::make_unique<RooflineView>(); }

}  // namespace ridge::viz
