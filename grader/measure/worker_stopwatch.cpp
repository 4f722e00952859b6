#include "grader/measure/worker_stopwatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "checks/fill.hpp"
#include "grader/base/error.hpp"
#include "grader/base/seeds.hpp"
#include "grader/base/statistics.hpp"
#include "grader/base/text.hpp"

namespace ridge {

namespace {

constexpr double kRequestSeconds = 0.002;  // device work of a request: an empty one varies by some microseconds
constexpr double kWarmSeconds = 0.002;     // before a request
constexpr int kEmptyRequests = 11;

void require(const Reply& r) {
  if (r.good()) return;
  throw Error(Exit::environment,
              fmt::format("the course's own program failed: {}",
                          r.fate == Fate::ok ? printable(fmt::format("{} {}", r.done.what, r.done.detail))
                                             : std::string("its process ended, or its time was up")),
              "look at nvidia-smi for other programs on this GPU, and run `ridge doctor`");
}

std::vector<std::size_t> drawn_order(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[lab::random_bits(seed, i) % i]);
  return order;
}

}  // namespace

WorkerStopwatch::WorkerStopwatch(Device& device, const fs::path& program, std::uint64_t seed, double limit_seconds,
                                 JudgeTime& time)
    : device_(device),
      seed_(seed),
      limit_(limit_seconds),
      time_(time),
      workers_(program, 0, lab::Backend::cuda, false) {}

std::vector<std::vector<double>> WorkerStopwatch::times(const lab::TaskCheck& task, std::span<const lab::Case> cases,
                                                        int turns) {
  std::vector<std::vector<double>> all(cases.size());
  if (cases.empty()) return all;
  share(task, cases.front());
  if (!round_trip_) {
    std::vector<double> empty;
    for (int i = 0; i < kEmptyRequests; ++i) empty.push_back(request({}, 0));
    round_trip_ = median(empty);
  }
  for (int turn = 0; turn < turns; ++turn)
    for (const std::size_t i : drawn_order(cases.size(), derived_seed(seed_, "stopwatch order", ++orders_)))
      all[i].push_back(seconds_of(cases[i]));
  return all;
}

void WorkerStopwatch::share(const lab::TaskCheck& task, const lab::Case& c) {
  const lab::Shape shape = task.shape(c);
  std::vector<std::size_t> bytes = shape.in;
  bytes.insert(bytes.end(), shape.out.begin(), shape.out.end());
  bytes.push_back(shape.workspace);
  if (buffers_ && bytes == shape_) return;
  shape_ = std::move(bytes);
  calls_.clear();
  Device* const device = &device_;
  buffers_.reset();
  buffers_.emplace(std::span(&device, 1), task, c, InputSeed{seed_, "stopwatch", 0}, next_id_, time_);
  next_id_ = buffers_->next_id();
  require(workers_.share(*buffers_, limit_));
}

// As many calls as make a request long enough; found once for each case, behind a call that loads the code.
double WorkerStopwatch::seconds_of(const lab::Case& c) {
  const auto [known, is_new] = calls_.try_emplace(c.size, 1);
  if (is_new) {
    request(c.size, 1);
    const double once = std::max(request(c.size, 1) - *round_trip_, 1e-6);
    known->second = static_cast<std::size_t>(
        std::clamp(std::ceil(kRequestSeconds / once), 1.0, static_cast<double>(protocol::kMaxCalls)));
  }
  const auto calls = static_cast<double>(known->second);
  return std::max(request(c.size, known->second) - *round_trip_, 1e-9) / calls;
}

double WorkerStopwatch::request(const Sizes& size, std::size_t calls) {
  protocol::Call call = (*buffers_)[0].call();
  std::copy(size.begin(), size.end(), call.size);
  WorkerProcess& worker = workers_.worker(0);
  device_.warm_up(kWarmSeconds);
  // An empty request first: the GPU changes over from the judge's process to this one outside of the measurement.
  require(worker.run({}, {}, limit_));
  const Reply reply = worker.run(std::vector<protocol::Call>(calls, call), {}, limit_);
  require(reply);
  return reply.seconds;
}

}  // namespace ridge
