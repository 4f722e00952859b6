// Loads traces, in the background for a window.
#pragma once
#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "timeline/reader/trace_source.hpp"
#include "timeline/store/store.hpp"

namespace ridge::viz::timeline {

// Several files, one per rank, form one trace. Throw TraceError.
EventStore load_traces(const std::vector<std::filesystem::path>& files);
EventStore load_text(std::string_view text);

class Loader {
 public:
  // `then` runs after the loading on the same thread, for the view's analyses.
  using Then = std::function<void(const std::shared_ptr<const EventStore>&)>;
  explicit Loader(std::vector<std::filesystem::path> files, Then then = {});
  ~Loader();  // cancels and waits for the thread
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  bool done() const { return done_.load(std::memory_order_acquire); }
  void cancel() { cancelled_ = true; }
  void wait();
  double fraction() const { return fraction_; }  // the share of the files' bytes that is read
  std::uint64_t events() const { return events_; }
  // After done(), the trace, or nullptr with the reason in error().
  std::shared_ptr<const EventStore> take() { return std::move(store_); }
  const std::string& error() const { return error_; }

 private:
  void run();
  std::vector<std::filesystem::path> files_;
  Then then_;
  std::atomic<bool> done_{false}, cancelled_{false};
  std::atomic<double> fraction_{0};
  std::atomic<std::uint64_t> events_{0};
  std::shared_ptr<const EventStore> store_;
  std::string error_;
  std::thread thread_;
};

// The args of one event, read again from its file, and Kineto's members beside args. Values are text; nested ones are
// JSON, shortened.
std::vector<std::pair<std::string, std::string>> arguments_of(const EventStore& store, std::size_t event);

}  // namespace ridge::viz::timeline
