// The check that runs: `ridge check --steps` as a process of its own, so that the page judges as the terminal does, and
// so that a check can be stopped.
#pragma once
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "grader/base/paths.hpp"

namespace ridge::serve {

class CheckRun {
 public:
  using Tell = std::function<void(const std::string& kind, const nlohmann::json& data)>;
  // `program`: build/bin/ridge. `tell` hears "step" for each line that the check prints, and "ended" at its end.
  // `start` makes the thread that waits for it, and may throw.
  using Start = std::function<std::thread(std::function<void()>)>;
  CheckRun(
      fs::path program, Tell tell,
      Start start = [](std::function<void()> work) { return std::thread(std::move(work)); })
      : program_(std::move(program)), tell_(std::move(tell)), start_(std::move(start)) {}
  ~CheckRun();
  CheckRun(const CheckRun&) = delete;
  CheckRun& operator=(const CheckRun&) = delete;

  // False where a check runs already. An empty task stands for all.
  bool start(const std::string& lab, const std::string& task);
  // Asks the check to end. False where none runs.
  bool stop();
  // {"running": true, "lab": ..., "task": ..., "step": ...}
  nlohmann::json state() const;

 private:
  void run(const std::string& lab, const std::string& task);
  bool stopping() const;

  fs::path program_;
  Tell tell_;
  Start start_;
  mutable std::mutex mutex_;
  std::thread thread_;
  bool running_ = false, stop_ = false;
  std::string lab_, task_, step_;
};

}  // namespace ridge::serve
