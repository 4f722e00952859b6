#include "kit/source.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

namespace ridge::viz {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20, kLongestKey = 80;
constexpr std::size_t kHead =
    1 << 16;  // ncu's table must begin within these bytes; the profiled program's output may precede it

// Scans JSON text for the names of the outermost object. A trace may have gigabytes, and traceEvents comes early.
class TopLevel {
 public:
  // The kind, once a name decides it.
  std::optional<FileKind> feed(std::string_view text) {
    for (const char c : text) {
      if (in_string_) {
        if (auto kind = inside(c)) return kind;
        continue;
      }
      switch (c) {
        case '"':
          in_string_ = true;
          string_.clear();
          break;
        case ':':
          if (depth_ == 1) key_ = string_;
          if (depth_ == 1 && key_ == "traceEvents") return FileKind::trace;
          break;
        case ',':
          if (depth_ == 1) key_.clear();
          break;
        case '{':
        case '[':
          if (depth_ == 0 && c == '[') return FileKind::trace;
          ++depth_;
          break;
        case '}':
        case ']':
          --depth_;
          break;
        default:
          if (depth_ == 0 && static_cast<unsigned char>(c) > ' ') json_ = false;
      }
      if (!json_) break;
    }
    return {};
  }

  bool json() const { return json_ && (depth_ > 0 || !string_.empty() || !key_.empty()); }
  const std::string& schema() const { return schema_; }

 private:
  std::optional<FileKind> inside(char c) {
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_string_ = false;
      if (depth_ == 1 && key_ == "schema") return of_schema();
    } else if (depth_ == 1 && string_.size() < kLongestKey) {
      string_ += c;
    }
    return {};
  }

  std::optional<FileKind> of_schema() {
    schema_ = string_;
    if (schema_.starts_with("ridge.result/")) return FileKind::result;
    if (schema_.starts_with("ridge.warp")) return FileKind::warp;
    if (schema_.starts_with("ridge.calibration/")) return FileKind::calibration;
    if (schema_.starts_with("ridge.steps/")) return FileKind::steps;
    return {};
  }

  int depth_ = 0;
  bool in_string_ = false, escaped_ = false, json_ = true;
  std::string string_, key_, schema_;
};

OpenError refuse(const std::filesystem::path& path, std::string_view why, std::string_view advice) {
  return OpenError(fmt::format("cannot open '{}': {}\n  try: {}", path.string(), why, advice));
}

}  // namespace

const char* name_of(FileKind kind) {
  switch (kind) {
    case FileKind::result:
      return "result";
    case FileKind::trace:
      return "trace";
    case FileKind::warp:
      return "warp recording";
    case FileKind::calibration:
      return "calibration";
    case FileKind::steps:
      return "record of steps";
    case FileKind::ncu_csv:
      return "ncu's table";
    case FileKind::folder:
      return "folder";
  }
  return "";
}

Source identify(const std::filesystem::path& path) {
  static constexpr const char* kTypes =
      "a result (`ridge check NN --json F`), a Chrome trace (JSON), a warp recording, or what `ncu --csv --page raw` "
      "prints";
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return {FileKind::folder, path};
  if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
    throw refuse(path, "it is not a file", kTypes);
  if (path.string().ends_with(".json.gz")) return {FileKind::trace, path};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) throw refuse(path, std::strerror(errno ? errno : EIO), "ls work/.ridge/results/*/*.json");
  TopLevel top;
  std::vector<char> block(kBlock);
  std::string head;
  for (std::size_t read = 0; in;) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    const std::string_view text(block.data(), static_cast<std::size_t>(in.gcount()));
    if (read == 0) {
      head = text.substr(0, kHead);
      if (head.find("\"ID\",") != std::string::npos && head.find("\"Kernel Name\"") != std::string::npos)
        return {FileKind::ncu_csv, path};
    }
    read += text.size();
    if (const auto kind = top.feed(text)) return {*kind, path};
    if (!top.json()) break;
  }
  if (head.empty()) throw refuse(path, "it is empty", kTypes);
  if (!top.schema().empty()) throw refuse(path, fmt::format("its schema is '{}'", top.schema()), kTypes);
  if (head.find_first_not_of(" \t\r\n") != std::string::npos && head[head.find_first_not_of(" \t\r\n")] == '{')
    throw refuse(path, "it is JSON, but has neither 'schema' nor 'traceEvents'", kTypes);
  throw refuse(path, "it is neither JSON nor a table of ncu", kTypes);
}

}  // namespace ridge::viz
