// The instructor's page of a lab, live: whenever the gradebook has changed, `ridge cluster report` writes the page anew,
// and open tabs show it.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "serve/net/events.hpp"
#include "serve/net/server.hpp"
#include "serve/page_files.hpp"

namespace ridge::serve {

//   GET  "", FILE     the page around the report, and its files
//   GET  report       the report, a page that stands alone
//   GET  api/events   server-sent events: hello and report, {"number", "problem"}
class ClassPage {
 public:
  // `program`: build/bin/ridge. `course`: its course.toml.
  ClassPage(fs::path program, std::string token, std::string course, std::string lab, fs::path gradebook);
  ~ClassPage();
  ClassPage(const ClassPage&) = delete;
  ClassPage& operator=(const ClassPage&) = delete;

  net::Site site();
  void set_loop(boost::asio::io_context&) {}
  // Seconds since the last request; an open tab counts as one.
  double idle_seconds() const;

 private:
  // What is seen of the gradebook's files from outside.
  struct Stamp {
    fs::file_time_type time, log_time;
    std::uintmax_t bytes = 0, log_bytes = 0;
    bool operator==(const Stamp&) const = default;
  };
  Stamp look() const;
  net::Response answer(const net::Request& in);
  nlohmann::json state();
  void write_report();
  void run();

  fs::path program_;
  std::string token_, course_, lab_;
  fs::path gradebook_;
  std::map<std::string, PageFile> files_;
  std::atomic<double> asked_;
  net::Events events_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::string report_, problem_;  // the last report; why there is no newer one
  int number_ = 0;                // of reports
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace ridge::serve
