#include "device/source_lines.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ridge::simt {

namespace {

// "path/file.cu:31 (discriminator 2)" -> file.cu, 31. False for "??:0".
bool parse(std::string text, SourceLine& out, SourcePaths* paths) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (auto note = text.find(" (disc"); note != std::string::npos) text.resize(note);
  auto colon = text.rfind(':');
  if (colon == std::string::npos || text.rfind("??", 0) == 0) return false;
  // The emulator's own code, in headers and in the library.
  if (text.find("/simt/include/") != std::string::npos || text.find("/simt/src/") != std::string::npos) return false;
  out.line = std::atoi(text.c_str() + colon + 1);
  text.resize(colon);
  out.file = text.substr(text.rfind('/') + 1);
  if (paths != nullptr) paths->emplace(out.file, text);
  return out.line != 0;
}

}  // namespace

std::map<std::uint32_t, SourceLine> source_lines(const std::vector<std::uint32_t>& pcs, SourcePaths* paths) {
  std::map<std::uint32_t, SourceLine> found;
  if (pcs.empty()) return found;
  // A file of addresses and a file of answers: no deadlock between two pipes, no limit on the command line.
  FILE* in = std::tmpfile();
  FILE* out = std::tmpfile();
  if (in == nullptr || out == nullptr) return found;
  for (std::uint32_t pc : pcs) std::fprintf(in, "0x%x\n", pc);
  std::fflush(in);
  std::rewind(in);
  char program[4096];
  ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
  program[n > 0 ? n : 0] = 0;
  pid_t child = fork();
  if (child == 0) {
    dup2(fileno(in), 0);
    dup2(fileno(out), 1);
    execlp("addr2line", "addr2line", "-a", "-i", "-e", program, static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  std::rewind(out);
  // -a prints each address before its frames, innermost first.
  char line[4096];
  std::uint32_t pc = 0;
  while (std::fgets(line, sizeof line, out) != nullptr) {
    SourceLine at;
    if (std::strncmp(line, "0x", 2) == 0)
      pc = static_cast<std::uint32_t>(std::strtoull(line, nullptr, 16));
    else if (parse(line, at, paths))
      found[pc] = at;
  }
  std::fclose(in);
  std::fclose(out);
  return found;
}

}  // namespace ridge::simt
