#include "warp/warp_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <tuple>

#include "kit/draw_text.hpp"
#include "kit/input.hpp"
#include "kit/widgets.hpp"
#include "warp/tile_panels.hpp"
#include "warp/warp_model.hpp"
#include "warp/warp_scene.hpp"

namespace ridge::viz {

WarpCost cost_of(WarpOp op, const WarpTotals& t) {
  if (is_global(op)) return {t.sectors, t.ideal_sectors};
  return {t.wavefronts, t.wavefronts - std::min(t.conflicts, t.wavefronts)};
}

const std::pair<const WarpOp, WarpTotals>* WarpLineScene::worst() const {
  const std::pair<const WarpOp, WarpTotals>* worst = nullptr;
  for (const auto& entry : totals)
    if (!worst || cost_of(entry.first, entry.second).ratio() > cost_of(worst->first, worst->second).ratio())
      worst = &entry;
  return worst;
}

double WarpLineScene::waste() const {
  const auto* w = worst();
  return w ? std::max(1.0, cost_of(w->first, w->second).ratio()) : 1;
}

namespace {

bool before(const WarpWhen& a, const WarpWhen& b) {
  const auto key = [](const WarpWhen& w) {
    return std::tuple(w.launch, w.block[2], w.block[1], w.block[0], w.warp, w.number);
  };
  return key(a) < key(b);
}

const char* verb_of(WarpOp op) {
  switch (op) {
    case WarpOp::global_load:
    case WarpOp::shared_load:
      return "load";
    case WarpOp::global_store:
    case WarpOp::shared_store:
      return "store";
    default:
      return "atomic";
  }
}

std::string label_of(const WarpKernel& k, const WarpRequest& r) {
  const WarpMemory* m = memory_of(k, r);
  const std::string name = m == nullptr || m->name.empty() ? (is_global(r.op) ? "global" : "shared") : m->name;
  return fmt::format("{} {}", verb_of(r.op), name);
}

}  // namespace

WarpScene warp_scene(const WarpFile& file, std::size_t kernel) {
  WarpScene s;
  const WarpKernel& k = file.kernels[kernel];
  s.kernel = &k;
  std::map<std::string, std::uint64_t> weight;
  for (const WarpLine& l : k.lines) weight[l.file] += l.totals.requests;
  if (weight.empty())
    for (const WarpBlock& b : k.blocks) weight[b.file] += b.runs;
  std::uint64_t most = 0;
  for (const auto& [name, n] : weight)
    if (!name.empty() && n > most) most = n, s.file = name;
  if (auto at = file.sources.find(s.file); at != file.sources.end()) s.source = &at->second;
  for (const WarpLine& l : k.lines) {
    if (l.file != s.file || l.line == 0) continue;
    WarpLineScene& line = s.lines[l.line];
    line.line = l.line;
    line.totals[l.op].add(l.totals);
    WarpAccess a{l.pc, l.op, -1, {}, ""};
    for (std::size_t i = 0; i < k.requests.size(); ++i)
      if (k.requests[i].pc == l.pc && k.requests[i].op == l.op) a.requests.push_back(i);
    std::sort(a.requests.begin(), a.requests.end(),
              [&](auto x, auto y) { return before(k.requests[x].when, k.requests[y].when); });
    if (a.requests.empty()) continue;
    a.label = label_of(k, k.requests[a.requests.front()]);
    line.accesses.push_back(std::move(a));
  }
  for (std::size_t i = 0; i < k.blocks.size(); ++i) {
    const WarpBlock& b = k.blocks[i];
    if (b.file != s.file || b.line == 0 || b.samples.empty()) continue;
    WarpLineScene& line = s.lines[b.line];
    line.line = b.line;
    line.runs += b.runs;
    line.lanes += b.lanes;
    line.partial += b.partial;
    WarpAccess a{b.pc, WarpOp::global_load, static_cast<int>(i), {}, "lanes"};
    for (std::size_t n = 0; n < b.samples.size(); ++n) a.requests.push_back(n);
    std::sort(a.requests.begin(), a.requests.end(),
              [&](auto x, auto y) { return before(b.samples[x].when, b.samples[y].when); });
    line.accesses.push_back(std::move(a));
  }
  for (auto& [number, line] : s.lines) {  // unrolled code repeats an access
    std::map<std::string, int> seen, all;
    for (const auto& a : line.accesses) ++all[a.label];
    for (auto& a : line.accesses)
      if (const std::string label = a.label; all[label] > 1) a.label += fmt::format(" {}", ++seen[label]);
  }
  return s;
}

namespace {

class WarpView : public View {
 public:
  const char* id() const override { return "warp"; }
  std::string title() const override { return "Warp"; }
  bool takes(FileKind kind) const override { return kind == FileKind::warp; }
  bool empty() const override { return file_.kernels.empty() && show_ == Show::requests; }

  void open(const Source& source) override {
    try {
      file_ = read_warp(source.path);
    } catch (const WarpError& e) {
      throw OpenError(e.what());
    }
    differ_ = 0;
    for (const WarpKernel& k : file_.kernels)
      for (const WarpRequest& r : k.requests) differ_ += !consistent(r);
    choose_kernel(0);
  }

  bool set(const std::string& key, const std::string& value) override {
    if (key == "show") {
      for (std::size_t i = 0; i < kShown.size(); ++i)
        if (value == kShown[i]) return show_ = static_cast<Show>(i), true;
      return false;
    }
    if (show_ == Show::swizzle) return tile_.set(key, value);
    if (show_ == Show::wgmma) return fragment_.set(key, value);
    if (empty()) return false;
    if (key == "kernel") {
      for (std::size_t i = 0; i < file_.kernels.size(); ++i)
        if (file_.kernels[i].kernel == value) return choose_kernel(i), true;
      return false;
    }
    int n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (key == "access") {
      const WarpLineScene* l = line();
      for (std::size_t i = 0; l && i < l->accesses.size(); ++i)
        if (l->accesses[i].label == value) return access_ = i, request_ = 0, true;
    }
    if (error != std::errc{} || end != value.data() + value.size()) return false;
    if (key == "line") return scene_.lines.count(n) != 0 && (choose_line(n), true);
    if (key == "request" && access() && n >= 1 && n <= static_cast<int>(access()->requests.size()))
      return request_ = static_cast<std::size_t>(n - 1), true;
    return false;
  }

  double wake_after() const override { return playing_ ? std::max(0.0, next_ - ImGui::GetTime()) : kNever; }

  std::vector<std::string> notes() const override {
    if (show_ == Show::swizzle) return tile_.notes();
    if (show_ == Show::wgmma) return {};
    std::vector<std::string> all = file_.notes;
    if (differ_ > 0) all.push_back(fmt::format("{} requests whose counts are not those of their addresses", differ_));
    if (!empty() && scene_.source == nullptr) all.push_back("the source was not recorded");
    return all;
  }

  std::vector<std::pair<std::string, std::string>> keys() const override {
    if (show_ == Show::swizzle) return tile_.keys();
    if (show_ == Show::wgmma) return fragment_.keys();
    return {{"left, right", "the access's requests, one by one"},
            {"up, down", "lines that do something"},
            {"Tab", "the line's next access"},
            {"space", "play through the warp's requests"},
            {"W", "the line that wastes most"},
            {"K", "the next kernel"}};
  }

  void draw(Frame& f) override {
    const Theme& t = f.theme;
    const float margin = t.px(18), top = f.from.y + margin + t.title.size + t.px(16);
    const float right = draw_show(f, {f.to.x - margin, f.from.y + margin});
    if (show_ != Show::requests)
      return draw_layout(f, {f.from.x + margin, f.from.y + margin}, {f.to.x - margin, f.to.y - margin});
    if (empty()) return draw_hint(f, {f.from.x + margin, top});
    if (f.interactive) handle_keys();
    draw_title(f, {f.from.x + margin, f.from.y + margin}, right - t.px(16));
    const float split = std::round(f.from.x + (f.to.x - f.from.x) * 0.475F);
    const int clicked =
        draw_warp_source(f, {f.from.x + margin, top}, {split, f.to.y - margin}, scene_, line_, first_, follow_);
    follow_ = false;
    if (clicked != 0) choose_line(clicked), follow_ = false;
    draw_access(f, {split + margin, top}, {f.to.x - margin, f.to.y - margin});
  }

 private:
  void choose_kernel(std::size_t i) {
    kernel_ = i;
    scene_ = warp_scene(file_, i);
    first_ = 0;
    playing_ = false;
    line_ = 0;
    worst_line();
  }

  void choose_line(int line) {
    if (line != line_) access_ = request_ = 0;
    line_ = line;
    follow_ = true;
    // The operation with the most waste comes first.
    if (const WarpLineScene* l = this->line())
      for (std::size_t i = 0; i < l->accesses.size(); ++i)
        if (l->accesses[i].block < 0 && waste(l->accesses[i]) > waste(l->accesses[access_]) + 0.01) access_ = i;
  }

  double waste(const WarpAccess& a) const {
    if (a.block >= 0) return 0;
    double worst = 0;
    for (std::size_t i : a.requests) {
      const WarpRequest& r = scene_.kernel->requests[i];
      const auto took = static_cast<double>(is_global(r.op) ? r.sectors : r.wavefronts);
      const auto ideal =
          static_cast<double>(is_global(r.op) ? r.ideal_sectors : r.wavefronts - std::min(r.conflicts, r.wavefronts));
      worst = std::max(worst, took / std::max(ideal, 1.0));
    }
    return worst;
  }

  void worst_line() {
    double most = 0;
    int best = scene_.lines.empty() ? 0 : scene_.lines.begin()->first;
    for (const auto& [number, l] : scene_.lines) {
      double w = l.totals.empty() ? 0 : l.waste();
      if (l.partial > 0) w = std::max(w, 0.5);
      if (w > most + 1e-9) most = w, best = number;
    }
    choose_line(best);
  }

  const WarpLineScene* line() const {
    const auto at = scene_.lines.find(line_);
    return at == scene_.lines.end() ? nullptr : &at->second;
  }
  const WarpAccess* access() const {
    const WarpLineScene* l = line();
    return l && access_ < l->accesses.size() ? &l->accesses[access_] : nullptr;
  }

  void step_line(int by) {
    auto at = scene_.lines.find(line_);
    if (at == scene_.lines.end()) return;
    if (by > 0 ? std::next(at) != scene_.lines.end() : at != scene_.lines.begin())
      choose_line(by > 0 ? std::next(at)->first : std::prev(at)->first);
  }

  void handle_keys() {
    const WarpAccess* a = access();
    if (key_pressed(ImGuiKey_LeftArrow) && request_ > 0) --request_, playing_ = false;
    if (key_pressed(ImGuiKey_RightArrow) && a && request_ + 1 < a->requests.size()) ++request_, playing_ = false;
    if (key_pressed(ImGuiKey_UpArrow)) step_line(-1);
    if (key_pressed(ImGuiKey_DownArrow)) step_line(1);
    if (key_pressed(ImGuiKey_Tab) && line() && !line()->accesses.empty())
      access_ = (access_ + 1) % line()->accesses.size(), request_ = 0;
    if (key_pressed('W', false)) worst_line();
    if (key_pressed('K', false)) choose_kernel((kernel_ + 1) % file_.kernels.size());
    if (key_pressed(ImGuiKey_Space, false)) playing_ = !playing_, next_ = ImGui::GetTime();
    if (playing_ && ImGui::GetTime() >= next_) {
      play_on();
      next_ = ImGui::GetTime() + 0.9;
    }
  }

  // Moves to the warp's next request in program order, and from the last one to the first.
  void play_on() {
    struct Step {
      std::uint64_t number;
      int line;
      std::size_t access, request;
    };
    const WarpWhen* now = nullptr;
    if (const WarpAccess* a = access(); a && a->block < 0 && request_ < a->requests.size())
      now = &scene_.kernel->requests[a->requests[request_]].when;
    const WarpWhen start{};
    const WarpWhen& at = now ? *now : start;
    std::vector<Step> steps;
    for (const auto& [number, l] : scene_.lines)
      for (std::size_t i = 0; i < l.accesses.size(); ++i)
        for (std::size_t n = 0; l.accesses[i].block < 0 && n < l.accesses[i].requests.size(); ++n) {
          const WarpWhen& w = scene_.kernel->requests[l.accesses[i].requests[n]].when;
          if (w.launch == at.launch && w.block == at.block && w.warp == at.warp)
            steps.push_back({w.number, number, i, n});
        }
    if (steps.empty()) return;
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) { return a.number < b.number; });
    auto next = std::find_if(steps.begin(), steps.end(), [&](const Step& s) { return now && s.number > at.number; });
    const Step& s = next == steps.end() ? steps.front() : *next;
    line_ = s.line;
    access_ = s.access;
    request_ = s.request;
    follow_ = true;
  }

  // Draws the buttons for what is shown, ending at `right`, and returns where they begin. Without a recording there is
  // no way back to its requests.
  float draw_show(Frame& f, ImVec2 right) {
    const std::size_t first = file_.kernels.empty() && show_ != Show::requests ? 1 : 0;
    const std::vector<std::string> words(kShown.begin() + first, kShown.end());
    float width = 0;
    for (const auto& word : words) width += std::round(text_size(f.theme.body, word).x + f.theme.px(24));
    ImVec2 at{right.x - width, right.y};
    const float begin = at.x;
    show_ = static_cast<Show>(first + choice(f, "show", words, static_cast<std::size_t>(show_) - first, at));
    return begin;
  }

  void draw_layout(Frame& f, ImVec2 from, ImVec2 to) {
    const bool tile = show_ == Show::swizzle;
    f.paint.text(f.theme.title, from, f.theme.colours.ink, tile ? "A swizzled tile" : "The fragments of a wgmma");
    if (f.interactive) tile ? tile_.handle_keys() : fragment_.handle_keys();
    from.y += f.theme.title.size + f.theme.px(16);
    tile ? tile_.draw(f, from, to) : fragment_.draw(f, from, to);
  }

  void draw_hint(Frame& f, ImVec2 at) {
    const Theme& t = f.theme;
    f.paint.text(t.heading, at, f.theme.colours.ink, "No recording is open");
    paragraph(
        f.paint, t.body, {at.x, at.y + t.px(44)}, t.px(700), t.colours.muted,
        "Run a program of `ridge cc` with RIDGE_WARP=file.json, or `ridge check NN`: it leaves "
        "<attempt>.<task>.warp.json beside the result. The swizzle of a tile and the fragments of a wgmma need no "
        "recording.");
  }

  void draw_title(Frame& f, ImVec2 at, float right) {
    const Theme& t = f.theme;
    const WarpKernel& k = *scene_.kernel;
    f.paint.text(t.title, at, t.colours.ink, fitted(t.title, k.kernel, (right - at.x) * 0.5F));
    const float x = at.x + text_size(t.title, fitted(t.title, k.kernel, (right - at.x) * 0.5F)).x + t.px(18);
    std::string about = fmt::format("grid {} x {} x {}, block {} x {} x {}", k.grid[0], k.grid[1], k.grid[2],
                                    k.block[0], k.block[1], k.block[2]);
    if (k.launches > 1) about += fmt::format(", {} launches", k.launches);
    if (!file_.lab.empty()) about = fmt::format("{}, {} · ", file_.lab, file_.task) + about;
    float room = right - x;
    if (file_.kernels.size() > 1) {
      const std::string label = fmt::format("kernel {} of {}", kernel_ + 1, file_.kernels.size());
      ImVec2 b{right - text_size(t.body, label).x - t.px(26), at.y};
      room = b.x - x - t.px(16);
      if (button(f, "button/kernel", label, b)) choose_kernel((kernel_ + 1) % file_.kernels.size());
    }
    f.paint.text(t.small, {x, at.y + t.title.size * 0.42F}, t.colours.muted, fitted(t.small, about, room));
  }

  void draw_access(Frame& f, ImVec2 from, ImVec2 to) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    card(f, from, to, t.px(8));
    const float pad = t.px(20);
    ImVec2 at{from.x + pad, from.y + t.px(16)};
    const WarpLineScene* l = line();
    const WarpAccess* a = access();
    if (!l || !a) {
      f.paint.text(t.body, at, c.muted, "This line reads and writes nothing that was recorded.");
      return;
    }
    // The choice of the access; where there are many, those around the chosen one.
    if (l->accesses.size() > 1) {
      constexpr std::size_t kTabs = 4;
      const std::size_t first = access_ < kTabs ? 0 : access_ - kTabs + 1;
      std::vector<std::string> words;
      for (std::size_t i = first; i < std::min(first + kTabs, l->accesses.size()); ++i)
        words.push_back(l->accesses[i].label);
      const std::size_t chosen = first + choice(f, "access", words, access_ - first, at);
      if (chosen != access_) access_ = chosen, request_ = 0, a = access();
      if (l->accesses.size() > words.size())
        f.paint.text(t.small, {at.x, at.y + t.px(8)}, c.muted,
                     fmt::format("{} of {}", access_ + 1, l->accesses.size()));
      at = {from.x + pad, at.y + button_height(t) + t.px(12)};
    }
    request_ = std::min(request_, a->requests.size() - 1);
    draw_stepper(f, at, to.x - pad, *a);
    at.y += button_height(t) + t.px(14);
    if (a->block >= 0)
      draw_lanes(f, at, {to.x - pad, to.y - t.px(16)}, *a);
    else
      draw_request(f, at, {to.x - pad, to.y - t.px(16)}, scene_.kernel->requests[a->requests[request_]]);
  }

  void draw_stepper(Frame& f, ImVec2 at, float right, const WarpAccess& a) {
    const Theme& t = f.theme;
    ImVec2 b = at;
    if (button(f, "button/previous", "<", b) && request_ > 0) --request_, playing_ = false;
    if (button(f, "button/next", ">", b) && request_ + 1 < a.requests.size()) ++request_, playing_ = false;
    if (a.block < 0 && button(f, "button/play", playing_ ? "Pause" : "Play", b, playing_))
      playing_ = !playing_, next_ = 0;
    const WarpWhen& w =
        a.block >= 0 ? scene_.kernel->blocks[static_cast<std::size_t>(a.block)].samples[a.requests[request_]].when
                     : scene_.kernel->requests[a.requests[request_]].when;
    std::string text = fmt::format("{} {} of {} kept · block ({}, {}, {}) · warp {}", a.block >= 0 ? "Run" : "Request",
                                   request_ + 1, a.requests.size(), w.block[0], w.block[1], w.block[2], w.warp);
    if (a.block < 0 && scene_.kernel->requests[a.requests[request_]].worst) text += " · one of the dearest";
    f.paint.text(t.small, {b.x + t.px(6), at.y + button_height(t) / 2}, t.colours.muted,
                 fitted(t.small, text, right - b.x - t.px(6)), {0, 0.5F});
  }

  // Draws the number, the picture and the explanation.
  void draw_request(Frame& f, ImVec2 from, ImVec2 to, const WarpRequest& r) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    const bool global = is_global(r.op);
    std::uint64_t took, ideal;
    if (global) {
      const GlobalPicture p = global_picture(r);
      took = p.count;
      ideal = p.ideal;
      f.log.value("sectors", static_cast<double>(took));
      f.log.value("ideal_sectors", static_cast<double>(ideal));
    } else {
      const SharedPicture p = shared_picture(r);
      took = p.wavefronts.size();
      ideal = p.parts;
      f.log.value("wavefronts", static_cast<double>(took));
      f.log.value("conflicts", static_cast<double>(p.conflicts));
    }
    float x = from.x;
    const std::string figure = fmt::format("{}", took);
    const double ratio = static_cast<double>(took) / static_cast<double>(std::max<std::uint64_t>(1, ideal));
    f.paint.text(t.figure, {x, from.y}, took > ideal ? heat_colour(t, std::max(1.3, ratio)) : c.ink, figure);
    x += text_size(t.figure, figure).x + t.px(12);
    const float base = from.y + t.figure.size * 0.92F;
    const std::string unit = global ? (took == 1 ? "sector" : "sectors") : (took == 1 ? "wavefront" : "wavefronts");
    f.paint.text(t.heading, {x, base}, c.ink, unit, {0, 1});
    x += text_size(t.heading, unit).x + t.px(14);
    const std::string least = took > ideal ? fmt::format("where {} would do", ideal) : "as few as can be";
    f.paint.text(t.body, {x, base - t.px(1)}, c.muted, least, {0, 1});
    chip(f, took > ideal ? fmt::format("{:.3g} x", ratio) : "ideal", took > ideal ? c.failed : c.passed, {to.x, base});
    f.log.text("operation", words_of(r.op));

    const std::string why = explain(r);
    f.log.text("why", why);
    const float line = std::round(t.body.size * 1.28F);
    const float words =
        std::max<float>(2, static_cast<float>(wrapped(t.body, why, to.x - from.x - t.px(32)).size())) * line + t.px(24);
    const ImVec2 box_from{from.x, to.y - words}, box_to{to.x, to.y};
    const ImVec2 a{from.x, from.y + t.figure.size + t.px(22)}, b{to.x, box_from.y - t.px(18)};
    if (global)
      draw_global_request(f, a, b, *scene_.kernel, r);
    else
      draw_shared_request(f, a, b, *scene_.kernel, r);
    say(f, box_from, box_to, why, took > ideal ? c.failed : c.passed);
  }

  void say(Frame& f, ImVec2 from, ImVec2 to, const std::string& why, ImU32 colour) {
    const Theme& t = f.theme;
    f.paint.fill(from, to, faded(colour, 0.10F), t.px(6));
    f.paint.fill(from, {from.x + t.px(5), to.y}, colour, t.px(2));
    paragraph(f.paint, t.body, {from.x + t.px(18), from.y + t.px(12)}, to.x - from.x - t.px(32), t.colours.ink, why);
  }

  // Draws the lanes of one warp and iteration at each basic block, so that the paths of a branch are rows.
  void draw_lanes(Frame& f, ImVec2 from, ImVec2 to, const WarpAccess& a) {
    const Theme& t = f.theme;
    const Palette& c = t.colours;
    const WarpBlock& block = scene_.kernel->blocks[static_cast<std::size_t>(a.block)];
    const WarpBlock::Sample& now = block.samples[a.requests[request_]];
    const std::uint64_t threads = scene_.kernel->block[0] * scene_.kernel->block[1] * scene_.kernel->block[2];
    const std::uint64_t live =
        threads > now.when.warp * 32 ? std::min<std::uint64_t>(32, threads - now.when.warp * 32) : 32;
    const std::uint32_t all = (live >= 32 ? ~0u : (1u << live) - 1) | now.lanes;
    std::vector<LaneRow> rows;
    for (const WarpBlock& b : scene_.kernel->blocks) {
      if (b.file != scene_.file) continue;
      for (const auto& s : b.samples) {
        if (s.when.launch != now.when.launch || s.when.block != now.when.block || s.when.warp != now.when.warp ||
            s.when.path != now.when.path || (&b == &block && s.when.number != now.when.number))
          continue;
        rows.push_back({b.line, text_of(b.line), s.lanes, &b == &block});
        break;
      }
    }
    std::stable_sort(rows.begin(), rows.end(), [](const LaneRow& x, const LaneRow& y) { return x.line < y.line; });
    constexpr std::size_t kRows = 12;
    const auto chosen = std::find_if(rows.begin(), rows.end(), [](const LaneRow& r) { return r.chosen; });
    if (rows.size() > kRows) {  // keep those around the chosen one
      const auto middle = static_cast<std::size_t>(chosen - rows.begin());
      const std::size_t first = std::min(middle > kRows / 2 ? middle - kRows / 2 : 0, rows.size() - kRows);
      rows = {rows.begin() + static_cast<std::ptrdiff_t>(first),
              rows.begin() + static_cast<std::ptrdiff_t>(first + kRows)};
    }
    const int on = std::popcount(now.lanes);
    f.log.value("active_lanes", on);
    const std::string figure = fmt::format("{}", on);
    f.paint.text(t.figure, from, on < static_cast<int>(live) ? c.warning : c.ink, figure);
    const float base = from.y + t.figure.size * 0.92F, x = from.x + text_size(t.figure, figure).x + t.px(12);
    f.paint.text(t.heading, {x, base}, c.ink, fmt::format("of {} lanes active", live), {0, 1});
    const std::string share = fmt::format("{} of {} runs are partial", block.partial, block.runs);
    f.paint.text(t.small, {to.x, base}, c.muted, share, {1, 1});
    std::string why = explain_lanes(now.lanes, all);
    const bool split = on < static_cast<int>(live);
    if (split && rows.size() > 1) why += " A warp runs the paths of a branch one after another.";
    f.log.text("why", why);
    const float line = std::round(t.body.size * 1.28F);
    const float words =
        std::max<float>(2, static_cast<float>(wrapped(t.body, why, to.x - from.x - t.px(32)).size())) * line + t.px(24);
    f.paint.text(t.small, {from.x, from.y + t.figure.size + t.px(22)}, c.muted,
                 "The same warp, in the same iteration, at each line it comes to:");
    draw_lane_rows(f, {from.x, from.y + t.figure.size + t.px(22) + t.small.size * 1.8F},
                   {to.x, to.y - words - t.px(18)}, rows, all);
    say(f, {from.x, to.y - words}, to, why, split ? c.warning : c.passed);
  }

  std::string text_of(int line) const {
    if (!scene_.source || line < 1 || line > static_cast<int>(scene_.source->size())) return "";
    const std::string& text = (*scene_.source)[static_cast<std::size_t>(line - 1)];
    const std::size_t begin = text.find_first_not_of(" \t");
    return begin == std::string::npos ? "" : text.substr(begin);
  }

  enum class Show { requests, swizzle, wgmma };
  static constexpr std::array<const char*, 3> kShown = {"requests", "swizzle", "wgmma"};
  Show show_ = Show::requests;
  TilePanel tile_;
  FragmentPanel fragment_;

  WarpFile file_;
  std::size_t differ_ = 0;
  std::size_t kernel_ = 0, access_ = 0, request_ = 0;
  WarpScene scene_;
  int line_ = 0;
  float first_ = 0;
  bool follow_ = false, playing_ = false;
  double next_ = 0;
};

}  // namespace

std::unique_ptr<View> make_warp_view() { return std::make_unique<WarpView>(); }

}  // namespace ridge::viz
