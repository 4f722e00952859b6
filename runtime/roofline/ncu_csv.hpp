// What Nsight Compute prints with `--csv --page raw`: read by the grader and by the visualizer.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace ridge {

// There is no table, or a row does not fit its header.
struct NcuFormatError : std::runtime_error {
  NcuFormatError(const std::string& what_failed, std::string what_to_try)
      : std::runtime_error(what_failed), advice(std::move(what_to_try)) {}
  std::string advice;
};

struct NcuLaunch {
  std::string kernel;                     // without return type, template arguments and parameters
  std::string grid, block;                // "64x1x1"; empty where the file does not say
  std::map<std::string, double> metrics;  // bytes and nanoseconds where the unit row says otherwise; missing: not there
};

namespace ncu {

// The fields of the record that starts at `at`, which moves behind it. Quoted fields may hold commas, "" and newlines.
inline std::vector<std::string> read_record(const std::string& text, std::size_t& at) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (at + 1 < text.size() && text[at + 1] == '"') {
        fields.back() += c;
        ++at;
      } else {
        quoted = false;
      }
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      fields.emplace_back();
    } else if (c == '\n') {
      ++at;
      break;
    } else if (c != '\r') {
      fields.back() += c;
    }
  }
  return fields;
}

// "1,234.5" -> 1234.5; false where the field is no number ("n/a", "").
inline bool number(std::string field, double& value) {
  field.erase(std::remove(field.begin(), field.end(), ','), field.end());
  if (field.empty()) return false;
  char* end = nullptr;
  value = std::strtod(field.c_str(), &end);
  return *end == '\0';
}

// What a value of this unit is multiplied by: ncu scales bytes and times for people unless told otherwise.
inline double scale_of(const std::string& unit) {
  static const std::map<std::string, double> scales = {
      {"Kbyte", 1e3},   {"Mbyte", 1e6}, {"Gbyte", 1e9},  {"Tbyte", 1e12}, {"us", 1e3},  {"usecond", 1e3}, {"ms", 1e6},
      {"msecond", 1e6}, {"s", 1e9},     {"second", 1e9}, {"Khz", 1e3},    {"Mhz", 1e6}, {"Ghz", 1e9}};
  // Rates are a second's: bytes, cycles, instructions.
  static const std::map<std::string, double> per = {{"second", 1}, {"s", 1},         {"ms", 1e3}, {"msecond", 1e3},
                                                    {"us", 1e6},   {"usecond", 1e6}, {"ns", 1e9}, {"nsecond", 1e9}};
  if (auto slash = unit.find('/'); slash != std::string::npos) {
    auto rate = per.find(unit.substr(slash + 1));
    if (rate == per.end()) return 1;
    auto amount = scales.find(unit.substr(0, slash));
    return rate->second * (amount == scales.end() ? 1 : amount->second);
  }
  auto found = scales.find(unit);
  return found == scales.end() ? 1 : found->second;
}

// "(64, 1, 1)" -> "64x1x1".
inline std::string dimensions(const std::string& field) {
  std::string out;
  for (char c : field) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) out += c;
    if (c == ',') out += 'x';
  }
  return out;
}

}  // namespace ncu

// "void copy<(int)4>(const float *, int)" -> "copy".
inline std::string bare_kernel_name(const std::string& name) {
  std::string out = name.substr(0, name.find_first_of("(<"));
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (auto space = out.rfind(' '); space != std::string::npos) out.erase(0, space + 1);
  return out;
}

// Reads one or several reports after each other, each with a header row and a row of units. Lines outside of the tables
// ("==PROF== ...", a program's output) are skipped. Throws NcuFormatError where there is no table, or a row does not fit.
inline std::vector<NcuLaunch> read_ncu_csv(const std::string& text) {
  std::vector<NcuLaunch> launches;
  std::vector<std::string> header, units;
  std::size_t at = 0;
  while (at < text.size()) {
    if (text[at] != '"') {  // not a row of the table: they quote every field
      std::size_t end = text.find('\n', at);
      at = end == std::string::npos ? text.size() : end + 1;
      continue;
    }
    std::vector<std::string> fields = ncu::read_record(text, at);
    if (fields[0] == "ID") {
      header = fields;
      units.clear();
      continue;
    }
    if (header.empty()) continue;
    if (fields.size() != header.size())
      throw NcuFormatError(fmt::format("ncu's CSV has a row of {} fields under a header of {}: it starts with \"{}\"",
                                       fields.size(), header.size(), fields[0]),
                           "is the file complete? Record it again with --csv --page raw");
    if (fields[0].empty()) {
      units = fields;
      continue;
    }
    NcuLaunch launch;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      double value = 0;
      if (header[i] == "Kernel Name")
        launch.kernel = bare_kernel_name(fields[i]);
      else if (header[i] == "Grid Size")
        launch.grid = ncu::dimensions(fields[i]);
      else if (header[i] == "Block Size")
        launch.block = ncu::dimensions(fields[i]);
      else if (header[i].find("__") != std::string::npos && ncu::number(fields[i], value))
        launch.metrics[header[i]] = value * (units.empty() ? 1 : ncu::scale_of(units[i]));
    }
    launches.push_back(std::move(launch));
  }
  if (header.empty())
    throw NcuFormatError("there is no table of ncu's in the CSV file", "record it with `ncu --csv --page raw`");
  return launches;
}

}  // namespace ridge
