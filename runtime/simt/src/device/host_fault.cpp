#include "device/host_fault.hpp"

#include <execinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "device/program.hpp"
#include "device/source_lines.hpp"

namespace ridge::simt {

namespace {

std::vector<std::uintptr_t>& kernels() {
  static auto* all = new std::vector<std::uintptr_t>;
  return *all;
}

void write_error(std::string_view text) {
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) return;
}

// The emulator's own functions for kernels, by CUDA's names.
std::string device_function(const std::string& name) {
  static const std::map<std::string, std::string> known = {{"ridge_simt::thread_idx", "reads threadIdx"},
                                                           {"ridge_simt::block_idx", "reads blockIdx"},
                                                           {"ridge_simt::block_dim", "reads blockDim"},
                                                           {"ridge_simt::grid_dim", "reads gridDim"},
                                                           {"ridge::simt::BlockRunner::sync", "calls __syncthreads()"}};
  const auto at = known.find(name);
  return at == known.end() ? std::string() : at->second;
}

bool near_stack(std::uintptr_t address, std::uintptr_t stack) {
  constexpr std::uintptr_t kBelow = 64 << 10, kAbove = 8 << 20;
  return address + kBelow > stack && address < stack + kAbove;
}

constexpr std::uintptr_t kNullPage = 4096;

// The program's code that led to the fault, innermost first: its line, and the function that it is in.
struct Frame {
  std::uintptr_t function;
  std::string line;
};

std::vector<Frame> own_frames(const std::vector<std::uintptr_t>& addresses) {
  const Program& p = Program::instance();
  std::vector<std::uint32_t> offsets;
  for (const std::uintptr_t a : addresses)
    if (a - p.base < 0xFFFFFFFFu) offsets.push_back(static_cast<std::uint32_t>(a - p.base));
  const auto lines = source_lines(offsets);
  std::vector<Frame> frames;
  for (const std::uint32_t offset : offsets) {
    const auto line = lines.find(offset);
    if (line == lines.end() || (p.graph && !p.own_code(p.base + offset))) continue;
    frames.push_back({function_with(p.base + offset), line->second.file + ":" + std::to_string(line->second.line)});
  }
  return frames;
}

std::string in_words(std::uintptr_t address, std::uintptr_t pc, std::uintptr_t stack) {
  void* found[64];
  const int n = backtrace(found, 64);
  std::vector<std::uintptr_t> addresses = {pc};
  for (int i = 0; i < n; ++i) {
    const auto a = reinterpret_cast<std::uintptr_t>(found[i]);
    if (a != pc) addresses.push_back(a - 1);
  }
  const std::vector<Frame> frames = own_frames(addresses);
  const std::string at = frames.empty() ? "" : "  at " + frames[0].line + "\n";
  if (!frames.empty() && std::find(kernels().begin(), kernels().end(), frames[0].function) != kernels().end()) {
    const std::string kernel = function_name(frames[0].function);
    const auto caller =
        std::find_if(frames.begin(), frames.end(), [&](const Frame& f) { return f.function != frames[0].function; });
    return "ridge: kernel " + kernel + " was called as a function, and faulted as host code\n" + at +
           (caller == frames.end() ? "" : "  called at " + caller->line + "\n") + "  a kernel is launched: " + kernel +
           "<<<blocks, threads>>>(...); on a GPU such a call does nothing but leave cudaErrorMissingConfiguration\n";
  }
  const std::string head = "ridge: segmentation fault in host code\n" + at;
  if (const std::string what = device_function(function_name(function_with(pc))); !what.empty() && address < kNullPage)
    return head + "  it " + what + ", which is known in kernels alone: launch a kernel with <<<blocks, threads>>>\n";
  if (near_stack(address, stack))
    return head + "  its stack is full: calls within calls without end, or large local arrays (ulimit -s)\n";
  if (address < kNullPage)
    return head + "  it follows a null pointer, or reads threadIdx or the like outside of a kernel\n";
  return head + "  it follows a pointer to memory that is not there (freed, or past an array's end)\n";
}

}  // namespace

void note_kernel(std::uintptr_t function) { kernels().push_back(function); }

// In a child: whatever the fault left locked stops the child alone, and not for long.
void say_host_fault(std::uintptr_t address, std::uintptr_t pc, std::uintptr_t stack) {
  if (std::getenv("RIDGE_QUIET_FAULTS") != nullptr) return;  // a judge tells it
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    write_error(in_words(address, pc, stack));
    _exit(0);
  }
  int status = 1;
  if (child > 0) waitpid(child, &status, 0);
  if (status != 0)
    write_error("ridge: segmentation fault in host code\n  where is not known: a debugger (gdb) tells the line\n");
}

}  // namespace ridge::simt
