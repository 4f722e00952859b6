// ridge cc: an nvcc for the emulator. Files may be .cu, .cpp, .cc, .o or .a.
#include <fmt/format.h>

#include <cstdio>

#include "commands.hpp"
#include "compile.hpp"
#include "error.hpp"

namespace ridge {

int command_cc(const std::vector<std::string>& args) {
  CompileOptions options;
  std::vector<std::string> link;
  std::vector<fs::path> inputs;
  fs::path output = "a.out";
  bool compile_only = false, named = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string& a = args[i];
    auto value = [&]() -> const std::string& {
      if (i + 1 >= args.size()) throw Error(Exit::usage, "ridge cc: " + a + " needs a value", "ridge cc a.cu -o prog");
      return args[++i];
    };
    if (a == "-o") {
      output = value();
      named = true;
    } else if (a == "-c") {
      compile_only = true;
    } else if (a == "--plain") {
      options.instrumented = false;
    } else if (a == "-I" || a == "-D") {
      options.extra.insert(options.extra.end(), {a, value()});
    } else if (a.rfind("-I", 0) == 0 || a.rfind("-D", 0) == 0 || a.rfind("-std", 0) == 0 || a.rfind("-g", 0) == 0 ||
               (a.rfind("-O", 0) == 0 && !options.instrumented)) {
      options.extra.push_back(a);
    } else if (a.rfind("-O", 0) == 0) {
      continue;  // counts are taken at one pinned level
    } else if (a.rfind("-L", 0) == 0 || a.rfind("-l", 0) == 0) {
      link.push_back(a);
    } else if (a.size() > 1 && a[0] == '-') {
      throw Error(Exit::usage, "ridge cc: unknown option " + a, "it knows -o -c -I -D -L -l -O -g -std and --plain");
    } else {
      inputs.emplace_back(a);
    }
  }
  if (inputs.empty()) throw Error(Exit::usage, "ridge cc: no input files", "ridge cc a.cu -o prog");
  if (compile_only && inputs.size() > 1 && named)
    throw Error(Exit::usage, "ridge cc: -c with -o takes one file", "compile the files one by one");

  TemporaryDir dir("cc");
  std::vector<fs::path> objects;
  int number = 0;
  for (const auto& input : inputs) {
    if (!fs::exists(input)) throw Error(Exit::usage, "ridge cc: there is no file " + input.string(), "check the path");
    if (input.extension() == ".o" || input.extension() == ".a") {
      objects.push_back(fs::absolute(input));
      continue;
    }
    fs::path object = dir.path() / fmt::format("{}.{}.o", input.filename().string(), number++);
    CompileFailure f = compile_file(fs::absolute(input), input.string(), object, options);
    if (!f.output.empty()) {
      fmt::print(stderr, "{}\n", f.output);
      return static_cast<int>(f.environment ? Exit::environment : Exit::build);
    }
    if (compile_only)
      fs::copy_file(object, named ? output : fs::path(input.stem().string() + ".o"),
                    fs::copy_options::overwrite_existing);
    objects.push_back(object);
  }
  if (compile_only) return 0;
  fs::path linked = dir.path() / "program";
  if (CompileFailure f = link_program(objects, linked, false, link); !f.output.empty()) {
    fmt::print(stderr, "{}\n", f.output);
    return static_cast<int>(f.environment ? Exit::environment : Exit::build);
  }
  std::error_code ec;
  fs::copy_file(linked, output, fs::copy_options::overwrite_existing, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", output.string(), ec.message()),
                "check the folder");
  return 0;
}

}  // namespace ridge
