#include "device/source_lines.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "device/program.hpp"

namespace ridge::simt {

namespace {

// "path/file.cu:31 (discriminator 2)" -> path/file.cu, 31. False for "??:0".
bool parse(std::string text, std::string& path, int& number) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (auto note = text.find(" (disc"); note != std::string::npos) text.resize(note);
  auto colon = text.rfind(':');
  if (colon == std::string::npos || text.rfind("??", 0) == 0) return false;
  // The emulator's own code, in headers and in the library.
  if (text.find("/simt/include/") != std::string::npos || text.find("/simt/src/") != std::string::npos) return false;
  number = std::atoi(text.c_str() + colon + 1);
  path = text.substr(0, colon);
  return number != 0;
}

// The path of the running program.
std::string own_path() {
  char program[4096];
  const ssize_t n = readlink("/proc/self/exe", program, sizeof program);
  return {program, static_cast<std::size_t>(n > 0 ? n : 0)};
}

// The places where a source may be. `ridge cc` compiles in a temporary folder, so that a relative path leads nowhere
// there; it may hold from where the program runs, or beside it.
std::vector<std::string> places(const std::string& path) {
  std::vector<std::string> all{path};
  if (const auto at = path.find("/ridge-cc-"); at != std::string::npos)
    if (const auto end = path.find('/', at + 1); end != std::string::npos) all.push_back(path.substr(end + 1));
  const std::string name = path.substr(path.rfind('/') + 1), program = own_path();
  all.push_back(name);
  if (!program.empty()) all.push_back(program.substr(0, program.rfind('/') + 1) + name);
  return all;
}

}  // namespace

std::ifstream open_source(const std::string& path) {
  std::ifstream in;
  for (const std::string& place : places(path)) {
    in.clear();
    in.open(place, std::ios::binary);
    if (in) break;
  }
  return in;
}

std::map<std::uint32_t, SourceLine> source_lines(const std::vector<std::uint32_t>& pcs, SourcePaths* paths) {
  std::map<std::uint32_t, SourceLine> found;
  for (const auto& [pc, frames] : source_frames(pcs)) {
    const auto& [path, line] = frames.back();
    const std::string file = path.substr(path.rfind('/') + 1);
    found[pc] = {file, line};
    if (paths != nullptr) paths->emplace(file, path);
  }
  return found;
}

namespace {

// Of one file, whose addresses are `shift` below the program's offsets.
void frames_in(const std::string& program, std::uint32_t shift, const std::vector<std::uint32_t>& pcs,
               std::map<std::uint32_t, SourceFrames>& found) {
  if (pcs.empty()) return;
  // A file of addresses and a file of answers: no deadlock between two pipes, no limit on the command line.
  FILE* in = std::tmpfile();
  FILE* out = std::tmpfile();
  if (in == nullptr || out == nullptr) return;
  for (std::uint32_t pc : pcs) std::fprintf(in, "0x%x\n", pc - shift);
  std::fflush(in);
  std::rewind(in);
  pid_t child = fork();
  if (child == 0) {
    dup2(fileno(in), 0);
    dup2(fileno(out), 1);
    execlp("addr2line", "addr2line", "-a", "-i", "-e", program.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (child > 0) waitpid(child, &status, 0);
  std::rewind(out);
  // -a prints each address before its frames, innermost first.
  char line[4096];
  std::uint32_t pc = 0;
  while (std::fgets(line, sizeof line, out) != nullptr) {
    std::pair<std::string, int> at;
    if (std::strncmp(line, "0x", 2) == 0)
      pc = static_cast<std::uint32_t>(std::strtoull(line, nullptr, 16)) + shift;
    else if (parse(line, at.first, at.second))
      found[pc].push_back(at);
  }
  std::fclose(in);
  std::fclose(out);
}

}  // namespace

std::map<std::uint32_t, SourceFrames> source_frames(const std::vector<std::uint32_t>& pcs) {
  std::map<std::uint32_t, SourceFrames> found;
  std::vector<std::uint32_t> own = pcs;
  for (const LoadedModule& m : loaded_modules()) {
    const auto shift = static_cast<std::uint32_t>(m.base - Program::instance().base);
    const auto theirs = std::partition(own.begin(), own.end(), [&](auto pc) { return pc - shift >= m.bytes; });
    frames_in(m.path, shift, {theirs, own.end()}, found);
    own.erase(theirs, own.end());
  }
  frames_in(own_path(), 0, own, found);
  return found;
}

}  // namespace ridge::simt
