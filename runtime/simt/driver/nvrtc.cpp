// NVRTC: `ridge cc -cubin` as a process, on files in a temporary folder.
#include "nvrtc.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/program.hpp"
#include "driver/image.hpp"
#include "driver/image_text.hpp"

extern char** environ;

// The program that built this one, whole path: `ridge cc` links it in (grader/compile/dynamic_shared.cpp).
extern "C" const char* ridge_compiler();

namespace fs = std::filesystem;

struct _nvrtcProgram {
  std::string source, name;
  std::vector<std::pair<std::string, std::string>> headers;      // name, text
  std::vector<std::pair<std::string, std::string>> expressions;  // as given, and the lowered name
  std::string log, image, text;
  bool compiled = false;
  bool link_time = false;  // -dlto
};

namespace {

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "ridge-nvrtc-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~Folder() {
    std::error_code ec;
    if (!path_.empty()) fs::remove_all(path_, ec);
  }
  Folder(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

bool write_text(const fs::path& file, const std::string& text) {
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  return out.good();
}

std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Options of NVRTC that nvcc does not have, without a value of their own: they change nothing here.
bool of_nvrtc_alone(const std::string& option) {
  for (const char* name : {"--builtin-move-forward",
                           "-builtin-move-forward",
                           "--builtin-initializer-list",
                           "-builtin-initializer-list",
                           "--device-int128",
                           "-device-int128",
                           "--no-source-include",
                           "-no-source-include",
                           "--minimal",
                           "-minimal",
                           "--pch",
                           "-pch",
                           "--dlink-time-opt",
                           "-dlto",
                           "--no-cache",
                           "-no-cache",
                           "--device-float128",
                           "-device-float128",
                           "--relocatable-device-code=true",
                           "-rdc=true",
                           "--unused-constants-as-const",
                           "--fdevice-time-trace",
                           "--modify-stack-limit"})
    if (option == name || option.starts_with(std::string(name) + "=")) return true;
  return false;
}

// A file's name for the program: what the caller calls it, without folders.
std::string file_name(const std::string& name) {
  std::string file = name.empty() ? "default_program" : fs::path(name).filename().string();
  std::replace_if(
      file.begin(), file.end(),
      [](unsigned char c) { return std::isalnum(c) == 0 && c != '.' && c != '_' && c != '-'; }, '_');
  return file;
}

std::string name_of_pointer(std::size_t i) { return "ridge_name_expression_" + std::to_string(i); }

// Behind the source: a pointer for each name expression, which makes the compiler instantiate what it names.
std::string pointers(const _nvrtcProgram& p) {
  std::string text = "\n#line 1 \"name expressions\"\n";
  for (std::size_t i = 0; i < p.expressions.size(); ++i) {
    std::string expression = p.expressions[i].first;
    if (const auto at = expression.find_first_not_of(" &"); at != std::string::npos) expression.erase(0, at);
    text += "extern \"C\" { extern __attribute__((used)) const void* const " + name_of_pointer(i) +
            "; const void* const " + name_of_pointer(i) + " = (const void*)&" + expression + "; }\n";
  }
  return text;
}

// Runs a program whose output goes to a file. 127 where it cannot be started.
int run(std::vector<std::string>& words, const fs::path& output) {
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t child = 0;
  int status = 0;
  const bool started = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return 127;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

// Headers of the C and C++ library, which NVRTC does not have and programs bring replacements of: here the real
// ones are there.
bool of_the_library(const std::string& name) {
  static const std::set<std::string, std::less<>> all = {
      "algorithm",     "array",    "assert.h",  "atomic",   "bit",         "bitset",
      "cassert",       "cctype",   "cerrno",    "cfloat",   "chrono",      "cinttypes",
      "climits",       "cmath",    "compare",   "complex",  "concepts",    "cstdarg",
      "cstddef",       "cstdint",  "cstdio",    "cstdlib",  "cstring",     "ctime",
      "ctype.h",       "errno.h",  "exception", "float.h",  "functional",  "initializer_list",
      "inttypes.h",    "iomanip",  "iosfwd",    "iostream", "istream",     "iterator",
      "limits",        "limits.h", "map",       "math.h",   "memory",      "mutex",
      "new",           "numbers",  "numeric",   "optional", "ostream",     "ratio",
      "set",           "span",     "sstream",   "stdarg.h", "stdbool.h",   "stddef.h",
      "stdexcept",     "stdint.h", "stdio.h",   "stdlib.h", "string",      "string.h",
      "string_view",   "thread",   "time.h",    "tuple",    "type_traits", "typeinfo",
      "unordered_map", "utility",  "variant",   "vector"};
  return all.count(name) != 0;
}

// The compiler's messages without our folders. A missing header is told in NVRTC's words: programs read from them which
// header to give, and try again.
std::string own_log(const std::string& said, const std::string& folder) {
  std::string log;
  for (std::size_t at = 0; at < said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    std::string line = said.substr(at, end - at);
    at = end + 1;
    for (const std::string& place : {folder + "/headers/", folder + "/"})
      for (std::size_t found = 0; (found = line.find(place)) != std::string::npos;) line.erase(found, place.size());
    constexpr std::string_view kFatal = " fatal error: ";
    const std::size_t fatal = line.find(kFatal), colon = line.find(':');
    std::string header = fatal == std::string::npos ? "" : line.substr(fatal + kFatal.size());
    if (header.starts_with("'") && header.ends_with("' file not found"))
      header = header.substr(1, header.rfind('\'') - 1);
    else if (header.ends_with(": No such file or directory"))
      header.resize(header.rfind(": No such"));
    else
      header.clear();
    if (!header.empty())
      line = line.substr(0, colon) + "(" + std::to_string(std::atoi(line.c_str() + colon + 1)) +
             "): catastrophic error: could not open source file \"" + header + "\"";
    log += line + "\n";
  }
  return log;
}

// NVRTC looks for headers beside the source too, where its name has a folder, but for these options.
bool leaves_folder_out(const std::string& option) {
  return option == "-no-source-include" || option == "--no-source-include";
}

bool asks_for_link_time(const std::string& option) { return option == "-dlto" || option == "--dlink-time-opt"; }

nvrtcResult give(const std::string& text, char* out) {
  if (out == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(out, text.c_str(), text.size() + 1);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) {
  static constexpr const char* kNames[] = {"NVRTC_SUCCESS",
                                           "NVRTC_ERROR_OUT_OF_MEMORY",
                                           "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                           "NVRTC_ERROR_INVALID_INPUT",
                                           "NVRTC_ERROR_INVALID_PROGRAM",
                                           "NVRTC_ERROR_INVALID_OPTION",
                                           "NVRTC_ERROR_COMPILATION",
                                           "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                           "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                           "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                           "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                           "NVRTC_ERROR_INTERNAL_ERROR"};
  const auto i = static_cast<std::size_t>(result);
  return i < std::size(kNames) ? kNames[i] : "NVRTC_ERROR unknown";
}

nvrtcResult nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *major = 13, *minor = 0;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  if (count == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *count = 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  if (archs == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  archs[0] = 90;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* source, const char* name, int headers,
                               const char* const* header_texts, const char* const* header_names) {
  if (program == nullptr || source == nullptr || headers < 0) return NVRTC_ERROR_INVALID_INPUT;
  if (headers > 0 && (header_texts == nullptr || header_names == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  auto p = std::make_unique<_nvrtcProgram>();
  p->source = source;
  p->name = name == nullptr ? "" : name;
  for (int i = 0; i < headers; ++i) p->headers.emplace_back(header_names[i], header_texts[i]);
  *program = p.release();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  if (program == nullptr || *program == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram p, int options, const char* const* given) {
  if (p == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (options < 0 || (options > 0 && given == nullptr)) return NVRTC_ERROR_INVALID_INPUT;
  const Folder folder;
  const fs::path headers = folder.path() / "headers", made = folder.path() / "module", said = folder.path() / "log";
  const fs::path source = folder.path() / file_name(p->name);
  bool written = !folder.path().empty() && write_text(source, p->source + pointers(*p));
  for (const auto& [name, text] : p->headers) {
    const fs::path file = (headers / name).lexically_normal();
    if (!of_the_library(name) && file.string().starts_with(headers.string() + "/"))
      written = written && write_text(file, text);
  }
  if (!written) {
    p->log = "ridge: cannot write to a temporary folder (is there space?)\n";
    return NVRTC_ERROR_INTERNAL_ERROR;
  }
  std::vector<std::string> words = {
      ridge_compiler(), "cc", "-cubin",        "-x", "cu", "-D__CUDACC_RTC__", "-o", made.string(),
      source.string(),  "-I", headers.string()};
  if (!ridge::simt::Program::counts()) words.push_back("--plain");
  const fs::path beside = fs::path(p->name).parent_path();
  if (!beside.empty() && std::none_of(given, given + options, leaves_folder_out))
    words.insert(words.end(), {"-I", beside.string()});
  p->link_time = std::any_of(given, given + options, asks_for_link_time);
  for (int i = 0; i < options; ++i)
    if (!of_nvrtc_alone(given[i])) words.emplace_back(given[i]);
  const int code = run(words, said);
  p->log = own_log(read_text(said), folder.path().string());
  p->image = code == 0 ? read_text(made) : "";
  p->compiled = code == 0;
  if (code == 2) return NVRTC_ERROR_INVALID_OPTION;
  if (code == 127 || code == 3) {
    p->log += "ridge: nvrtc compiles with " + words[0] + ", which built this program and " +
              (code == 3 ? "failed" : "is not there any more: build the program again") + "\n";
    return NVRTC_ERROR_BUILTIN_OPERATION_FAILURE;
  }
  if (code != 0) return NVRTC_ERROR_COMPILATION;
  p->text = ridge::simt::driver::image_text(p->image) + ridge::simt::driver::variables_as_text(p->image);
  for (std::size_t i = 0; i < p->expressions.size(); ++i)
    p->expressions[i].second = ridge::simt::driver::target_of(p->image, name_of_pointer(i));
  return NVRTC_SUCCESS;
}

nvrtcResult nvrtcGetPTXSize(nvrtcProgram p, size_t* bytes) {
  if (p == nullptr || !p->compiled) return NVRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = p->text.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram p, char* text) {
  return p == nullptr || !p->compiled ? NVRTC_ERROR_INVALID_PROGRAM : give(p->text, text);
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram p, size_t* bytes) {
  if (p == nullptr || !p->compiled) return NVRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = p->image.size();
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram p, char* image) {
  if (p == nullptr || !p->compiled) return NVRTC_ERROR_INVALID_PROGRAM;
  if (image == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  std::memcpy(image, p->image.data(), p->image.size());
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLTOIRSize(nvrtcProgram p, size_t* bytes) {
  if (p == nullptr || !p->link_time) return NVRTC_ERROR_INVALID_PROGRAM;
  return nvrtcGetCUBINSize(p, bytes);
}
nvrtcResult nvrtcGetLTOIR(nvrtcProgram p, char* code) {
  if (p == nullptr || !p->link_time) return NVRTC_ERROR_INVALID_PROGRAM;
  return nvrtcGetCUBIN(p, code);
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram p, size_t* bytes) {
  if (p == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (bytes == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  *bytes = p->log.size() + 1;
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram p, char* text) {
  return p == nullptr ? NVRTC_ERROR_INVALID_PROGRAM : give(p->log, text);
}

nvrtcResult nvrtcAddNameExpression(nvrtcProgram p, const char* expression) {
  if (p == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (p->compiled) return NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
  p->expressions.emplace_back(expression, "");
  return NVRTC_SUCCESS;
}
nvrtcResult nvrtcGetLoweredName(nvrtcProgram p, const char* expression, const char** name) {
  if (p == nullptr) return NVRTC_ERROR_INVALID_PROGRAM;
  if (expression == nullptr || name == nullptr) return NVRTC_ERROR_INVALID_INPUT;
  if (!p->compiled) return NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
  for (const auto& [given, lowered] : p->expressions)
    if (given == expression && !lowered.empty()) return *name = lowered.c_str(), NVRTC_SUCCESS;
  return NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}
}
