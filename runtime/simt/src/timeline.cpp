#include "timeline.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "device_profile.hpp"

namespace ridge::simt {

namespace {

constexpr int kHostRow = 1000000;  // below the streams
constexpr double kMicro = 1e6;     // the format's unit

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out + '"';
}

std::string number(double value) {
  char text[48];
  std::snprintf(text, sizeof text, "%.4f", value);
  return text;
}

std::string dimensions(Index3 d) {
  return '"' + std::to_string(d.x) + "x" + std::to_string(d.y) + "x" + std::to_string(d.z) + '"';
}

const char* copy_name(CopyPath path) {
  switch (path) {
    case CopyPath::host_to_device:
      return "copy host to device";
    case CopyPath::device_to_host:
      return "copy device to host";
    case CopyPath::on_device:
      return "copy on the device";
    case CopyPath::on_host:
      return "copy on the host";
  }
  return "copy";
}

std::string complete(const std::string& name, const char* category, int row, double begin, double end,
                     const std::string& arguments) {
  return "{\"name\": " + quoted(name) + ", \"cat\": \"" + category +
         "\", \"ph\": \"X\", \"pid\": 0, \"tid\": " + std::to_string(row) + ", \"ts\": " + number(begin * kMicro) +
         ", \"dur\": " + number((end - begin) * kMicro) + ", \"args\": {" + arguments + "}}";
}

std::string named(const char* what, int row, const std::string& name) {
  return "{\"name\": \"" + std::string(what) + "\", \"ph\": \"M\", \"pid\": 0, \"tid\": " + std::to_string(row) +
         ", \"args\": {\"name\": " + quoted(name) + "}}";
}

}  // namespace

Timeline& Timeline::instance() {
  static Timeline* timeline = new Timeline;  // written at the very end, after other statics are gone
  return *timeline;
}

Timeline::Timeline() {
  if (const char* file = std::getenv("RIDGE_TRACE")) target_ = file;
  if (!on()) return;
  events_ = named("process_name", 0, device_profile().name) + ",\n" + named("thread_name", kHostRow, "host");
}

void Timeline::name_stream(int stream, std::string name) {
  if (on()) events_ += ",\n" + named("thread_name", stream, name);
}

void Timeline::add(const Operation& op) {
  if (!on()) return;
  const Work& w = op.work;
  std::string name, arguments;
  const char* category = "copy";
  const std::string bytes = std::to_string(w.extent.bytes());
  switch (w.kind) {
    case WorkKind::kernel:
      name = w.config.kernel;
      category = "kernel";
      arguments = "\"kind\": \"kernel\", \"grid\": " + dimensions(w.config.grid) +
                  ", \"block\": " + dimensions(w.config.block) +
                  ", \"dynamic_shared\": " + std::to_string(w.config.dynamic_shared) +
                  ", \"share_of_chip\": " + number(op.share);
      break;
    case WorkKind::copy:
      name = copy_name(w.path);
      arguments = "\"kind\": \"copy\", \"engine\": \"" +
                  std::string(w.path == CopyPath::host_to_device   ? "H2D"
                              : w.path == CopyPath::device_to_host ? "D2H"
                                                                   : "SM") +
                  "\", \"bytes\": " + bytes + ", \"pageable\": " + (w.pageable ? "true" : "false");
      break;
    case WorkKind::fill:
      name = "memset";
      category = "memset";
      arguments = "\"kind\": \"memset\", \"bytes\": " + bytes;
      break;
    case WorkKind::host:
      name = "host function";
      category = "host";
      arguments = "\"kind\": \"host\"";
      break;
    default:
      return;
  }
  if (op.in_graph) arguments += ", \"graph\": true";
  events_ += ",\n" + complete(name, category, op.stream, op.start, op.end, arguments);
  for (const Source& s : op.sources) {
    if (s.stream == op.stream) continue;
    // An arrow: "s" just before the end of the earlier box, "f" with bp "e" at the start of this one.
    const double from = s.end - std::min(1e-8, (s.end - s.start) / 2);
    const std::string common =
        "\"cat\": \"dependency\", \"name\": \"dependency\", \"pid\": 0, \"id\": " + std::to_string(++arrows_) +
        ", \"tid\": ";
    events_ += ",\n{\"ph\": \"s\", " + common + std::to_string(s.stream) + ", \"ts\": " + number(from * kMicro) + "}";
    events_ += ",\n{\"ph\": \"f\", \"bp\": \"e\", " + common + std::to_string(op.stream) +
               ", \"ts\": " + number(op.start * kMicro) + "}";
  }
}

void Timeline::add_host(const char* name, double begin, double end) {
  if (on()) events_ += ",\n" + complete(name, "host", kHostRow, begin, end, "");
}

void Timeline::write() {
  if (!on()) return;
  const std::string temporary = target_ + ".part" + std::to_string(getpid());
  FILE* f = std::fopen(temporary.c_str(), "w");
  bool good = f != nullptr;
  if (good) {
    good = std::fprintf(f, "{\"displayTimeUnit\": \"ns\", \"traceEvents\": [\n%s\n]}\n", events_.c_str()) > 0;
    good = std::fclose(f) == 0 && good;
  }
  if (!good || std::rename(temporary.c_str(), target_.c_str()) != 0) {
    std::fprintf(stderr, "ridge: cannot write RIDGE_TRACE to ");
    std::perror(target_.c_str());
    if (f != nullptr) unlink(temporary.c_str());
  }
  target_.clear();
  events_.clear();
}

}  // namespace ridge::simt
