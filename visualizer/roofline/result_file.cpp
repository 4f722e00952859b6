#include "roofline/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "formats/json_fields.hpp"
#include "kit/files.hpp"

namespace ridge::viz {
namespace {

using nlohmann::json;
constexpr std::string_view kSchema = "ridge.result/1";

using Field = JsonField<>;

Roofline read_roofline(const Field& field) {
  Roofline r;
  r.operation_unit = field["operation_unit"].text();
  if (r.operation_unit.empty()) r.operation_unit = "operation";
  r.operations = field["operations"].number();
  r.bytes = field["bytes"].number();
  r.bytes_ideal = field["bytes_ideal"].number();
  r.seconds = field["seconds"].number();
  const auto basis = field["basis"].text();
  if (basis != "counted" && basis != "timed") field["basis"].fail("\"counted\" or \"timed\"");
  r.basis = basis == "timed" ? Basis::timed : Basis::counted;
  return r;
}

std::string first_failure(const Field& task) {
  for (const char* list : {"checks", "cases"})
    for (const Field& check : task[list].items())
      if (check["status"].text() == "failed") {
        const auto message = check["message"].text();
        return message.empty() ? check["name"].text() : check["name"].text() + ": " + message;
      }
  return {};
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) return {};
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::optional<double> median_of(const Field& list) {
  std::vector<double> values;
  for (const Field& item : list.items())
    if (const auto value = item.number()) values.push_back(*value);
  return median(std::move(values));
}

KernelCounts read_kernel(const Field& field) {
  KernelCounts k;
  k.kernel = field["kernel"].text();
  k.launches = field["launches"].number().value_or(0);
  const Field counters = field["counters"];
  k.l1 = counters["ridge__bytes_l1.sum"].number();
  k.l2 = counters["ridge__bytes_l2.sum"].number();
  k.dram = counters["ridge__bytes_dram.sum"].number();
  return k;
}

Task read_task(const Field& field) {
  Task t;
  t.id = field["id"].text();
  if (t.id.empty()) field["id"].fail("a name");
  t.title = field["title"].text();
  t.status = field["status"].text();
  t.reason = field["reason"].text();
  t.points = field["points"].number().value_or(0);
  t.max = field["max"].number().value_or(0);
  t.first_failure = first_failure(field);
  if (field["roofline"]) t.roofline = read_roofline(field["roofline"]);
  for (const Field& kernel : field["kernels"].items()) t.kernels.push_back(read_kernel(kernel));
  if (field["timing"]) {
    t.vendor_seconds = median_of(field["timing"]["baseline_s"]);
    t.reference_seconds = median_of(field["timing"]["reference_s"]);
  }
  // The unit of a ratio names the baseline: "x cuBLASLt".
  for (const Field& goal : field["goals"].items())
    if (const auto unit = goal["unit"].text(); t.vendor.empty() && unit.starts_with("x ")) t.vendor = unit.substr(2);
  return t;
}

std::optional<Ceiling> read_ceiling(const Field& field) {
  const auto value = field["value"].number();
  if (!value || *value == 0) return {};  // not measured, so there is no roof to draw
  if (*value < 1 || *value > 1e24) field["value"].fail("null or a rate between 1 and 1e24 a second");
  Ceiling c;
  c.id = field["id"].text();
  const auto kind = field["kind"].text();
  if (kind != "bandwidth" && kind != "compute") field["kind"].fail("\"bandwidth\" or \"compute\"");
  c.kind = kind == "bandwidth" ? CeilingKind::bandwidth : CeilingKind::compute;
  c.name = field["name"].text();
  if (c.name.empty()) c.name = c.id;
  c.value = *value;
  c.unit = field["unit"].text();
  c.source = field["source"].text();
  c.low = field["low"].number();
  c.high = field["high"].number();
  if (c.low && c.high && !(*c.low > 0 && *c.low <= c.value && c.value <= *c.high)) c.low = c.high = {};
  return c;
}

Result from_json(const json& document) {
  const Field root(document);
  if (!document.is_object()) throw ResultError("the top level is not a JSON object");
  const auto schema = root["schema"].text();
  if (schema != kSchema)
    throw ResultError(schema.empty() ? std::string("there is no field 'schema'")
                                     : fmt::format("its schema is '{}'", schema));
  Result r;
  r.attempt = root["attempt"].text();
  r.time = root["time"].text();
  r.lab = root["lab"].text();
  r.title = root["title"].text();
  r.mode = root["mode"].text();
  r.standing = root["standing"].text();
  r.backend = root["backend"].text();
  r.outcome = root["outcome"].text();
  r.submission = root["submission"]["path"].text();
  const Field device = root["device"];
  r.device = device["name"].text();
  if (const auto profile = device["profile"].text(); !profile.empty())
    r.device += (r.device.empty() ? "" : ", ") + profile;
  r.points = root["score"]["points"].number().value_or(0);
  r.max = root["score"]["max"].number().value_or(0);
  for (const Field& task : root["tasks"].items()) r.tasks.push_back(read_task(task));
  for (const Field& ceiling : root["ceilings"].items())
    if (auto c = read_ceiling(ceiling)) r.ceilings.push_back(std::move(*c));
  if (r.tasks.empty())
    throw ResultError(r.outcome == "build-failed" ? "it has no tasks: the submission did not build"
                                                  : "it has no tasks");
  return r;
}

json document_of(const std::string& text, const std::filesystem::path& file, const char* advice) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    throw ResultError(
        fmt::format("cannot read '{}': not JSON (near byte {})\n  try: {}", file.string(), e.byte, advice));
  }
}

// Returns the result of `read` on the document. Its errors get the file's name and `advice`.
template <typename Read>
auto parsed(const std::string& text, const std::filesystem::path& file, const char* advice, Read read) {
  const json document = document_of(text, file, advice);
  try {
    return read(document);
  } catch (const std::runtime_error& e) {  // ResultError or JsonFieldError
    throw ResultError(fmt::format("cannot read '{}': {}\n  try: {}", file.string(), e.what(), advice));
  }
}

void expect_schema(const json& document, std::string_view schema) {
  if (!document.is_object()) throw ResultError("the top level is not a JSON object");
  const auto own = Field(document)["schema"].text();
  if (own.empty()) throw ResultError("there is no field 'schema'");
  if (own != schema) throw ResultError(fmt::format("its schema is '{}', not '{}'", own, schema));
}

constexpr const char* kResultAdvice = "a ridge.result/1 file, fresh from `ridge check NN --json F`";
constexpr const char* kStepsAdvice = "a ridge.steps/1 file, which `ridge bench --steps` writes";
constexpr const char* kCalibrationAdvice = "a ridge.calibration/1 file, which `ridge calibrate` writes";

Task task_of_step(const Field& step) {
  Task t;
  t.id = step["task"].text();
  if (t.id.empty()) step["task"].fail("a name");
  t.title = step["idea"].text();
  t.status = step["status"].text();
  t.reason = step["reason"].text();
  t.vendor = step["baseline"].text();
  const Field timing = step["timing"];
  if (!timing) return t;
  Roofline r;
  r.operation_unit = step["operation_unit"].text();
  if (r.operation_unit.empty()) r.operation_unit = "operation";
  r.operations = timing["operations"].number();
  r.bytes = r.bytes_ideal = timing["bytes"].number();
  r.seconds = median_of(timing["submission_s"]);
  r.basis = Basis::timed;
  t.roofline = r;
  t.vendor_seconds = median_of(timing["baseline_s"]);
  return t;
}

std::vector<Result> steps_of(const json& document, const std::filesystem::path& file) {
  expect_schema(document, "ridge.steps/1");
  const Field root(document);
  std::vector<Result> results;
  std::map<std::string, std::size_t> seen, order;  // by task
  for (const Field& step : root["steps"].items()) {
    Task task = task_of_step(step);
    order.try_emplace(task.id, order.size());
    const std::size_t at = seen[task.id]++;
    if (at == results.size()) {
      Result r;
      r.file = file;
      r.attempt = fmt::format("step {}", at + 1);
      r.time = root["date"].text();
      r.lab = root["lab"].text();
      r.title = r.lab;
      r.mode = root["mode"].text();
      r.backend = root["backend"].text();
      r.device = root["device"]["name"].text();
      r.steps = true;
      results.push_back(std::move(r));
    }
    results[at].tasks.push_back(std::move(task));
  }
  if (results.empty()) throw ResultError("it has no steps");
  // A task with fewer steps keeps its last step.
  for (std::size_t i = 1; i < results.size(); ++i)
    for (const Task& before : results[i - 1].tasks)
      if (std::none_of(results[i].tasks.begin(), results[i].tasks.end(),
                       [&](const Task& t) { return t.id == before.id; }))
        results[i].tasks.push_back(before);
  for (Result& r : results)
    std::sort(r.tasks.begin(), r.tasks.end(), [&](const Task& a, const Task& b) { return order[a.id] < order[b.id]; });
  return results;
}

std::vector<Ceiling> calibration_of(const json& document) {
  expect_schema(document, "ridge.calibration/1");
  // Links and one-way traffic do not limit a kernel's rate.
  static constexpr std::array kNoRoofs{"memcpy", "read", "write", "h2d", "d2h", "nvlink"};
  std::vector<Ceiling> all;
  for (const Field& field : Field(document)["ceilings"].items()) {
    const auto id = field["id"].text();
    if (field["kind"].text() == "latency" || std::find(kNoRoofs.begin(), kNoRoofs.end(), id) != kNoRoofs.end())
      continue;
    auto ceiling = read_ceiling(field);
    if (!ceiling) continue;
    if (ceiling->id == "copy") ceiling->id = "hbm";
    ceiling->source = "measured: " + field["method"].text();
    all.push_back(std::move(*ceiling));
  }
  std::stable_partition(all.begin(), all.end(), [](const Ceiling& c) { return c.id == "hbm"; });
  if (all.empty()) throw ResultError("it has no ceilings");
  return all;
}

std::string text_of(const std::filesystem::path& file) {
  std::string why;
  if (auto text = read_file(file, &why)) return *text;
  throw ResultError(fmt::format("cannot read '{}': {}\n  try: ls work/.ridge/results/*/*.json", file.string(), why));
}

}  // namespace

Result parse_result(const std::string& text, const std::filesystem::path& file) {
  Result result = parsed(text, file, kResultAdvice, from_json);
  result.file = file;
  return result;
}

std::vector<Result> parse_steps(const std::string& text, const std::filesystem::path& file) {
  return parsed(text, file, kStepsAdvice, [&](const json& document) { return steps_of(document, file); });
}

std::vector<Ceiling> parse_calibration(const std::string& text, const std::filesystem::path& file) {
  return parsed(text, file, kCalibrationAdvice, calibration_of);
}

Result read_result(const std::filesystem::path& file) { return parse_result(text_of(file), file); }
std::vector<Result> read_steps(const std::filesystem::path& file) { return parse_steps(text_of(file), file); }
std::vector<Ceiling> read_calibration(const std::filesystem::path& file) {
  return parse_calibration(text_of(file), file);
}

}  // namespace ridge::viz
