// ridge cc is an nvcc for the emulator. It takes nvcc's options, so that a project's build commands work unchanged.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "app/cli/command.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/compile/compile.hpp"
#include "grader/compile/course_object.hpp"
#include "grader/sandbox/process.hpp"
#include "ridge_version.hpp"

namespace ridge {

namespace {

constexpr const char* kHelp = R"(ridge cc: compiles CUDA C++ for the SIMT emulator, as nvcc does for a GPU

  ridge cc axpy.cu -o axpy && ./axpy             build and run
  RIDGE_COUNTERS=1 ./axpy                        the same, with the counters of every kernel
  ridge cc ring.cu -o ring -lnccl && RIDGE_DEVICES=4 ./ring   on four devices
  ridge cc -Iinclude main.cu kernels.cu -o prog  several files
  ridge cc -c kernels.cu -o kernels.o            compile only
  ridge cc --plain bench.cu -o bench             no counters and no checks, faster

Files: .cu, .cpp, .cc, .o, .a. CUDA headers of your own (.cuh, .h) may lie anywhere on the include path.

  -o FILE               the program (a.out), or with -c the object
  -c, -dc               compile only
  @FILE                 more arguments, from a file
  -lib                  a static library of the objects, for later calls
  -x cu                 all files are CUDA C++
  -I -D -U -std -g -W   as in nvcc; so is -f, for the C++ compiler
  -Xcompiler OPTIONS    for the C++ compiler, separated by commas
  -L -l                 for the linker; -lnccl is the emulator's own; so is -lcublas, as kernels
  --plain               no instrumentation, -O2
  -O...                 with --plain only: counts are taken at one pinned level

Options that concern GPU code (-arch, -gencode, -lineinfo, -rdc, --use_fast_math, ...) are ignored, with a note.
A link with the name nvcc to `ridge` is this command. RIDGE_CXX names the C++ compiler.
Exit codes: 2 usage, 3 the machine failed, 4 the program did not build.
)";

bool starts_with(std::string_view s, std::string_view head) { return s.substr(0, head.size()) == head; }

template <std::size_t N>
bool one_of(std::string_view s, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), s) != list.end();
}

// nvcc's options without a meaning for the emulator. A value is the next argument, or follows "=".
constexpr std::array<std::string_view, 40> kIgnored = {"-lineinfo",
                                                       "-allow-unsupported-compiler",
                                                       "--allow-unsupported-compiler",
                                                       "-forward-unknown-to-host-compiler",
                                                       "--forward-unknown-to-host-compiler",
                                                       "-extra-device-vectorization",
                                                       "--extra-device-vectorization",
                                                       "--source-in-ptx",
                                                       "-err-no",
                                                       "--display-error-number",
                                                       "-time-report",
                                                       "--no-host-device-initializer-list",
                                                       "-Wno-deprecated-gpu-targets",
                                                       "--Wno-deprecated-gpu-targets",
                                                       "-save-temps",
                                                       "--generate-line-info",
                                                       "-G",
                                                       "--device-debug",
                                                       "--expt-relaxed-constexpr",
                                                       "-expt-relaxed-constexpr",
                                                       "--extended-lambda",
                                                       "-extended-lambda",
                                                       "--expt-extended-lambda",
                                                       "-expt-extended-lambda",
                                                       "--use_fast_math",
                                                       "-use_fast_math",
                                                       "-m64",
                                                       "-keep",
                                                       "--keep",
                                                       "-v",
                                                       "--verbose",
                                                       "-dlto",
                                                       "-restrict",
                                                       "--restrict",
                                                       "-src-in-ptx",
                                                       "-res-usage",
                                                       "--resource-usage",
                                                       "-pg",
                                                       "-pipe",
                                                       "--disable-warnings"};
constexpr std::array<std::string_view, 31> kIgnoredWithValue = {"-arch",
                                                                "--default-stream",
                                                                "-default-stream",
                                                                "-cudadevrt",
                                                                "--cudadevrt",
                                                                "-Xarchive",
                                                                "-split-compile",
                                                                "--split-compile",
                                                                "-dopt",
                                                                "--dopt",
                                                                "--gpu-architecture",
                                                                "-code",
                                                                "--gpu-code",
                                                                "-gencode",
                                                                "--generate-code",
                                                                "-rdc",
                                                                "--relocatable-device-code",
                                                                "-maxrregcount",
                                                                "--maxrregcount",
                                                                "-Xptxas",
                                                                "--ptxas-options",
                                                                "-Xnvlink",
                                                                "-Xfatbin",
                                                                "-Xcudafe",
                                                                "-diag-suppress",
                                                                "--diag-suppress",
                                                                "-ccbin",
                                                                "--compiler-bindir",
                                                                "-cudart",
                                                                "-ftz",
                                                                "-t"};
constexpr std::array<std::string_view, 8> kIgnoredValues = {"--ftz",       "-prec-div", "--prec-div", "-prec-sqrt",
                                                            "--prec-sqrt", "-fmad",     "--fmad",     "--threads"};
constexpr std::array<std::string_view, 10> kGpuOutputs = {"-ptx",     "--ptx",  "-cubin",        "--cubin", "-fatbin",
                                                          "--fatbin", "-dlink", "--device-link", "-cuda",   "--cuda"};
// Libraries that are part of the emulator.
constexpr std::array<std::string_view, 8> kOwnLibraries = {
    "-lcusparse", "-lcublas", "-lcublasLt", "-lcudart", "-lcurand", "-lcudart_static", "-lcudadevrt", "-lnvToolsExt"};

struct Command {
  CompileOptions options;
  std::vector<std::string> link, ignored;
  std::vector<fs::path> inputs;
  fs::path output = "a.out";
  bool compile_only = false, library = false, named = false, help = false, version = false, blas = false;
};

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

class Parser {
 public:
  explicit Parser(const std::vector<std::string>& args) : args_(with_response_files(args)) {}

  Command run() {
    for (; at_ < args_.size(); ++at_) argument(args_[at_]);
    return std::move(out_);
  }

 private:
  // Makefiles put long lists of arguments into files: @FILE, or --options-file FILE.
  static std::vector<std::string> with_response_files(const std::vector<std::string>& args) {
    std::vector<std::string> all;
    for (std::size_t i = 0; i < args.size(); ++i) {
      const bool named = args[i] == "--options-file" || args[i] == "-optf";
      if (!named && !(args[i].size() > 1 && args[i][0] == '@')) {
        all.push_back(args[i]);
        continue;
      }
      if (named && i + 1 == args.size())
        throw Error(Exit::usage, "ridge cc: " + args[i] + " needs a file", "ridge cc --options-file FILE");
      const std::string file = named ? args[++i] : args[i].substr(1);
      std::ifstream in(file);
      if (!in) throw Error(Exit::usage, "ridge cc: cannot read the options in " + file, "check the path");
      for (const std::string& word : words_in({std::istreambuf_iterator<char>(in), {}})) all.push_back(word);
    }
    return all;
  }

  const std::string& value(const std::string& option) {
    if (at_ + 1 >= args_.size())
      throw Error(Exit::usage, "ridge cc: " + option + " needs a value", "ridge cc a.cu -o prog");
    return args_[++at_];
  }

  // Takes -Ipath, -I path, and -isystem, which nvcc has too.
  bool include_dir(const std::string& a) {
    std::string dir;
    if (a == "-I" || a == "--include-path" || a == "-isystem")
      dir = value(a);
    else if (starts_with(a, "-I"))
      dir = a.substr(2);
    else
      return false;
    out_.options.include_dirs.push_back(fs::absolute(dir).lexically_normal().string());
    return true;
  }

  void host_options(std::string_view list) {
    while (!list.empty()) {
      std::size_t comma = std::min(list.find(','), list.size());
      std::string option(list.substr(0, comma));
      if (option == "-fopenmp" || option == "-pthread") out_.link.push_back(option);
      if (starts_with(option, "-O") || starts_with(option, "-march"))
        out_.ignored.push_back("-Xcompiler " + option);
      else if (!option.empty())
        out_.options.extra.push_back(option);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }

  bool ignored(const std::string& a) {
    const std::string name = a.substr(0, a.find('='));
    if (one_of(a, kIgnored) || (name != a && (one_of(name, kIgnoredWithValue) || one_of(name, kIgnoredValues)))) {
      out_.ignored.push_back(a);
      return true;
    }
    if (!one_of(name, kIgnoredWithValue)) return false;
    std::string option = a;
    option += " " + value(a);
    out_.ignored.push_back(option);
    return true;
  }

  void argument(const std::string& a) {
    auto& extra = out_.options.extra;
    if (a == "--help" || a == "-h") {
      out_.help = true;
    } else if (a == "--version" || a == "-V") {
      out_.version = true;
    } else if (one_of(a, kGpuOutputs)) {
      throw Error(Exit::usage, "ridge cc: " + a + " asks for a GPU's code, and the emulator has none",
                  "leave it out; -c makes an object");
    } else if (a == "-o" || a == "--output-file") {
      out_.output = value(a);
      out_.named = true;
    } else if (a == "-c" || a == "-dc" || a == "--compile" || a == "--device-c") {
      out_.compile_only = true;
    } else if (a == "-lib" || a == "--lib") {
      out_.library = true;
    } else if (a == "--plain") {
      out_.options.instrumented = false;
    } else if (a == "-x" || a == "--x") {
      const std::string& language = value(a);
      if (language != "cu" && language != "c++")
        throw Error(Exit::usage, "ridge cc: -x " + language + " is not known", "it takes -x cu");
      out_.options.cuda = language == "cu";
    } else if (a == "-Xcompiler" || a == "--compiler-options") {
      host_options(value(a));
    } else if (starts_with(a, "-Xcompiler=") || starts_with(a, "--compiler-options=")) {
      host_options(std::string_view(a).substr(a.find('=') + 1));
    } else if (a == "-Xlinker" || a == "--linker-options") {
      out_.link.push_back("-Wl," + value(a));
    } else if (ignored(a) || include_dir(a)) {
      return;
    } else if (a == "-D" || a == "-U" || a == "-include") {
      extra.push_back(a);
      extra.push_back(value(a));
    } else if (a == "--std" || a == "-std") {
      standard(value(a));
    } else if (starts_with(a, "--std=") || starts_with(a, "-std=")) {
      standard(a.substr(a.find('=') + 1));
    } else if (starts_with(a, "-O")) {
      if (!out_.options.instrumented) extra.push_back(a);  // counts are taken at one pinned level
    } else if (a == "-L" || a == "-l") {
      library(a + value(a));
    } else if (starts_with(a, "-L") || starts_with(a, "-l")) {
      library(a);
    } else if (a == "-g" || starts_with(a, "-g") || starts_with(a, "-D") || starts_with(a, "-U") ||
               starts_with(a, "-W") || starts_with(a, "-f") || a == "-w" || a == "-pedantic" || a == "-pthread") {
      extra.push_back(a);
      if (a == "-fopenmp" || a == "-pthread" || starts_with(a, "-Wl,")) {
        out_.link.push_back(a);
        if (starts_with(a, "-Wl,")) extra.pop_back();
      }
    } else if (a.size() > 1 && a[0] == '-') {
      throw Error(Exit::usage, "ridge cc: unknown option " + a, "ridge cc --help lists what it knows");
    } else {
      out_.inputs.emplace_back(a);
    }
  }

  // The emulator's headers are C++17, as nvcc's default is.
  void standard(const std::string& name) {
    const bool older = name.size() > 2 && (name.ends_with("03") || name.ends_with("11") || name.ends_with("14"));
    if (older) out_.ignored.push_back("-std=" + name + " (C++17 instead)");
    out_.options.extra.push_back("-std=" + (older ? name.substr(0, name.size() - 2) + "17" : name));
  }

  void library(const std::string& a) {
    if (a == "-lcublas") out_.blas = true;
    if (!one_of(a, kOwnLibraries)) out_.link.push_back(a);
  }

  const std::vector<std::string> args_;
  std::size_t at_ = 0;
  Command out_;
};

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

// Every object needs a name of its own: an archive keeps only one of each name.
int make_library(const std::vector<fs::path>& objects, const fs::path& made, const fs::path& output) {
  std::vector<std::string> argv = {"ar", "rcs", made.string()};
  for (const auto& o : objects) argv.push_back(o.string());
  const ProcessResult r = run_process(argv, {}, {});
  if (!r.started || r.exit_code != 0)
    throw Error(Exit::environment, "ridge cc: ar failed: " + r.output, "binutils must be installed");
  deliver(made, output);
  return 0;
}

int compile(const std::vector<std::string>& args) {
  Command c = Parser(args).run();
  if (c.help) {
    fmt::print("{}", kHelp);
    return 0;
  }
  if (c.version) {  // the line with "release" is what makefiles look for
    fmt::print(
        "ridge cc {}: CUDA C++ for the SIMT emulator, in place of nvcc\nCuda compilation tools, release 13.0, "
        "V13.0.0\n",
        kVersion);
    return 0;
  }
  if (c.inputs.empty()) throw Error(Exit::usage, "ridge cc: no input files", "ridge cc a.cu -o prog");
  if (c.compile_only && c.inputs.size() > 1 && c.named)
    throw Error(Exit::usage, "ridge cc: -c with -o takes one file", "compile the files one by one");
  c.options.reuse = true;
  if (!c.ignored.empty()) tell("ridge cc: ignores {}\n", fmt::join(c.ignored, ", "));

  TemporaryDir dir("cc");
  std::vector<fs::path> objects;
  int number = 0;
  for (const auto& input : c.inputs) {
    if (!fs::exists(input)) throw Error(Exit::usage, "ridge cc: there is no file " + input.string(), "check the path");
    const std::string kind = input.extension().string();
    if (kind == ".o" || kind == ".obj" || kind == ".a" || kind == ".so") {
      objects.push_back(fs::absolute(input));
      continue;
    }
    fs::path object = dir.path() / fmt::format("{}.{}.o", input.filename().string(), number++);
    CompileFailure f = compile_file(fs::absolute(input), input.string(), object, c.options);
    if (!f.output.empty()) return failed(f);
    if (c.compile_only) deliver(object, c.named ? c.output : fs::path(input.stem().string() + ".o"));
    objects.push_back(object);
  }
  if (c.compile_only) return 0;
  if (c.library) return make_library(objects, dir.path() / "library.a", c.named ? c.output : fs::path("a.a"));
  if (c.blas) {
    objects.push_back(dir.path() / "cublas.o");
    CompileOptions options;
    options.instrumented = c.options.instrumented;
    options.reuse = true;
    if (CompileFailure f = course_object(cublas_kernels(), objects.back(), options); !f.output.empty())
      return failed(f);
  }
  fs::path linked = dir.path() / "program";
  if (CompileFailure f = link_program(objects, linked, false, c.link); !f.output.empty()) return failed(f);
  deliver(linked, c.output);
  return 0;
}

}  // namespace

void add_cc(Commands& ridge) {
  CLI::App* command = ridge.add("cc", "Compile CUDA C++ for the SIMT emulator: ridge cc a.cu -o prog");
  command->prefix_command();
  command->set_help_flag();  // the command has a help of its own
  ridge.set_action(command, [command] { return compile(command->remaining()); });
}

}  // namespace ridge
