#include "app/nvcc/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/nvcc/options.hpp"
#include "app/nvcc/toolkit_folder.hpp"
#include "grader/base/error.hpp"

namespace ridge::nvcc {

namespace {

// Words between blanks. Quotes keep blanks together and are left out, also inside of a word; a backslash takes the next
// character as it is.
std::vector<std::string> words_in(const std::string& text) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  bool open = false;  // a word has begun
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (open) words.push_back(std::exchange(word, ""));
      open = false;
      continue;
    }
    open = true;
    if (c == '\\' && i + 1 < text.size())
      word += text[++i];
    else if (c == quote)
      quote = 0;
    else if (quote == 0 && (c == '"' || c == '\''))
      quote = c;
    else
      word += c;
  }
  if (open) words.push_back(word);
  return words;
}

const Option* option_of(std::string_view name) {
  for (const Option& o : kOptions)
    if (name == o.long_name || (!o.short_name.empty() && name == o.short_name)) return &o;
  return nullptr;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    if (comma > 0) parts.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return parts;
}

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& args) {
    out_.options.child_launches = false;
    take_files(args);
  }

  Command run() {
    for (; at_ < args_.size(); ++at_) argument(args_[at_]);
    // As nvcc's default is.
    if (!out_.standard) out_.options.extra.push_back("-std=c++17");
    return std::move(out_);
  }

 private:
  // Makefiles put long lists of arguments into files: @FILE, or --options-file FILE,FILE.
  void take_files(const std::vector<std::string>& args) {
    for (std::size_t i = 0; i < args.size(); ++i) {
      std::vector<std::string> files;
      const std::string name = args[i].substr(0, args[i].find('='));
      if (args[i].size() > 1 && args[i][0] == '@') {
        files = {args[i].substr(1)};
      } else if (const Option* o = option_of(name); o != nullptr && o->id == Id::options_file) {
        if (name == args[i] && i + 1 == args.size())
          throw Error(Exit::usage, "ridge cc: " + args[i] + " needs a file", "ridge cc --options-file FILE");
        files = parts_of(name == args[i] ? args[++i] : args[i].substr(name.size() + 1));
      } else {
        args_.push_back(args[i]);
      }
      for (const std::string& file : files) {
        std::ifstream in(file);
        if (!in) throw Error(Exit::usage, "ridge cc: cannot read the options in " + file, "check the path");
        take_files(words_in({std::istreambuf_iterator<char>(in), {}}));
      }
    }
  }

  std::string value(const std::string& option) {
    if (at_ + 1 >= args_.size())
      throw Error(Exit::usage, "ridge cc: " + option + " needs a value", "ridge cc a.cu -o prog");
    return args_[++at_];
  }

  static std::string absolute(const std::string& dir) { return fs::absolute(dir).lexically_normal().string(); }

  void include_dir(const std::string& dir) {
    // The emulator's headers are found anyway, and those of a real toolkit must not come before them.
    if (toolkit_headers(dir))
      out_.ignored.push_back("-I" + dir);
    else
      out_.options.include_dirs.push_back(absolute(dir));
  }

  void library(const std::string& name) {
    if (name == "cublas" || name == "cublas_static") out_.blas = true;
    if (name == "nccl" || name == "nccl_static")
      out_.link.push_back("-lnccl");
    else if (name == "cufft" || name == "cufft_static" || name == "cufft_static_nocallback")
      out_.link.push_back("-lcufft");
    else if (name == "cusolver" || name == "cusolver_static")
      out_.link.push_back("-lcusolver");
    else if (name == "cuda" || name == "nvrtc" || name == "nvrtc_static" || name == "nvrtc-builtins_static")
      out_.link.push_back(name == "cuda" ? "-lcuda" : "-lnvrtc");
    else if (!own_library(name))
      out_.link.push_back("-l" + name);
  }

  void host_option(const std::string& option) {
    if (option == "-fopenmp" || option == "-pthread") out_.link.push_back(option);
    if (option.starts_with("-O") || option.starts_with("-march"))
      out_.ignored.push_back("-Xcompiler " + option);
    else
      out_.options.extra.push_back(option);
  }

  // The emulator's headers are C++17.
  void standard(const std::string& name) {
    const bool older = name.size() > 2 && (name.ends_with("03") || name.ends_with("11") || name.ends_with("14"));
    if (older) out_.ignored.push_back("-std=" + name + " (C++17 instead)");
    out_.options.extra.push_back("-std=" + (older ? name.substr(0, name.size() - 2) + "17" : name));
    out_.standard = true;
  }

  void argument(const std::string& a) {
    if (a.size() < 2 || a[0] != '-') return input(a);
    const std::size_t equals = a.find('=');
    const std::string name = a.substr(0, equals);
    const Option* o = option_of(name);
    if (o == nullptr) return joined(a);
    if (!o->value) {
      if (equals != std::string::npos && o->id != Id::ignored) return joined(a);
      return apply(*o, a, "");
    }
    apply(*o, a, equals == std::string::npos ? value(a) : a.substr(equals + 1));
  }

  void input(const std::string& a) {
    if (const std::string name = toolkit_library(a); !name.empty()) return library(name);
    out_.inputs.emplace_back(a);
  }

  // Options whose value follows without a space, and those of the C++ compiler.
  void joined(const std::string& a) {
    const std::string rest = a.substr(2);
    auto& extra = out_.options.extra;
    if (a[1] == 'I') return include_dir(rest);
    if (a[1] == 'L') return library_dir(rest);
    if (a[1] == 'l') return library(rest);
    if (a[1] == 'O') return optimize(rest);
    if (a == "-m32") throw Error(Exit::usage, "ridge cc: -m32: programs have 64 bits", "leave it out");
    constexpr auto kForLinker = std::to_array<std::string_view>(
        {"-rdynamic", "-s", "-pie", "-no-pie", "-static-libgcc", "-static-libstdc++", "-z"});
    if (std::find(kForLinker.begin(), kForLinker.end(), a) != kForLinker.end() || a.starts_with("-Wl,")) {
      out_.link.push_back(a);
      if (a == "-z") out_.link.push_back(value(a));
      return;
    }
    if (a == "-fopenmp" || a == "-pthread") out_.link.push_back(a);
    constexpr std::string_view kHost = "gDUWf";
    if (!forward_ && a != "-pedantic" && a != "-pthread" && kHost.find(a[1]) == std::string_view::npos)
      throw Error(Exit::usage, "ridge cc: unknown option " + a, "ridge cc --help lists what it knows");
    extra.push_back(a);
  }

  void optimize(const std::string& level) {
    if (!out_.options.instrumented) out_.options.extra.push_back("-O" + level);  // counts are taken at one pinned level
  }

  void library_dir(const std::string& dir) {
    std::error_code ec;
    if (fs::equivalent(dir, toolkit_folder() / "lib64", ec)) return;
    out_.library_dirs.emplace_back(dir);
    out_.link.push_back("-L" + dir);
  }

  void apply(const Option& o, const std::string& a, const std::string& v) {
    auto& extra = out_.options.extra;
    Dependencies& needed = out_.dependencies;
    switch (o.id) {
      case Id::ignored:
        out_.ignored.push_back(!o.value || a.find('=') != std::string::npos ? a : a + " " + v);
        break;
      case Id::refused:
        throw Error(Exit::usage, "ridge cc: " + a + " asks for a GPU's code, and the emulator has none",
                    "leave it out; -c makes an object");
      case Id::archiver:
        break;
      case Id::clean:
        out_.goal = Goal::nothing;
        break;
      case Id::compile:
        out_.goal = Goal::objects;
        break;
      case Id::device_objects:
        out_.goal = Goal::objects, out_.options.child_launches = true;
        break;
      case Id::relocatable:
        out_.options.child_launches = v == "true";
        break;
      case Id::compiler_options:
        for (const std::string& part : parts_of(v)) host_option(part);
        break;
      case Id::debug:
        extra.push_back("-g");
        break;
      case Id::default_device:
        out_.options.device_by_default = true;
        break;
      case Id::define:
        extra.push_back("-D" + v);
        break;
      case Id::undefine:
        extra.push_back("-U" + v);
        break;
      case Id::only_dependencies:
        out_.goal = Goal::dependencies, needed.system = o.system;
        break;
      case Id::depfile:
        needed.wanted = true, needed.system = o.system;
        break;
      case Id::depfile_name:
        needed.file = v;
        break;
      case Id::depfile_target:
        needed.target = v;
        break;
      case Id::depfile_phony:
        needed.phony = true;
        break;
      case Id::device_link:
        out_.goal = Goal::device_link;
        break;
      case Id::dry_run:
        out_.dry_run = true;
        break;
      case Id::forward_unknown:
        forward_ = true;
        break;
      case Id::help:
        out_.help = true;
        break;
      case Id::include_dir:
      case Id::system_include_dir:
        include_dir(v);
        break;
      case Id::language:
        if (v != "cu" && v != "c++" && v != "c")
          throw Error(Exit::usage, "ridge cc: -x " + v + " is not known", "it takes -x cu, c++ and c");
        out_.options.language = v == "cu" ? Language::cuda : v == "c" ? Language::c : Language::cpp;
        break;
      case Id::intermediate:
        out_.goal = Goal::intermediate;
        break;
      case Id::library:
        library(v);
        break;
      case Id::library_dir:
        library_dir(v);
        break;
      case Id::link:
        out_.goal = Goal::program;
        break;
      case Id::linker_options:
        out_.link.push_back("-Wl," + v);
        break;
      case Id::list_arch:
        out_.list_arch = true;
        break;
      case Id::list_code:
        out_.list_code = true;
        break;
      case Id::machine:
        if (v != "64") throw Error(Exit::usage, "ridge cc: -m " + v + ": programs have 64 bits", "leave it out");
        break;
      case Id::make_library:
        out_.goal = Goal::library;
        break;
      case Id::module:
        out_.goal = Goal::module, out_.module_kind = a.substr(a.find_first_not_of('-'));
        extra.push_back("-DRIDGE_MODULE");  // the program's thread-local variables are out of its reach
        break;
      case Id::no_exceptions:
        extra.push_back("-fno-exceptions");
        break;
      case Id::no_warnings:
        extra.push_back("-w");
        break;
      case Id::optimize:
        optimize(v);
        break;
      case Id::options_file:
        break;  // taken already
      case Id::output:
        out_.output = v;
        break;
      case Id::output_dir:
        out_.output_dir = v;
        break;
      case Id::plain:
        out_.options.instrumented = false;
        break;
      case Id::pre_include:
        for (const std::string& file : parts_of(v)) extra.insert(extra.end(), {"-include", file});
        break;
      case Id::preprocess:
        out_.goal = Goal::preprocessed;
        break;
      case Id::run:
        out_.run = true;
        break;
      case Id::run_arguments:
        for (const std::string& part : parts_of(v)) out_.run_arguments.push_back(part);
        break;
      case Id::shared:
        out_.goal = Goal::shared_library;
        break;
      case Id::standard:
        standard(v);
        break;
      case Id::template_depth:
        extra.push_back("-ftemplate-depth=" + v);
        break;
      case Id::verbose:
        out_.verbose = true;
        break;
      case Id::version:
        out_.version = true;
        break;
    }
  }

  std::vector<std::string> args_;
  std::size_t at_ = 0;
  bool forward_ = false;  // unknown options go to the C++ compiler
  Command out_;
};

}  // namespace

bool own_library(std::string name) {
  constexpr auto kOwn =
      std::to_array<std::string_view>({"cublas", "cublasLt", "cuda", "cudadevrt", "cudart", "culibos", "curand",
                                       "cusolverMg", "cusparse", "nvToolsExt", "nvidia-ml", "nvtx3interop"});
  if (name.ends_with("_static")) name.resize(name.size() - 7);
  return std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end();
}

Command command_of(const std::vector<std::string>& args) { return Parser(args).run(); }

}  // namespace ridge::nvcc
