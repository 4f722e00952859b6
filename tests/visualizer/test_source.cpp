#include <unistd.h>

#include <fstream>

#include "kit/source.hpp"
#include "support/catch.hpp"

using namespace ridge::viz;
namespace fs = std::filesystem;

namespace {

struct File {
  fs::path path;
  explicit File(const std::string& text, const std::string& name = "f.json")
      : path(fs::temp_directory_path() / ("ridge-viz-" + std::to_string(getpid()) + "-" + name)) {
    std::ofstream(path, std::ios::binary) << text;
  }
  ~File() { fs::remove(path); }
};

FileKind kind(const std::string& text) { return identify(File(text).path).kind; }

std::string error(const std::string& text) {
  const File file(text);
  try {
    identify(file.path);
  } catch (const OpenError& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("files are told apart by what is in them") {
  CHECK(kind(R"({"attempt": "x", "tasks": [{"schema": "no"}], "schema": "ridge.result/1"})") == FileKind::result);
  CHECK(kind(R"({"schema": "ridge.warp/1"})") == FileKind::warp);
  CHECK(kind(R"({"schema":"ridge.steps/1"})") == FileKind::steps);
  CHECK(kind(R"({"schema": "ridge.calibration/1"})") == FileKind::calibration);
  CHECK(kind("  [{\"ph\": \"X\"}]") == FileKind::trace);
  CHECK(kind(R"({"schemaVersion": 1, "deviceProperties": [{"traceEvents": 5}], "traceEvents": [)") == FileKind::trace);
  CHECK(kind("==PROF== x\n\"ID\",\"Process ID\",\"Kernel Name\"\n") == FileKind::ncu_csv);
  CHECK(kind("\"ID\",\"Kernel Name\",\"Block Size\"\n") == FileKind::ncu_csv);
  CHECK(identify(fs::temp_directory_path()).kind == FileKind::folder);
}

TEST_CASE("names inside of strings and deeper objects do not count") {
  CHECK(error(R"({"a": "\"traceEvents\": [", "b": {"traceEvents": 1, "schema": "ridge.result/1"}})")
            .find("neither 'schema'") != std::string::npos);
  CHECK(kind(R"({"note": "say \"schema\"", "schema": "ridge.result/1"})") == FileKind::result);
}

TEST_CASE("a kind that comes late is found") {
  std::string text = "{\"output\": \"" + std::string(3'000'000, 'x') + "\", \"schema\": \"ridge.result/1\"}";
  CHECK(kind(text) == FileKind::result);
}

TEST_CASE("what Ridge does not read is refused with a reason") {
  for (const auto& [text, part] : {std::pair<std::string, std::string>{"", "empty"},
                                   {"hello", "neither JSON nor"},
                                   {std::string("\x7f"
                                                "ELF\0\0",
                                                6),
                                    "neither JSON nor"},
                                   {"{}", "neither 'schema'"},
                                   {R"({"schema": "other/1"})", "its schema is 'other/1'"},
                                   {R"({"schema": 7})", "neither 'schema'"}}) {
    INFO(text);
    CHECK(error(text).find(part) != std::string::npos);
    CHECK(error(text).find("try:") != std::string::npos);
  }
  CHECK_THROWS_AS(identify("/no/such/file"), OpenError);
  CHECK_THROWS_AS(identify("/dev/null"), OpenError);
}
