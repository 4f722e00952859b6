// The page of `ridge viz --web FILE...`: the visualizer alone, on the files and in the view that the command line names,
// or in the view that the page's address names.
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "serve/access.hpp"
#include "serve/net/server.hpp"
#include "serve/page_files.hpp"
#include "serve/viz_socket.hpp"

namespace ridge::serve {

//   GET  "", FILE     the page and its files
//   GET  api/viz      a WebSocket to the visualizer on all files together; with ?view=ID&set=KEY=VALUE on this view
//   GET  api/proof    a question with its answer (proof.hpp)
class VizPage {
 public:
  // `words`: files, "--view=ID" and "--set=KEY=VALUE".
  VizPage(fs::path program, std::string token, std::vector<std::string> words, Portals portals = {});
  net::Site site();
  void set_loop(boost::asio::io_context& loop) { viz_.set_loop(loop); }
  // Seconds since the last request; an open visualizer counts as one.
  double idle_seconds() const;

 private:
  net::Response answer(const net::Request& in);

  VizSocket viz_;
  std::string token_;
  std::vector<std::string> shown_;
  Portals portals_;
  std::map<std::string, PageFile> files_;
  std::atomic<double> asked_;
};

}  // namespace ridge::serve
