// The visualizer in a tab: `ridge-viz --web FILE` runs beside the server, and a WebSocket carries its messages, which
// the server does not read.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"
#include "serve/net/message.hpp"

namespace boost::asio {
class io_context;
}

namespace ridge::serve {

constexpr int kMostVisualizers = 6;  // at one time: each holds a trace in memory

class VizSocket {
 public:
  // `program`: build/bin/ridge-viz.
  explicit VizSocket(fs::path program) : program_(std::move(program)) {}
  // Where a program's pipes are watched. Called before the first request.
  void set_loop(boost::asio::io_context& loop) { loop_ = &loop; }
  // Answers a request for the visualizer, all in one window. `words`: files, "--view=ID" and "--set=KEY=VALUE".
  net::Response answer(const net::Request& in, const std::vector<std::string>& words);
  // Visualizers that run.
  int open() const { return *open_; }

 private:
  fs::path program_;
  boost::asio::io_context* loop_ = nullptr;
  std::shared_ptr<std::atomic<int>> open_ = std::make_shared<std::atomic<int>>(0);
};

// The words for the view that the query asks for, as in "view=warp&set=show=swizzle&set=swizzle=64"; empty: none.
std::vector<std::string> view_words(const net::Request& in);

// A result, trace or recording in the folder of results by its name, "01_coalescing/20261128T...json"; empty: none.
fs::path result_file(const std::string& name);

}  // namespace ridge::serve
