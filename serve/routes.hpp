// What the server answers, by method and path behind the token:
//
//   GET  "", FILE                      the page and its files
//   GET  figures/LAB/FILE              a lesson's figure
//   GET  api/labs, api/lab/LAB         where the student stands
//   GET  api/lab/LAB/lesson            the lesson as HTML
//   GET  api/lab/LAB/file/FILE         the student's file
//   PUT  api/lab/LAB/file/FILE         {"text", "base"}: saves it
//   GET  api/lab/LAB/judged?file=FILE  the file as the last attempt judged it
//   GET  api/lab/LAB/line?task=&file=&line=   what the line asked of memory in the last check
//   GET  api/lab/LAB/code?file=&line=  the line's instructions, PTX or SASS
//   GET  api/lab/LAB/attempts          the last attempts
//   GET  api/lab/LAB/diff?from=&to=    what changed between two of them; without `to`, until now
//   GET  api/lab/LAB/path?task=TASK    the task's attempts under the roofline, as SVG
//   GET  api/lab/LAB/quiz              its questions; POST {"id", "answer"} marks an answer
//   POST api/lab/LAB/start             makes the student's copy
//   POST api/lab/LAB/check, api/stop   {"task"}: starts a check; ends it
//   POST api/lab/LAB/hint              {"task"}: one more hint
//   POST api/lab/LAB/predict           {"id", "answer"}: what the student expects; an empty answer skips
//   GET  api/events                    server-sent events: hello, step, ended, lab, file
//   GET  api/viz?file=LAB/FILE         a WebSocket to the visualizer on a result
#pragma once
#include <atomic>
#include <map>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "serve/access.hpp"
#include "serve/check_run.hpp"
#include "serve/line_code.hpp"
#include "serve/net/events.hpp"
#include "serve/net/server.hpp"
#include "serve/page_files.hpp"
#include "serve/viz_socket.hpp"
#include "serve/work_watch.hpp"

namespace ridge::serve {

constexpr std::size_t kMostBody = 2 << 20;  // a file of kMostText as JSON
constexpr int kMostStreams = 12;            // tabs that listen at one time

class Routes {
 public:
  // `program`: build/bin/ridge. `first`: the lab that the page opens with; empty: the page chooses.
  Routes(fs::path program, std::string token, std::string first, Portals portals = {});
  net::Site site();
  void set_loop(boost::asio::io_context& loop) { viz_.set_loop(loop); }
  // Seconds since the last request; a check that runs and a tab that listens count as one.
  double idle_seconds() const;
  // Ends a running check.
  void end();

 private:
  using Parts = std::vector<std::string>;
  net::Judged judge(const net::Request& in);
  net::Response answer(const net::Request& in);
  net::Response answer_lab(const Lab& lab, const Parts& parts, const net::Request& in);
  net::Response answer_study(const Lab& lab, const std::string& what, const net::Request& in);
  net::Response answer_figure(const Parts& parts) const;
  net::Response start(const Lab& lab);
  net::Response hint(const Lab& lab, const std::string& task);
  net::Response stream();
  const Lab* lab_named(const std::string& name) const;

  fs::path program_;
  std::string token_, first_;
  Portals portals_;
  std::vector<Lab> labs_;
  std::string owner_;
  std::map<std::string, PageFile> files_;
  std::atomic<int> streams_{0};
  std::atomic<double> asked_;  // when the last request came
  VizSocket viz_;
  net::Events events_;
  CheckRun run_;
  LineCode code_;
  WorkWatch watch_;
};

}  // namespace ridge::serve
