#include "grader/build/symbol_tables.hpp"

#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "grader/sandbox/sandbox.hpp"

namespace ridge {

std::vector<std::string> symbol_tables(const std::vector<fs::path>& objects) {
  std::vector<std::string> argv = {"readelf", "-sW"};
  for (const fs::path& object : objects) argv.push_back(object.string());
  ProcessLimits limits;
  limits.output_bytes = 128 << 20;
  const Sandbox sandbox = builder_sandbox({}, objects);
  const ProcessResult r = run_process(argv, {}, limits, &sandbox);
  // It names each file where there are several. Of control characters in a symbol's name it writes none as they are.
  std::vector<std::string> tables;
  std::size_t from = 0;
  bool all = r.exit_code == 0 && !r.flooded;
  for (std::size_t i = 0; all && i < objects.size(); ++i) {
    const std::string next = i + 1 < objects.size() ? "\nFile: " + objects[i + 1].string() + "\n" : std::string();
    const std::size_t end = next.empty() ? r.output.size() : r.output.find(next, from);
    all = end != std::string::npos;
    if (!all) break;
    tables.push_back(r.output.substr(from, end - from));
    from = end + next.size();
  }
  if (!all)
    throw Error(Exit::environment, "readelf could not read the compiled objects:\n" + r.output.substr(0, 400),
                "install binutils");
  return tables;
}

}  // namespace ridge
