// A trace of requests: a line each has the second of its arrival, the tokens of its prompt and of its answer, and how many
// of the prompt's first tokens are the instructions that such requests have in common.
#pragma once
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace serving {

struct Arrival {
  double seconds;
  int prompt, answer, common;
};

// Throws where a line is not four numbers, a request is longer than `context`, or an arrival is before the last one.
inline std::vector<Arrival> read_trace(const std::string& path, int context) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::vector<Arrival> trace;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    if (line.empty() || line[0] == '#') continue;
    std::istringstream text(line);
    Arrival a{};
    if (!(text >> a.seconds >> a.prompt >> a.answer >> a.common) || a.prompt < 1 || a.answer < 1 || a.common < 0 ||
        a.common > a.prompt || a.prompt + a.answer > context || a.seconds < (trace.empty() ? 0 : trace.back().seconds))
      throw std::runtime_error(path + ":" + std::to_string(number) +
                               ": not `seconds prompt answer common`, in order of arrival, with at most " +
                               std::to_string(context) + " tokens of a prompt and its answer");
    trace.push_back(a);
  }
  if (trace.empty()) throw std::runtime_error(path + " has no request");
  return trace;
}

// The prompt of a request. Its tokens are drawn; the common ones are the same for all requests.
inline std::vector<int> prompt_of(const Arrival& a, int request, int vocabulary) {
  auto drawn = [&](std::uint64_t key) {
    key += 0x9e3779b97f4a7c15u;
    key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9u;
    key = (key ^ (key >> 27)) * 0x94d049bb133111ebu;
    return static_cast<int>((key ^ (key >> 31)) % static_cast<std::uint64_t>(vocabulary));
  };
  std::vector<int> tokens;
  for (int i = 0; i < a.prompt; ++i)
    tokens.push_back(
        drawn(static_cast<std::uint64_t>(i < a.common ? 0 : request + 1) << 32 | static_cast<unsigned>(i)));
  return tokens;
}

}  // namespace serving
