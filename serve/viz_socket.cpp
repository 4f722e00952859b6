#include "serve/viz_socket.hpp"

#include <algorithm>

#include "serve/entrance.hpp"
#include "serve/net/relay.hpp"

namespace ridge::serve {

namespace {

bool is_plain_name(const std::string& name) {
  return !name.empty() && name[0] != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  });
}

}  // namespace

std::vector<std::string> view_words(const net::Request& in) {
  constexpr std::size_t kMostSettings = 20, kLongest = 200;
  std::vector<std::string> words;
  if (const std::string view = in.parameter("view"); !view.empty()) words.push_back("--view=" + view);
  for (const std::string& setting : in.parameters("set"))
    if (words.size() <= kMostSettings && setting.size() <= kLongest) words.push_back("--set=" + setting);
  // What the program refuses it says with the word: no byte of it may be a control character.
  std::erase_if(words, [](const std::string& w) {
    return w.size() > kLongest || std::any_of(w.begin(), w.end(), [](unsigned char c) { return c < 32 || c == 127; });
  });
  return words;
}

net::Response VizSocket::answer(const net::Request& in, const std::vector<std::string>& words) {
  if (!in.upgrade) return problem(426, "the visualizer speaks over a WebSocket");
  std::error_code ec;
  if (!fs::exists(program_, ec))
    return problem(503, "the visualizer is not built here; ./ridge viz installs what it needs");
  if (++*open_ > kMostVisualizers) {
    --*open_;
    return problem(503, "too many visualizers are open; close another tab");
  }
  const std::shared_ptr<void> counted(nullptr, [open = open_](void*) { --*open; });
  std::vector<std::string> argv{program_.string(), "--web"};
  argv.insert(argv.end(), words.begin(), words.end());
  net::Response out;
  out.socket = [loop = loop_, argv, counted](const std::shared_ptr<net::Socket>& socket) {
    net::relay(*loop, socket, argv, counted);
  };
  return out;
}

fs::path result_file(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {};
  const std::string lab = name.substr(0, slash), file = name.substr(slash + 1);
  if (!is_plain_name(lab) || !is_plain_name(file)) return {};
  std::error_code ec;
  const fs::path path = results_dir() / lab / file;
  const bool inside = fs::is_directory(fs::symlink_status(results_dir() / lab, ec)) &&
                      fs::is_regular_file(fs::symlink_status(path, ec));
  return inside ? fs::absolute(path, ec) : fs::path();
}

}  // namespace ridge::serve
