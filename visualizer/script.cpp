#include "script.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "kit/keys.hpp"
#include "screenshot.hpp"
#include "script_input.hpp"

namespace ridge::viz {
namespace {

using nlohmann::json;

constexpr float kApart = 0.5F;  // seconds between clicks, so that two are not a double click
constexpr int kDragFrames = 6;
constexpr auto kPatience = std::chrono::seconds(60);

class Player {
 public:
  Player(App& app, PictureSize size, LayoutLog& log)
      : app_(app), log_(log), screen_(window_, size.width, size.height) {}

  void play(const json& steps) {
    settle();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      try {
        step(steps[i]);
      } catch (const json::exception& e) {
        throw ScriptError(fmt::format("step {} {}: {}", i + 1, steps[i].dump(), e.what()));
      } catch (const ScriptError& e) {
        throw ScriptError(fmt::format("step {} {}: {}", i + 1, steps[i].dump(), e.what()));
      }
    }
  }

 private:
  void frame() {
    screen_.frame(
        app_.look, [&](const Theme& theme) { app_.frame(theme, log_); }, [&] { input_.apply(); });
  }

  void settle() {
    if (!viz::settle(app_, kPatience, [&] { frame(); }))
      throw ScriptError(fmt::format("the view is still loading after {} s", kPatience.count()));
  }

  // A place is "NAME" (the centre), "NAME@0.5,0.2" (shares of its rectangle), or [x, y] in pixels.
  ImVec2 place(const json& where) const {
    if (where.is_array()) return {where.at(0).get<float>(), where.at(1).get<float>()};
    auto name = where.get<std::string>();
    float px = 0.5F, py = 0.5F;
    if (const auto at = name.rfind('@'); at != std::string::npos) {
      if (std::sscanf(name.c_str() + at, "@%f,%f", &px, &py) != 2)
        throw ScriptError("'" + name + "' is not a place; write NAME, NAME@0.5,0.2 or [x, y]");
      name.resize(at);
    }
    const auto* item = log_.find(name);
    if (!item) throw ScriptError(fmt::format("nothing is called '{}'{}", name, near(name)));
    return {item->from.x + px * (item->to.x - item->from.x), item->from.y + py * (item->to.y - item->from.y)};
  }

  // Names of the same kind, to help the reader of the error.
  std::string near(const std::string& name) const {
    std::string out;
    const auto kind = name.substr(0, name.find('/'));
    for (const auto& item : log_.items())
      if (item.name.starts_with(kind) && out.size() < 300) out += (out.empty() ? "; there is " : ", ") + item.name;
    return out;
  }

  void click(const json& where, int button, int times) {
    input_.mouse = place(where);
    frame();
    for (int i = 0; i < times; ++i) {
      input_.buttons[button] = true;
      frame();
      input_.buttons[button] = false;
      frame();
    }
    input_.step = kApart;
    settle();
  }

  void drag(const json& s, int button) {
    const ImVec2 from = place(s.at("from"));
    const ImVec2 to = s.contains("by")
                          ? ImVec2{from.x + s["by"].at(0).get<float>(), from.y + s["by"].at(1).get<float>()}
                          : place(s.at("to"));
    input_.mouse = from;
    frame();
    input_.buttons[button] = true;
    frame();
    for (int i = 1; i <= kDragFrames; ++i) {
      const float part = static_cast<float>(i) / kDragFrames;
      input_.mouse = {from.x + part * (to.x - from.x), from.y + part * (to.y - from.y)};
      frame();
    }
    input_.buttons[button] = false;
    input_.step = kApart;
    settle();
  }

  void key(std::string name) {
    while (true) {
      if (name.starts_with("Ctrl+"))
        input_.control = true, name.erase(0, 5);
      else if (name.starts_with("Shift+"))
        input_.shift = true, name.erase(0, 6);
      else
        break;
    }
    if (name == "?") {
      input_.typed = name;
    } else {
      const int number = key_number(name);
      if (number == 0) throw ScriptError("there is no key '" + name + "'");
      input_.keys = {number};
    }
    frame();
    input_.keys.clear();
    frame();
    input_.control = input_.shift = false;
    settle();
  }

  // {"expect": NAME, and any of "value" with "within" (a part of it, 1e-9), "text" (contained), "x", "y" with "near"
  // pixels}
  void expect(const json& s) {
    const auto name = s.at("expect").get<std::string>();
    const auto* item = log_.find(name);
    if (!item) throw ScriptError(fmt::format("nothing is called '{}'{}", name, near(name)));
    const json drawn = json::parse(item->json);
    for (const char* key : {"value", "x", "y", "x0", "y0", "x1", "y1", "low", "high", "radius"})
      if (s.contains(key)) {
        const double want = s[key], got = drawn.at(key);
        const double slack = s.contains("near") ? s["near"].get<double>() : s.value("within", 1e-9) * std::abs(want);
        if (!(std::abs(got - want) <= slack)) throw ScriptError(fmt::format("'{}' of {} is {}", key, name, got));
      }
    if (s.contains("text") &&
        drawn.at("text").get<std::string>().find(s["text"].get<std::string>()) == std::string::npos)
      throw ScriptError(fmt::format("{} says '{}'", name, drawn.at("text").get<std::string>()));
  }

  // {"pace": NAME, "frames": N, "wheel": notches a frame, "over": PLACE}: half of the frames turn the wheel one way,
  // half the other. Writes a line of JSON with what a frame took, drawn to its last pixel.
  void pace(const json& s) {
    const int frames = s.value("frames", 120);
    const float wheel = s.value("wheel", 0.0F);
    if (frames < 2) throw ScriptError("'frames' is to be 2 or more");
    if (s.contains("over")) input_.mouse = place(s["over"]);
    frame();
    std::vector<double> ms;
    for (int i = 0; i < frames; ++i) {
      input_.wheel = i < frames / 2 ? wheel : -wheel;
      const auto start = std::chrono::steady_clock::now();
      frame();
      screen_.finish();
      ms.push_back(std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(ms.begin(), ms.end());
    fmt::print("{}\n", json{{"pace", s["pace"]},
                            {"frames", frames},
                            {"median_ms", ms[ms.size() / 2]},
                            {"p99_ms", ms[ms.size() * 99 / 100]},
                            {"fps", 1000 / ms[ms.size() / 2]}}
                           .dump());
    settle();
  }

  void step(const json& s) {
    if (s.contains("pace")) return pace(s);
    if (s.contains("click")) return click(s["click"], s.value("button", 0), 1);
    if (s.contains("double_click")) return click(s["double_click"], 0, 2);
    if (s.contains("move")) {
      input_.mouse = place(s["move"]);
      return settle();
    }
    if (s.contains("drag")) return drag(s["drag"], s["drag"].value("button", 0));
    if (s.contains("wheel")) {
      if (s.contains("over")) input_.mouse = place(s["over"]);
      input_.control = s.value("ctrl", false);
      input_.shift = s.value("shift", false);
      frame();
      input_.wheel = s["wheel"];
      frame();
      input_.control = input_.shift = false;
      return settle();
    }
    if (s.contains("key")) return key(s["key"]);
    if (s.contains("type")) {
      for (const char c : s["type"].get<std::string>()) {
        input_.typed = std::string(1, c);
        frame();
      }
      return settle();
    }
    if (s.contains("wait")) {
      for (int i = 0; i < s["wait"].get<int>(); ++i) frame();
      return;
    }
    if (s.contains("drop")) {
      app_.open_or_say(s["drop"].get<std::string>());
      return settle();
    }
    if (s.contains("screenshot")) return screen_.write_png(s["screenshot"].get<std::string>());
    if (s.contains("layout")) return log_.write(s["layout"].get<std::string>());
    if (s.contains("expect")) return expect(s);
    if (s.contains("absent")) {
      if (const auto name = s["absent"].get<std::string>(); log_.find(name))
        throw ScriptError(fmt::format("'{}' is drawn, and was to be absent", name));
      return;
    }
    throw ScriptError("the step has no known action; visualizer/README.md lists them");
  }

  App& app_;
  LayoutLog& log_;
  Window window_{64, 64, false};
  OffScreen screen_;
  ScriptInput input_;
};

}  // namespace

void run_script(App& app, PictureSize size, const std::filesystem::path& script, LayoutLog& log) {
  const auto refuse = [&](const std::string& why) {
    return OpenError(
        fmt::format("cannot play '{}': {}\n  try: visualizer/README.md shows a script", script.string(), why));
  };
  std::ifstream in(script);
  if (!in) throw refuse("it cannot be read");
  const json steps = json::parse(in, nullptr, false);
  if (!steps.is_array()) throw refuse("it is not a JSON array of steps");
  Player(app, size, log).play(steps);
}

}  // namespace ridge::viz
