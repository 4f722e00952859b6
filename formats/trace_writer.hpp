// Chrome Trace Event JSON, which Perfetto (ui.perfetto.dev) reads: tracks with boxes in time, and arrows between them.
// The emulator ends up in students' programs, so this needs nothing but the C++ library.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ridge {

// A JSON string of any bytes: what is no UTF-8 becomes '?'.
inline std::string json_string(std::string_view text) {
  // Bytes of the character that begins at `i`; 0: none does.
  auto character = [&](std::size_t i) -> std::size_t {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(k < text.size() ? text[k] : 0); };
    const unsigned char c = byte(i);
    if (c < 0x80) return 1;
    const std::size_t n = c >= 0xC2 && c < 0xE0 ? 2 : c >= 0xE0 && c < 0xF0 ? 3 : c >= 0xF0 && c < 0xF5 ? 4 : 0;
    for (std::size_t k = 1; k < n; ++k)
      if (byte(i + k) >> 6 != 2) return 0;
    const unsigned char next = byte(i + 1);  // too long a form, a surrogate, or beyond the last character
    if ((c == 0xE0 && next < 0xA0) || (c == 0xED && next >= 0xA0) || (c == 0xF0 && next < 0x90) ||
        (c == 0xF4 && next >= 0x90))
      return 0;
    return n;
  };
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t n = character(i);
    const auto c = static_cast<unsigned char>(text[i]);
    if (n == 0) {
      out += '?';
    } else if (c < 0x20 || c == 0x7F) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += text.substr(i, n);
    }
    i += std::max<std::size_t>(n, 1);
  }
  return out + '"';
}

// Members of a JSON object.
class TraceArguments {
 public:
  TraceArguments& text(std::string_view name, std::string_view value) { return add(name, json_string(value)); }
  TraceArguments& flag(std::string_view name, bool value) { return add(name, value ? "true" : "false"); }
  TraceArguments& number(std::string_view name, double value) {
    char digits[48];
    std::snprintf(digits, sizeof digits, "%.15g", value);
    return add(name, std::isfinite(value) ? digits : "null");
  }
  // A grid or a block: "128x1x1".
  TraceArguments& shape(std::string_view name, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    return text(name, std::to_string(x) + "x" + std::to_string(y) + "x" + std::to_string(z));
  }
  const std::string& members() const { return members_; }

 private:
  TraceArguments& add(std::string_view name, std::string_view value) {
    if (!members_.empty()) members_ += ", ";
    members_.append(json_string(name)).append(": ").append(value);
    return *this;
  }
  std::string members_;
};

// Times are in seconds. Boxes of one track must lie beside or inside one another.
class TraceWriter {
 public:
  struct Track {
    int process = 0, row = 0;  // rows stand in the order of their numbers
  };

  // Boxes and arrows beyond `most` are counted, and the trace says so.
  explicit TraceWriter(std::size_t most = SIZE_MAX) : most_(most) {}

  void name_process(int process, std::string_view name) {
    describe("process_name", {process, 0}, TraceArguments().text("name", name));
  }
  void name_track(Track track, std::string_view name) {
    describe("thread_name", track, TraceArguments().text("name", name));
    describe("thread_sort_index", track, TraceArguments().number("sort_index", track.row));
  }
  void box(Track track, std::string_view name, std::string_view category, double begin, double end,
           const TraceArguments& arguments = {}) {
    const double seconds = std::max(end - begin, 0.0);
    add(begin, seconds,
        "\"ph\": \"X\", " + common(track, name, category) + ", \"dur\": " + micro(seconds) + ", \"args\": {" +
            arguments.members() + "}");
  }
  // Draws an arrow from the box around `left` to the box that begins at `arrived`.
  void arrow(Track from, double left, Track to, double arrived, std::string_view name) {
    const std::string id = ", \"id\": " + std::to_string(++arrows_);
    add(left, 0, "\"ph\": \"s\", " + common(from, name, name) + id);
    add(arrived, 0, "\"ph\": \"f\", \"bp\": \"e\", " + common(to, name, name) + id);
  }
  void leave_out(std::size_t events) { left_out_ += events; }
  std::size_t left_out() const { return left_out_; }

  // The file: names first, then by rising time; of what begins together the longest first. `about` is for readers.
  std::string text(TraceArguments about = {}) const {
    std::vector<const Event*> order;
    for (const Event& e : events_) order.push_back(&e);
    std::stable_sort(order.begin(), order.end(), [](const Event* a, const Event* b) {
      return std::pair(a->begin, -a->seconds) < std::pair(b->begin, -b->seconds);
    });
    std::string names = names_;
    if (left_out_ > 0) {
      const auto note = TraceArguments().text("labels", std::to_string(left_out_) + " events are left out");
      names += ",\n{\"ph\": \"M\", \"name\": \"process_labels\", \"pid\": 0, \"tid\": 0, \"args\": {" + note.members() +
               "}}";
    }
    about.number("left_out", static_cast<double>(left_out_));
    std::string out = "{\"displayTimeUnit\": \"ns\", \"otherData\": {" + about.members() + "}, \"traceEvents\": [\n" +
                      (names.empty() ? names : names.substr(2));
    const char* between = names.empty() ? "" : ",\n";
    for (const Event* e : order) {
      out.append(between).append("{").append(e->json).append(", \"ts\": ").append(micro(e->begin)).append("}");
      between = ",\n";
    }
    return out + "\n]}\n";
  }

 private:
  struct Event {
    double begin, seconds;
    std::string json;
  };

  static std::string micro(double seconds) {
    char digits[48];
    std::snprintf(digits, sizeof digits, "%.4f", seconds * 1e6);
    return std::isfinite(seconds) && std::fabs(seconds) < 1e9 ? digits : "0";
  }
  static std::string place(Track t) {
    return "\"pid\": " + std::to_string(t.process) + ", \"tid\": " + std::to_string(t.row);
  }
  static std::string common(Track t, std::string_view name, std::string_view category) {
    return "\"name\": " + json_string(name) + ", \"cat\": " + json_string(category) + ", " + place(t);
  }
  void describe(const char* what, Track track, const TraceArguments& arguments) {
    names_ += std::string(",\n{\"ph\": \"M\", \"name\": \"") + what + "\", " + place(track) + ", \"args\": {" +
              arguments.members() + "}}";
  }
  void add(double begin, double seconds, std::string event) {
    if (events_.size() < most_)
      events_.push_back({std::isfinite(begin) ? begin : 0, std::isfinite(seconds) ? seconds : 0, std::move(event)});
    else
      ++left_out_;
  }

  std::string names_;
  std::vector<Event> events_;
  std::size_t most_, left_out_ = 0;
  std::uint64_t arrows_ = 0;
};

}  // namespace ridge
