#include "stream/timeline.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <utility>
#include <vector>

#include "device/device_profile.hpp"
#include "device/source_lines.hpp"
#include "formats/stream_name.hpp"

namespace ridge::simt {

namespace {

constexpr int kHostRow = 1000000;  // below the streams

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
    case CopyPath::between_devices:
      return "copy between devices";
  }
  return "copy";
}

}  // namespace

Timeline& Timeline::instance() {
  static Timeline* timeline = new Timeline;  // written at the very end, after other statics are gone
  return *timeline;
}

Timeline::Timeline() {
  if (const char* file = std::getenv("RIDGE_TRACE")) target_ = file;
  if (!on()) return;
  writer_.name_process(0, device_profile().name);
  writer_.name_track({0, kHostRow}, "host");
}

void Timeline::name_row(int stream, Row row) {
  if (on()) rows_[stream] = std::move(row);
}

void Timeline::write_names() {
  std::vector<std::uint32_t> places;
  for (const auto& [stream, row] : rows_)
    if (row.name.empty() && row.made_at != 0) places.push_back(row.made_at);
  const auto frames = source_frames(places);
  std::vector<MadeStream> made;
  for (const auto& [stream, row] : rows_)
    if (const auto at = frames.find(row.made_at); row.name.empty() && at != frames.end())
      made.push_back({row.made_at, row.nth, at->second});
  const std::vector<std::string> variables = stream_variables(made, [](const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream in = open_source(path);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  });
  auto variable = variables.begin();
  for (auto& [stream, row] : rows_) {
    if (row.name.empty() && frames.count(row.made_at) != 0) row.name = *variable++;
    writer_.name_track({0, stream}, row.name.empty() ? row.what : row.name + " (" + row.what + ")");
  }
}

void Timeline::add(const Operation& op) {
  if (!on()) return;
  const Work& w = op.work;
  std::string name;
  TraceArguments arguments;
  const char* category = "copy";
  const auto bytes = static_cast<double>(w.extent.bytes());
  switch (w.kind) {
    case WorkKind::kernel:
      name = w.config.kernel;
      category = "kernel";
      arguments.text("kind", "kernel")
          .shape("grid", w.config.grid.x, w.config.grid.y, w.config.grid.z)
          .shape("block", w.config.block.x, w.config.block.y, w.config.block.z)
          .number("dynamic_shared", static_cast<double>(w.config.dynamic_shared))
          .number("share_of_chip", op.share);
      break;
    case WorkKind::copy:
      name = copy_name(w.path);
      arguments.text("kind", "copy")
          .text("engine", w.path == CopyPath::host_to_device    ? "H2D"
                          : w.path == CopyPath::device_to_host  ? "D2H"
                          : w.path == CopyPath::between_devices ? "P2P"
                                                                : "SM")
          .number("bytes", bytes)
          .flag("pageable", w.pageable);
      break;
    case WorkKind::fill:
      name = "memset";
      category = "memset";
      arguments.text("kind", "memset").number("bytes", bytes);
      break;
    case WorkKind::exchange:
      name = op.exchange->name();
      category = op.exchange->kind() == kFile ? "file" : "communication";
      arguments.text("kind", category).number("bytes", static_cast<double>(op.exchange->bytes()));
      break;
    case WorkKind::host:
      name = "host function";
      category = "host";
      arguments.text("kind", "host");
      break;
    default:
      return;
  }
  if (op.in_graph) arguments.flag("graph", true);
  writer_.box({0, op.stream}, name, category, op.start, op.end, arguments);
  for (const Source& s : op.sources)
    if (s.stream != op.stream)
      writer_.arrow({0, s.stream}, s.end - std::min(1e-8, (s.end - s.start) / 2), {0, op.stream}, op.start,
                    "dependency");
}

void Timeline::add_host(const char* name, double begin, double end) {
  if (on()) writer_.box({0, kHostRow}, name, "host", begin, end);
}

void Timeline::write() {
  if (!on()) return;
  write_names();
  const std::string temporary = target_ + ".part" + std::to_string(getpid());
  FILE* f = std::fopen(temporary.c_str(), "w");
  bool good = f != nullptr;
  if (good) {
    good = std::fputs(writer_.text().c_str(), f) >= 0;
    good = std::fclose(f) == 0 && good;
  }
  if (!good || std::rename(temporary.c_str(), target_.c_str()) != 0) {
    std::fprintf(stderr, "ridge: cannot write RIDGE_TRACE to ");
    std::perror(target_.c_str());
    if (f != nullptr) unlink(temporary.c_str());
  }
  target_.clear();
  writer_ = TraceWriter();
}

}  // namespace ridge::simt
