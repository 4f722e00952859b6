#include "grader/result/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"
#include "grader/base/error.hpp"
#include "grader/result/signature.hpp"

namespace ridge {

using nlohmann::json;

namespace {

constexpr int kMaxDepth = 32;  // printing and freeing recurse

// Reads what is there and of the right kind.
class Fields {
 public:
  explicit Fields(const json& j) : j_(j) {}

  void get(const char* key, std::string& to) const {
    if (const json* v = find(key); v != nullptr && v->is_string()) to = v->get<std::string>();
  }
  void get(const char* key, double& to) const {
    if (const json* v = find(key); v != nullptr && v->is_number()) to = v->get<double>();
  }
  void get(const char* key, bool& to) const {
    if (const json* v = find(key); v != nullptr && v->is_boolean()) to = v->get<bool>();
  }
  void get(const char* key, std::optional<double>& to) const {
    if (const json* v = find(key); v != nullptr && v->is_number()) to = v->get<double>();
  }
  void get(const char* key, std::map<std::string, std::string>& to) const {
    for (const auto& [name, value] : inside(key).items())
      if (value.is_string()) to[name] = value.get<std::string>();
  }
  void get(const char* key, std::vector<double>& to) const {
    for (const json& value : list(key))
      if (value.is_number()) to.push_back(value.get<double>());
  }
  template <Named E>
  void get(const char* key, E& to) const {
    std::string word;
    get(key, word);
    if (const auto value = parse<E>(word); value && !word.empty()) to = *value;
  }
  const json& list(const char* key) const {
    static const json none = json::array();
    const json* v = find(key);
    return v != nullptr && v->is_array() ? *v : none;
  }
  const json& inside(const char* key) const {
    static const json none = json::object();
    const json* v = find(key);
    return v != nullptr && v->is_object() ? *v : none;
  }
  bool has(const char* key) const { return !inside(key).empty(); }

 private:
  const json* find(const char* key) const {
    if (!j_.is_object()) return nullptr;
    auto at = j_.find(key);
    return at == j_.end() ? nullptr : &*at;
  }
  const json& j_;
};

template <class Item>
Item check_or_case(const json& j) {
  Fields f(j);
  Item item;
  Status status = Status::failed;
  f.get("name", item.name);
  f.get("status", status);
  f.get("message", item.message);
  if constexpr (std::is_same_v<Item, CheckResult>) f.get("picture", item.picture);
  item.passed = status == Status::passed;
  return item;
}

GoalResult read_goal(const json& j) {
  Fields f(j);
  GoalResult g;
  f.get("id", g.id), f.get("title", g.title), f.get("metric", g.metric), f.get("unit", g.unit), f.get("note", g.note);
  f.get("value", g.value), f.get("zero", g.zero), f.get("full", g.full);
  f.get("points", g.points), f.get("max", g.max), f.get("met", g.met);
  return g;
}

LineCount read_line(const json& j) {
  Fields f(j);
  LineCount n;
  double line = 0;
  f.get("file", n.file), f.get("op", n.op), f.get("line", line);
  n.line = line >= 0 && line < 1e9 ? static_cast<int>(line) : 0;
  auto count = [&](const char* key, std::uint64_t& to) {
    double value = 0;
    f.get(key, value);
    if (value > 0 && value < 1e18) to = static_cast<std::uint64_t>(value);
  };
  count("requests", n.requests), count("lanes", n.lanes), count("bytes", n.bytes), count("sectors", n.sectors);
  count("ideal_sectors", n.ideal_sectors), count("wavefronts", n.wavefronts), count("conflicts", n.conflicts);
  std::vector<double> step;
  f.get("lane_step", step);
  if (step.size() == 2 && std::abs(step[0]) < 1e18 && std::abs(step[1]) < 1e18)
    n.lane_step = {static_cast<std::int64_t>(step[0]), static_cast<std::int64_t>(step[1])};
  return n;
}

KernelCount read_kernel(const json& j) {
  Fields f(j);
  KernelCount k;
  double launches = 0;
  f.get("kernel", k.kernel), f.get("launches", launches);
  k.launches = launches >= 0 && launches < 1e9 ? static_cast<int>(launches) : 0;
  auto triple = [&](const char* key, std::array<std::uint64_t, 3>& to) {
    std::vector<double> v;
    f.get(key, v);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, v.size()); ++i)
      if (v[i] >= 0 && v[i] < 1e12) to[i] = static_cast<std::uint64_t>(v[i]);
  };
  triple("grid", k.grid), triple("block", k.block);
  for (const auto& [name, value] : f.inside("counters").items())
    if (value.is_number_unsigned()) k.counters[name] = value.get<std::uint64_t>();
  for (const json& l : f.list("lines")) k.lines.push_back(read_line(l));
  return k;
}

TaskResult read_task(const json& j) {
  Fields f(j);
  TaskResult t;
  t.status = Status::failed;
  f.get("id", t.id), f.get("title", t.title), f.get("status", t.status), f.get("reason", t.reason);
  f.get("points", t.points), f.get("max", t.max), f.get("output", t.output), f.get("output_bytes", t.output_bytes);
  for (const json& c : f.list("checks")) {
    t.checks.push_back(check_or_case<CheckResult>(c));
    t.checks.back().cause = cause_named(text_at(c, "cause", 64));
  }
  for (const json& c : f.list("cases")) t.cases.push_back(check_or_case<CaseResult>(c));
  for (const json& g : f.list("goals")) t.goals.push_back(read_goal(g));
  for (const json& k : f.list("kernels")) t.kernels.push_back(read_kernel(k));
  if (f.has("timeline")) {
    Timeline timeline;
    Fields in(f.inside("timeline"));
    in.get("seconds", timeline.seconds), in.get("launches", timeline.launches), in.get("file", t.trace);
    in.get("wrong_case", timeline.wrong_case);
    t.timeline = timeline;
  }
  if (f.has("warp")) Fields(f.inside("warp")).get("file", t.warp_name);
  if (f.has("roofline")) {
    Roofline roof;
    Fields in(f.inside("roofline"));
    in.get("operations", roof.operations), in.get("operation_unit", roof.operation_unit), in.get("bytes", roof.bytes);
    in.get("bytes_ideal", roof.bytes_ideal), in.get("seconds", roof.seconds);
    t.roofline = roof;
  }
  if (f.has("timing")) {
    Fields in(f.inside("timing")), ratio(in.inside("ratio"));
    Timing timing;
    in.get("submission_s", timing.submission_s), in.get("baseline_s", timing.baseline_s);
    ratio.get("median", timing.median), ratio.get("low", timing.low), ratio.get("high", timing.high);
    in.get("bytes", timing.bytes), in.get("round_trip_s", timing.round_trip_s);
    t.timings.push_back(timing);
  }
  return t;
}

}  // namespace

std::string canonical(const json& record) {
  // Messages quote what submissions print, which may be anything: no text makes a record impossible.
  return record.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

json parse_json(std::string_view text) {
  if (text.size() > kMaxRecordBytes) throw Error(Exit::failed, "larger than 16 MiB", "");
  bool too_deep = false;
  auto watch = [&](int depth, json::parse_event_t, json&) {
    if (depth > kMaxDepth) too_deep = true;
    return !too_deep;  // drops what is deeper
  };
  json j = json::parse(text, watch, false);
  if (too_deep) throw Error(Exit::failed, fmt::format("nested more than {} deep", kMaxDepth), "");
  if (j.is_discarded()) throw Error(Exit::failed, "not JSON", "");
  return j;
}

std::string signed_record(const std::string& text, const fs::path& key_file) {
  json record = json::parse(text);
  record.erase("signature");
  Signature s = sign(canonical(record), key_file);
  record["signature"] = {
      {"algorithm", "ed25519"}, {"key_id", s.key.id()}, {"public_key", s.key.hex()}, {"value", s.value}};
  return canonical(record);
}

Result read_result(const json& record) {
  Fields f(record);
  Result r;
  f.get("attempt", r.attempt), f.get("time", r.time), f.get("lab", r.lab), f.get("title", r.title);
  f.get("mode", r.mode), f.get("standing", r.standing), f.get("backend", r.backend), f.get("outcome", r.outcome);
  f.get("nonce", r.nonce), f.get("build_output", r.build_output), f.get("device", r.device);
  Fields submission(f.inside("submission")), compiler(f.inside("compiler")), harness(f.inside("harness"));
  submission.get("path", r.submission_path), submission.get("files", r.submission_files);
  harness.get("files", r.harness_files);
  compiler.get("name", r.compiler), compiler.get("flags", r.compiler_flags);
  Fields score(f.inside("score")), seconds(f.inside("seconds"));
  score.get("points", r.points), score.get("max", r.max), score.get("coverage", r.coverage);
  seconds.get("build", r.build_seconds), seconds.get("run", r.run_seconds);
  Fields sandbox(f.inside("sandbox"));
  bool complete = false;
  sandbox.get("complete", complete);
  for (const json& l : sandbox.list("layers")) {
    Fields layer(l);
    SandboxLayer one;
    layer.get("name", one.name), layer.get("on", one.on), layer.get("reason", one.reason);
    one.required = !complete;  // a record does not say which of those that are off mattered
    r.sandbox.push_back(std::move(one));
  }
  for (const json& t : f.list("tasks")) r.tasks.push_back(read_task(t));
  for (const json& c : f.list("ceilings")) {
    Fields in(c);
    Ceiling roof;
    in.get("id", roof.id), in.get("kind", roof.kind), in.get("name", roof.name), in.get("unit", roof.unit);
    in.get("source", roof.source), in.get("value", roof.value);
    r.ceilings.push_back(std::move(roof));
  }
  return r;
}

}  // namespace ridge
