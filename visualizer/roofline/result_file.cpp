#include "roofline/result_file.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace ridge::viz {
namespace {

using nlohmann::json;
constexpr std::string_view kSchema = "ridge.result/1";

// A JSON value and where it stands, so that an error can name the field.
class Field {
 public:
  Field(const json* value, std::string where) : value_(value), where_(std::move(where)) {}

  Field operator[](const char* key) const {
    if (value_ && !value_->is_object()) fail("an object");
    const bool has = value_ && value_->contains(key) && !(*value_)[key].is_null();
    return {has ? &(*value_)[key] : nullptr, where_.empty() ? key : where_ + "." + key};
  }
  explicit operator bool() const { return value_ != nullptr; }

  std::string text() const {
    if (!value_) return {};
    if (!value_->is_string()) fail("a string");
    return value_->get<std::string>();
  }

  // null and absent both mean: not measured.
  std::optional<double> number() const {
    if (!value_) return {};
    if (!value_->is_number() || value_->get<double>() < 0) fail("a number >= 0, or null");
    return value_->get<double>();
  }

  std::vector<Field> items() const {
    std::vector<Field> out;
    if (!value_) return out;
    if (!value_->is_array()) fail("an array");
    for (std::size_t i = 0; i < value_->size(); ++i) out.emplace_back(&(*value_)[i], fmt::format("{}[{}]", where_, i));
    return out;
  }

  [[noreturn]] void fail(std::string_view wanted) const {
    throw ResultError(fmt::format("field '{}' is not {}", where_, wanted));
  }

 private:
  const json* value_;
  std::string where_;
};

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
  return t;
}

std::optional<Ceiling> read_ceiling(const Field& field) {
  const auto value = field["value"].number();
  if (!value || *value == 0) return {};  // not measured: there is no roof to draw
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
  return c;
}

Result from_json(const json& document) {
  const Field root(&document, "");
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

}  // namespace

Result parse_result(const std::string& text, const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why, std::string_view advice) {
    return ResultError(fmt::format("cannot read result '{}': {}\n  try: {}", file.string(), why, advice));
  };
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& e) {
    throw refuse(fmt::format("not JSON (near byte {})", e.byte),
                 "a file that `ridge check NN --json F` or `ridge grade NN --json F` wrote");
  }
  try {
    Result result = from_json(document);
    result.file = file;
    return result;
  } catch (const ResultError& e) {
    throw refuse(e.what(), fmt::format("a {} file, fresh from `ridge check NN --json F`", kSchema));
  }
}

Result read_result(const std::filesystem::path& file) {
  const auto refuse = [&](std::string_view why) {
    return ResultError(
        fmt::format("cannot read result '{}': {}\n  try: ls work/.ridge/results/*/*.json", file.string(), why));
  };
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) throw refuse("it is a directory");
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  if (!in) throw refuse(std::strerror(errno ? errno : EIO));
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (in.bad()) throw refuse("reading stopped half-way");
  return parse_result(text, file);
}

}  // namespace ridge::viz
