#include "app/nvcc/driver.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>

#include "app/nvcc/command_line.hpp"
#include "app/nvcc/mixed.hpp"
#include "app/nvcc/shared_library.hpp"
#include "app/nvcc/toolkit_folder.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/compile/course_object.hpp"
#include "grader/compile/module.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"
#include "simt/driver/image_text.hpp"

extern char** environ;

namespace ridge::nvcc {

namespace {

int failed(const CompileFailure& f) {
  tell("{}{}", f.output, f.output.back() == '\n' ? "" : "\n");
  return static_cast<int>(f.environment ? Exit::environment : Exit::build);
}

void deliver(const fs::path& from, const fs::path& to) {
  std::error_code ec;
  if (fs::is_regular_file(to, ec)) fs::remove(to, ec);  // a running program cannot be overwritten, only replaced
  fs::copy_file(from, to, fs::copy_options::overwrite_existing, ec);
  if (ec)
    throw Error(Exit::environment, fmt::format("cannot write {}: {}", to.string(), ec.message()), "check the folder");
}

bool is_object(const fs::path& input) {
  const std::string kind = input.extension().string(), name = input.filename().string();
  return kind == ".o" || kind == ".obj" || kind == ".a" || kind == ".so" || name.find(".so.") != std::string::npos;
}

int run_made(const fs::path& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {fs::absolute(program).string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, argv[0], nullptr, nullptr, argv.data(), environ) != 0 || waitpid(child, &status, 0) < 0)
    throw Error(Exit::environment, "ridge cc: cannot start " + words[0], "check the folder");
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

class Driver {
 public:
  explicit Driver(Command command) : c_(std::move(command)), dir_("cc") { c_.options.reuse = true; }

  int run() {
    for (const fs::path& input : c_.inputs) {
      if (!fs::exists(input))
        throw Error(Exit::usage, "ridge cc: there is no file " + input.string(), "check the path");
      if (is_object(input))
        add_object(fs::absolute(input), input.string());
      else if (const int code = compile(input); code != 0)
        return code;
    }
    switch (c_.goal) {
      case Goal::library:
        return deliver_library(false);
      case Goal::shared_library:
        return deliver_library(true);
      case Goal::device_link:
        return device_link();
      case Goal::module:
        return make_module();
      case Goal::program:
        return link();
      default:
        return 0;
    }
  }

 private:
  fs::path made_of(const fs::path& input, const char* extension) const {
    return c_.output_dir / (input.stem().string() + extension);
  }

  void add_object(const fs::path& object, const std::string& shown) {
    objects_.push_back(object);
    names_.push_back(shown);
  }

  int compile(const fs::path& input) {
    fs::path object = dir_.path() / fmt::format("{}.{}.o", input.filename().string(), number_++);
    const bool lists = c_.goal == Goal::dependencies, between = c_.goal == Goal::intermediate;
    const bool text = between || c_.goal == Goal::preprocessed;
    const bool keeps = c_.goal == Goal::objects;
    const fs::path output = !c_.output.empty() && !lists ? c_.output : made_of(input, ".o");
    CompileOptions options = c_.options;
    options.preprocess = text;
    options.linked_by_others = keeps;
    options.dependencies = c_.dependencies;
    Dependencies& d = options.dependencies;
    d.wanted = d.wanted || lists;
    if (d.target.empty()) d.target = keeps ? output.string() : made_of(input, ".o").string();
    const fs::path list = !d.file.empty() && !lists ? fs::path(d.file)
                          : keeps                   ? fs::path(output).replace_extension(".d")
                                                    : made_of(input, ".d");
    d.file = (dir_.path() / "files.d").string();
    CompileFailure f = compile_file(fs::absolute(input), input.string(), object, options);
    if (!f.output.empty()) return failed(f);
    if (std::find(options.extra.begin(), options.extra.end(), "-w") == options.extra.end()) tell("{}", f.warnings);
    if (lists || text) {
      const fs::path from = lists ? fs::path(d.file) : object;
      if (between || !c_.output.empty())
        deliver(from, !c_.output.empty() ? c_.output : c_.output_dir / (input.filename().string() + ".cpp.ii"));
      else
        fmt::print("{}", file_text(from));
      return 0;
    }
    if (d.wanted) deliver(d.file, list);
    if (keeps) deliver(object, output);
    add_object(object, input.string());
    return 0;
  }

  // There is no device code to link: an object with nothing in it takes its place.
  int device_link() {
    const fs::path source = dir_.path() / "device_link.c", object = dir_.path() / "device_link.o";
    std::ofstream(source) << "\n";
    if (CompileFailure f = compile_file(source, "device_link.c", object, c_.options); !f.output.empty())
      return failed(f);
    deliver(object, c_.output.empty() ? fs::path("a_dlink.o") : c_.output);
    return 0;
  }

  // Of a GPU's code only the name: a program of the emulator loads it.
  int make_module() {
    const fs::path image = dir_.path() / "module.image", text = dir_.path() / "module.ptx";
    if (CompileFailure f = link_module(objects_, image); !f.output.empty()) return failed(f);
    const bool ptx = c_.module_kind == "ptx";
    if (ptx) std::ofstream(text, std::ios::binary) << simt::driver::image_text(file_text(image));
    const fs::path output = !c_.output.empty() ? c_.output : made_of(c_.inputs.front(), ("." + c_.module_kind).c_str());
    if (ptx)
      tell(
          "ridge cc: {} is a module for the emulator, and no PTX: cuModuleLoad takes it in programs of ridge cc\n"
          "  for PTX call NVIDIA's nvcc\n",
          output.filename().string());
    deliver(ptx ? text : image, output);
    return 0;
  }

  int deliver_library(bool shared) {
    const fs::path made = dir_.path() / "library.a";
    make_archive(objects_, made, shared ? libraries_of(c_) : std::vector<std::string>());
    deliver(made, !c_.output.empty() ? c_.output : fs::path(shared ? "a.out" : "a.a"));
    return 0;
  }

  int link() {
    if (const std::string why = mixed_objects(symbol_tables(objects_), names_); !why.empty())
      return failed({false, why});
    if (c_.blas) {
      CompileOptions options;
      options.instrumented = c_.options.instrumented && !plain_objects();
      add_object(dir_.path() / "cublas.o", "cublas");
      options.reuse = true;
      if (CompileFailure f = course_object(cublas_kernels(), objects_.back(), options); !f.output.empty())
        return failed(f);
    }
    std::vector<std::string> extra = c_.link;
    if (c_.blas) extra.push_back("-lcublas");
    for (const std::string& l : behind(objects_, c_)) extra.push_back(l);
    const fs::path linked = dir_.path() / "program", output = c_.output.empty() ? fs::path("a.out") : c_.output;
    if (CompileFailure f = link_program(objects_, linked, false, extra); !f.output.empty()) return failed(f);
    deliver(linked, output);
    return c_.run ? run_made(output, c_.run_arguments) : 0;
  }

  // Objects are as they were built, whatever this command says.
  bool plain_objects() const {
    const SymbolTables symbols = symbol_tables(objects_);
    return std::any_of(symbols.tables.begin(), symbols.tables.end(), has_plain_kernels);
  }

  Command c_;
  TemporaryDir dir_;
  std::vector<fs::path> objects_;
  std::vector<std::string> names_;  // of the objects, in messages
  int number_ = 0;
};

}  // namespace

int drive(const std::vector<std::string>& args, const char* help) {
  Command c = command_of(args);
  if (c.help || c.version || c.list_arch || c.list_code) {
    if (c.help) fmt::print("{}", help);
    // The lines with "release" and "Build" are what makefiles and CMake look for.
    if (c.version)
      fmt::print(
          "nvcc: ridge cc {}, CUDA C++ for the SIMT emulator\nCuda compilation tools, release 13.0, V13.0.88\n"
          "Build ridge_{}\n",
          kVersion, kVersion);
    if (c.list_arch) fmt::print("compute_90\n");
    if (c.list_code) fmt::print("sm_90\n");
    return 0;
  }
  if (c.verbose || c.dry_run) tell("{}", settings_text());
  if (c.verbose && !c.ignored.empty()) tell("ridge cc: ignores {}\n", fmt::join(c.ignored, ", "));
  if (c.dry_run || c.goal == Goal::nothing) return 0;
  if (c.inputs.empty()) throw Error(Exit::usage, "ridge cc: no input files", "ridge cc a.cu -o prog");
  if (c.goal == Goal::objects && c.inputs.size() > 1 && !c.output.empty())
    throw Error(Exit::usage, "ridge cc: -c with -o takes one file", "compile the files one by one");
  return Driver(std::move(c)).run();
}

}  // namespace ridge::nvcc
