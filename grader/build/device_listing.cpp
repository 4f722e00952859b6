#include "grader/build/device_listing.hpp"

#include <charconv>
#include <map>

namespace ridge {

namespace {

std::string_view trimmed_line(std::string_view s) {
  const auto from = s.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view() : s.substr(from, s.find_last_not_of(" \t\r") + 1 - from);
}

template <class F>
void each_line(std::string_view text, const F& f) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    f(trimmed_line(text.substr(at, end - at)));
    at = end + 1;
  }
}

// The number that `s` begins with, which is cut off; 0 where there is none.
int take_number(std::string_view& s) {
  s = trimmed_line(s);
  int n = 0;
  const auto read = std::from_chars(s.data(), s.data() + s.size(), n);
  s.remove_prefix(static_cast<std::size_t>(read.ptr - s.data()));
  return n;
}

std::string_view name_of_path(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string_view quoted_in(std::string_view s) {
  const auto from = s.find('"'), to = s.find('"', from + 1);
  return from == std::string_view::npos || to == std::string_view::npos ? std::string_view()
                                                                        : s.substr(from + 1, to - from - 1);
}

// "k" of ".visible .entry k(" and ".func (.param .b32 r) k(".
std::string function_of(std::string_view line) {
  const std::size_t entry = line.find(".entry"), func = line.find(".func");
  if (entry == std::string_view::npos && func == std::string_view::npos) return {};
  std::string_view rest = trimmed_line(line.substr(entry != std::string_view::npos ? entry + 6 : func + 5));
  if (rest.starts_with('(')) rest = trimmed_line(rest.substr(std::min(rest.find(')'), rest.size() - 1) + 1));
  return std::string(rest.substr(0, rest.find_first_of("( \t;")));
}

bool is_label(std::string_view line) {
  return line.ends_with(':') && line.find_first_of(" \t\"") == std::string_view::npos;
}

// Labels of the debugger's alone.
bool is_debug_label(std::string_view line) {
  for (const char* known : {"Lfunc_", "Ltmp", "$L__func_", "$L__tmp", "$L__pro"})
    if (line.starts_with(known)) return true;
  return false;
}

}  // namespace

std::vector<DeviceInstruction> ptx_listing(std::string_view ptx, std::string_view file) {
  std::map<int, bool> ours;  // by the number of a .file
  each_line(ptx, [&](std::string_view line) {
    if (!line.starts_with(".file")) return;
    std::string_view rest = line.substr(5);
    const int number = take_number(rest);
    // Clang writes folder and name apart.
    const std::size_t last = rest.rfind('"'), first = last == 0 ? last : rest.rfind('"', last - 1);
    if (last != std::string_view::npos && first != std::string_view::npos)
      ours[number] = ours[number] || name_of_path(rest.substr(first + 1, last - first - 1)) == file ||
                     name_of_path(quoted_in(rest)) == file;
  });
  std::vector<DeviceInstruction> out;
  std::string kernel;
  int depth = 0, current = 0;
  each_line(ptx, [&](std::string_view line) {
    if (line.empty() || line.starts_with("//")) return;
    if (depth == 0) {
      if (std::string name = function_of(line); !name.empty()) kernel = name, current = 0;
      if (line.starts_with('{')) depth = 1;
      if (line.ends_with(';')) kernel.clear();  // a declaration
      return;
    }
    if (line.starts_with('{')) ++depth;
    if (line.starts_with('}')) {
      --depth;
      return;
    }
    if (line.starts_with(".loc")) {
      std::string_view rest = line.substr(4);
      const int number = take_number(rest), at = take_number(rest);
      if (ours[number]) {
        current = at;
      } else if (const std::size_t inlined = rest.find("inlined_at"); inlined != std::string_view::npos) {
        rest.remove_prefix(inlined + 10);
        const int outer = take_number(rest), call = take_number(rest);
        if (ours[outer]) current = call;
      }
      return;
    }
    if (line.starts_with('{') || (line.starts_with('.') && !line.starts_with(".pragma")) || line.starts_with(".pragma"))
      return;
    if (is_label(line) && is_debug_label(line)) return;
    if (current > 0 && !kernel.empty()) out.push_back({kernel, current, std::string(line)});
  });
  return out;
}

std::vector<DeviceInstruction> sass_listing(std::string_view sass, std::string_view file) {
  std::vector<DeviceInstruction> out;
  std::string kernel;
  int current = 0;
  bool innermost = true;
  each_line(sass, [&](std::string_view line) {
    if (line.starts_with(".text.") && line.ends_with(':')) {
      kernel = line.substr(6, line.size() - 7);
      current = 0;
      return;
    }
    if (line.starts_with("//## File")) {  // //## File "/a/copy.cu", line 12 inlined at "/a/copy.cu", line 20
      if (innermost) current = 0;
      // The innermost line of the file: further lines say where it was inlined.
      std::string_view rest = line;
      while (current == 0) {
        const std::string_view name = quoted_in(rest);
        const std::size_t word = rest.find(", line ");
        if (name.empty() || word == std::string_view::npos) break;
        rest.remove_prefix(word + 7);
        const int at = take_number(rest);
        if (name_of_path(name) == file) current = at;
      }
      innermost = false;
      return;
    }
    innermost = true;
    if (kernel.empty() || !line.starts_with("/*")) {
      if (is_label(line) && line.starts_with(".L") && !kernel.empty() && current > 0)
        out.push_back({kernel, current, std::string(line)});
      return;
    }
    // /*0010*/  LDG.E R2, desc[UR4][R2.64] ;  /* 0x... */
    const std::size_t from = line.find("*/");
    std::string_view text = trimmed_line(line.substr(std::min(from + 2, line.size())));
    text = trimmed_line(text.substr(0, text.find("/*")));
    if (!text.empty() && current > 0) out.push_back({kernel, current, std::string(text)});
  });
  return out;
}

}  // namespace ridge
