#include "grader/compile/symbol_tables.hpp"

#include <algorithm>

#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

namespace {

std::size_t next_file(const std::string& listing, const std::string& file, std::size_t from) {
  const std::string title = "\nFile: " + file;
  for (std::size_t at = from; (at = listing.find(title, at)) != std::string::npos; at += title.size())
    if (const char after = listing[std::min(at + title.size(), listing.size() - 1)]; after == '\n' || after == '(')
      return at;
  return std::string::npos;
}

}  // namespace

SymbolTables symbol_tables(const std::vector<fs::path>& objects) {
  std::vector<std::string> argv = {"readelf", "-sW"};
  for (const fs::path& object : objects) argv.push_back(object.string());
  ProcessLimits limits;
  limits.output_bytes = 128 << 20;
  const Sandbox sandbox = builder_sandbox({}, objects);
  const ProcessResult r = run_process(argv, {}, limits, &sandbox);
  // It names each file where there are several, and of an archive each member: FILE(MEMBER). Of control characters in
  // a symbol's name it writes none as they are.
  SymbolTables read;
  std::size_t from = 0;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const bool last = i + 1 == objects.size();
    const std::size_t end = last ? r.output.size() : next_file(r.output, objects[i + 1].string(), from);
    if (end == std::string::npos) return read;
    read.tables.push_back(r.output.substr(from, end - from));
    from = end;
  }
  read.whole = r.exit_code == 0 && !r.flooded;
  return read;
}

}  // namespace ridge
