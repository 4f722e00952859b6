#include "grader/result/result.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <nlohmann/json.hpp>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/hashes.hpp"
#include "grader/result/record.hpp"
#include "ridge_version.hpp"

namespace ridge {

using nlohmann::json;

namespace {

json number(const std::optional<double>& v) { return v ? json(*v) : json(nullptr); }

json kernel_json(const KernelCount& k) {
  json j = {
      {"kernel", k.kernel}, {"grid", k.grid}, {"block", k.block}, {"launches", k.launches}, {"counters", k.counters}};
  j["lines"] = json::array();
  for (const auto& n : k.lines) {
    j["lines"].push_back({{"file", n.file},
                          {"line", n.line},
                          {"op", n.op},
                          {"requests", n.requests},
                          {"lanes", n.lanes},
                          {"bytes", n.bytes},
                          {"sectors", n.sectors},
                          {"ideal_sectors", n.ideal_sectors},
                          {"wavefronts", n.wavefronts},
                          {"conflicts", n.conflicts}});
    if (n.lane_step) j["lines"].back()["lane_step"] = {n.lane_step->first, n.lane_step->second};
  }
  return j;
}

json task_json(const TaskResult& t) {
  json j = {{"id", t.id},         {"title", t.title},   {"status", t.status},
            {"reason", t.reason}, {"points", t.points}, {"max", t.max}};
  j["kernels"] = json::array();
  for (const auto& k : t.kernels) j["kernels"].push_back(kernel_json(k));
  j["checks"] = j["goals"] = j["cases"] = json::array();
  for (const auto& c : t.checks) {
    j["checks"].push_back(
        {{"name", c.name}, {"status", c.passed ? Status::passed : Status::failed}, {"message", c.message}});
    if (c.cause != Cause::none) j["checks"].back()["cause"] = name_of(c.cause);
    if (!c.picture.empty()) j["checks"].back()["picture"] = c.picture;
  }
  for (const auto& c : t.cases)
    j["cases"].push_back(
        {{"name", c.name}, {"status", c.passed ? Status::passed : Status::failed}, {"message", c.message}});
  for (const auto& g : t.goals)
    j["goals"].push_back({{"id", g.id},
                          {"title", g.title},
                          {"metric", g.metric},
                          {"unit", g.unit},
                          {"value", number(g.value)},
                          {"zero", g.zero},
                          {"full", g.full},
                          {"points", g.points},
                          {"max", g.max},
                          {"met", g.met},
                          {"note", g.note}});
  j["timeline"] = nullptr;
  if (t.timeline)
    j["timeline"] = {{"file", t.trace.empty() ? json(nullptr) : json(t.trace)},
                     {"seconds", t.timeline->seconds},
                     {"launches", t.timeline->launches}};
  if (t.timeline && !t.timeline->wrong_case.empty()) j["timeline"]["wrong_case"] = t.timeline->wrong_case;
  if (!t.warp_name.empty()) j["warp"] = {{"file", t.warp_name}};
  j["output"] = t.output;
  j["output_bytes"] = t.output_bytes;
  j["roofline"] = nullptr;
  if (t.roofline)
    j["roofline"] = {{"operations", t.roofline->operations},
                     {"operation_unit", t.roofline->operation_unit},
                     {"bytes", t.roofline->bytes},
                     {"bytes_ideal", t.roofline->bytes_ideal},
                     {"seconds", number(t.roofline->seconds)},
                     {"basis", t.roofline->seconds ? "timed" : "counted"}};
  j["judge_seconds"] = judge_time_json(t.judge_time);
  j["timing"] = nullptr;
  if (const Timing* worst = worst_timing(t.timings)) j["timing"] = timing_json(*worst);
  if (t.timings.size() > 1)
    for (const Timing& each : t.timings) j["timings"].push_back(timing_json(each));
  return j;
}

// A file descriptor that closes itself.
struct Fd {
  int fd;
  ~Fd() {
    if (fd >= 0) close(fd);
  }
};

}  // namespace

std::string to_json(const Result& r) {
  json j = {{"schema", "ridge.result/1"},
            {"attempt", r.attempt},
            {"time", r.time},
            {"lab", r.lab},
            {"title", r.title},
            {"mode", r.mode},
            {"standing", r.standing},
            {"backend", r.backend},
            {"outcome", r.outcome},
            {"ridge", {{"version", kVersion}, {"commit", kCommit}}},
            {"nonce", r.nonce},
            {"submission",
             {{"path", r.submission_path}, {"files", r.submission_files}, {"sha256", combined(r.submission_files)}}},
            {"harness", {{"files", r.harness_files}, {"sha256", combined(r.harness_files)}}},
            {"device", r.device},
            {"compiler", {{"name", r.compiler}, {"flags", r.compiler_flags}}},
            {"seconds", {{"build", r.build_seconds}, {"run", r.run_seconds}}},
            {"score", {{"points", r.points}, {"max", r.max}, {"coverage", r.coverage}}}};
  j["sandbox"] = {{"complete", sandbox_complete(r.sandbox)}, {"layers", json::array()}};
  for (const auto& l : r.sandbox)
    j["sandbox"]["layers"].push_back({{"name", l.name}, {"on", l.on}, {"reason", l.reason}});
  if (!r.program_sha256.empty()) j["program"] = {{"sha256", r.program_sha256}, {"built", "apart"}};
  if (!r.build_output.empty()) j["build_output"] = r.build_output;
  j["tasks"] = json::array();
  for (const auto& t : r.tasks) j["tasks"].push_back(task_json(t));
  j["ceilings"] = json::array();
  for (const auto& c : r.ceilings)
    j["ceilings"].push_back(
        {{"id", c.id}, {"kind", c.kind}, {"name", c.name}, {"value", c.value}, {"unit", c.unit}, {"source", c.source}});
  return printable(canonical(j));
}

std::string new_attempt_id(std::string& time) {
  auto now = std::chrono::system_clock::now();
  auto seconds = std::chrono::system_clock::to_time_t(now);
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  time = utc_text(kDateAndTime, seconds);
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) random = static_cast<std::uint32_t>(getpid());
  return fmt::format("{}.{:03}Z-{:06x}", utc_text("%Y%m%dT%H%M%S", seconds), ms, random & 0xFFFFFF);
}

std::string new_nonce() {
  unsigned char bytes[16];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error(Exit::environment, "no random numbers", "try again");
  std::string text;
  for (unsigned char b : bytes) text += fmt::format("{:02x}", b);
  return text;
}

void write_durably(const fs::path& file, const std::string& text) {
  auto fail = [&](const std::string& what) {
    throw Error(Exit::environment,
                fmt::format("cannot {} {}: {}; earlier results are untouched", what, shown(file), std::strerror(errno)),
                "free some space, or set RIDGE_RESULTS to a folder that can be written");
  };
  std::error_code ec;
  fs::create_directories(file.parent_path(), ec);
  if (ec) {
    errno = ec.value();
    fail("make the folder of");
  }
  fs::path temporary = file.string() + fmt::format(".{}.tmp", getpid());
  bool done = false;
  int failed_with = 0;
  {
    Fd out{open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)};
    if (out.fd < 0) fail("create");
    std::size_t at = 0;
    while (at < text.size()) {
      ssize_t n = write(out.fd, text.data() + at, text.size() - at);
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      at += static_cast<std::size_t>(n);
    }
    done = at == text.size() && fsync(out.fd) == 0;
    failed_with = errno;
  }
  if (done && rename(temporary.c_str(), file.c_str()) != 0) {
    done = false;
    failed_with = errno;
  }
  if (!done) {
    unlink(temporary.c_str());
    errno = failed_with;
    fail("write");
  }
  Fd folder{open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (folder.fd >= 0) fsync(folder.fd);
}

fs::path store(const Result& r, const std::string& text) {
  fs::path file = results_dir() / r.lab / (r.attempt + ".json");
  write_durably(file, text);
  return file;
}

}  // namespace ridge
