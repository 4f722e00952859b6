#include "grader/compile/module.hpp"

#include <fmt/format.h>

#include <cctype>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "grader/base/error.hpp"
#include "grader/compile/dynamic_shared.hpp"
#include "grader/sandbox/process.hpp"
#include "simt/driver/module_tail.hpp"
#include "simt/src/device/tls.hpp"

namespace ridge {

namespace {

constexpr double kModuleSeconds = 120;

// Names that the objects want of others, but for thread-local ones.
std::set<std::string> undefined_names(const SymbolTables& symbols) {
  std::set<std::string> wanted;
  for (const std::string& table : symbols.tables) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string number, value, size, type, bind, visibility, section, name;
      words >> number >> value >> size >> type >> bind >> visibility >> section >> name;
      if (section == "UND" && type != "TLS" && !name.empty()) wanted.insert(name);
    }
  }
  return wanted;
}

CompileFailure run(const std::vector<std::string>& argv, const fs::path& dir) {
  ProcessLimits limits;
  limits.seconds = kModuleSeconds;
  const ProcessResult r = run_process(argv, dir, limits);
  if (r.exit_code == 0 && !r.timed_out) return {};
  return {r.timed_out || r.exit_code == 127, r.output.empty() ? argv[0] + " failed" : r.output};
}

CompileFailure assembled(const std::string& text, const fs::path& object) {
  const fs::path source = object.string() + ".s";
  std::ofstream(source) << text << "\t.section .note.GNU-stack,\"\",@progbits\n";
  return run({host_compiler().program.string(), "-c", source.string(), "-o", object.string()}, object.parent_path());
}

// Bytes of the image's thread-local segment; 0 where there is none.
std::size_t segment_bytes(const fs::path& image) {
  const ProcessResult r = run_process({"readelf", "-lW", image.string()}, {}, {});
  std::istringstream lines(r.output);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string type, offset, address, physical, in_file, in_memory;
    words >> type >> offset >> address >> physical >> in_file >> in_memory;
    if (type == "TLS") return std::stoull(in_memory, nullptr, 16);
  }
  return 0;
}

}  // namespace

bool uses_modules(const SymbolTables& objects) {
  for (const std::string& name : undefined_names(objects))
    if (name.starts_with("nvrtc") || name.starts_with("ridge_cuCtx") ||
        (name.size() > 2 && name.starts_with("cu") && std::isupper(static_cast<unsigned char>(name[2])) != 0))
      return true;
  return false;
}

bool gives_code(const SymbolTables& objects) {
  for (const std::string& name : undefined_names(objects))
    if (name == "cufftXtSetJITCallback" || name == "cusparseSpMMOp_createPlan" || name == "cusparseSpMVOp_createPlan")
      return true;
  return false;
}

CompileFailure link_module(const std::vector<fs::path>& objects, const fs::path& image) {
  const Compiler& compiler = host_compiler();
  const fs::path dir = image.parent_path();
  const SymbolTables symbols = symbol_tables(objects);
  // Places of the linker's own table of calls: a library that has the names, and is not looked at again.
  std::string text = "\t.text\n";
  for (const std::string& name : undefined_names(symbols))
    text += fmt::format("\t.globl \"{0}\"\n\t.type \"{0}\",@function\n\"{0}\":\n", name);
  const fs::path names = dir / "names.o", library = dir / "libnames.so", front = dir / "front.o", back = dir / "back.o";
  if (CompileFailure f = assembled(text + "\tret\n", names); !f.output.empty()) return f;
  if (CompileFailure f =
          run({compiler.program.string(), "-shared", "-nostdlib", names.string(), "-o", library.string()}, dir);
      !f.output.empty())
    return f;
  // The segment is as long as the end of the program's is: first the dynamic array, then the module's own, then a rest.
  text = "\t.section .tbss,\"awT\",@nobits\n\t.p2align 10\n";
  auto arrays = undefined_tls(symbols);
  arrays.insert("ridge_dynamic");
  for (const std::string& name : arrays)
    text += fmt::format("\t.globl \"{0}\"\n\t.hidden \"{0}\"\n\t.type \"{0}\",@tls_object\n\"{0}\":\n", name);
  text += fmt::format("\t.zero {}\n", simt::kDynamicSharedMax);
  if (CompileFailure f = assembled(text, front); !f.output.empty()) return f;
  constexpr std::size_t kWhole = simt::kDynamicSharedMax + simt::kModuleSharedBytes;
  std::size_t rest = 0;
  for (int turn = 0; turn < 2; ++turn) {
    text = fmt::format("\t.section .tbss,\"awT\",@nobits\n\t.zero {}\n", rest);
    if (CompileFailure f = assembled(text, back); !f.output.empty()) return f;
    std::vector<std::string> argv = {compiler.program.string(),
                                     "-pie",
                                     "-nostdlib",
                                     "-Wl,--no-dynamic-linker",
                                     "-Wl,-z,now,-z,norelro,-z,noexecstack,-e,0,--build-id=none",
                                     front.string()};
    for (const fs::path& o : objects) argv.push_back(o.string());
    argv.insert(argv.end(), {back.string(), library.string(), "-o", image.string()});
    if (CompileFailure f = run(argv, dir); !f.output.empty()) return f;
    const std::size_t bytes = segment_bytes(image);
    if (turn == 0 && bytes > kWhole)
      return {false,
              fmt::format("ridge: the module has {} bytes of static __shared__ arrays in all its kernels, and {} "
                          "are the most\n  make several modules of it\n",
                          bytes - simt::kDynamicSharedMax, simt::kModuleSharedBytes)};
    if (turn == 0) rest = kWhole - bytes;
  }
  return {};
}

}  // namespace ridge
