// Reads the output of Nsight Compute's `--csv --page raw` for the grader and the visualizer.
#pragma once
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
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

// ncu prints numbers as the user's locale does: "1,234.5", "1.234,5", "1 234,5", "1'234.5". The mark that this field
// shows to be the decimal one, 0 where it may be either ("1,234", "17").
inline char decimal_mark(const std::string& field) {
  constexpr const char* kSpaces = " '\u202f\u00a0";
  if (field.find_first_not_of(std::string("0123456789.,+-") + kSpaces) != std::string::npos) return 0;
  const auto last = field.find_last_of(".,");
  if (last == std::string::npos) return 0;
  const char mark = field[last], other = mark == '.' ? ',' : '.';
  if (field.find_first_of(kSpaces) != std::string::npos) return mark;  // "1 234,5"
  if (field.find(mark) != last) return other;                          // "1.234.567": it groups
  if (field.find(other) != std::string::npos) return mark;             // "1.234,5"
  const auto first = field.find_first_of("0123456789");
  const bool groups = field.size() - last == 4 && first < last && last - first <= 3 && field[first] != '0';
  return groups ? 0 : mark;
}

// "1,234.5" -> 1234.5; false where the field is no number ("n/a", "").
inline bool number(const std::string& field, char mark, double& value) {
  std::string plain;
  for (std::size_t i = 0; i < field.size(); ++i) {
    const auto is = [&](std::string_view text) { return field.compare(i, text.size(), text) == 0; };
    if (is("\u202f"))
      i += 2;
    else if (is("\u00a0"))
      ++i;
    else if (field[i] == mark)
      plain += '.';
    else if (field[i] != '.' && field[i] != ',' && field[i] != ' ' && field[i] != '\'')
      plain += field[i];
  }
  if (plain.empty()) return false;
  char* end = nullptr;
  value = std::strtod(plain.c_str(), &end);
  return *end == '\0';
}

// The factor that turns a value of this unit into the base unit. By default ncu scales bytes and times for readers.
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
// ("==PROF== ...", a program's output) are skipped. Throws NcuFormatError where there is no table, a row does not fit,
// or numbers have now a point and now a comma.
inline std::vector<NcuLaunch> read_ncu_csv(const std::string& text) {
  struct Row {
    std::size_t header, units;  // in `heads`; units 0: none
    std::vector<std::string> fields;
  };
  std::vector<Row> rows;
  std::vector<std::vector<std::string>> heads{{}};  // headers and units; the first is empty
  std::size_t header = 0, units = 0;
  bool point = false, comma = false;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '"') {  // not a row of the table: they quote every field
      std::size_t end = text.find('\n', at);
      at = end == std::string::npos ? text.size() : end + 1;
      continue;
    }
    std::vector<std::string> fields = ncu::read_record(text, at);
    if (fields[0] == "ID") {
      header = heads.size();
      units = 0;
      heads.push_back(std::move(fields));
      continue;
    }
    if (header == 0) continue;
    const std::vector<std::string>& names = heads[header];
    if (fields.size() != names.size())
      throw NcuFormatError(fmt::format("ncu's CSV has a row of {} fields under a header of {}: it starts with \"{}\"",
                                       fields.size(), names.size(), fields[0]),
                           "is the file complete? Record it again with --csv --page raw");
    if (fields[0].empty()) {
      units = heads.size();
      heads.push_back(std::move(fields));
      continue;
    }
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (names[i].find("__") != std::string::npos) {
        const char mark = ncu::decimal_mark(fields[i]);
        point = point || mark == '.';
        comma = comma || mark == ',';
      }
    rows.push_back({header, units, std::move(fields)});
  }
  if (header == 0)
    throw NcuFormatError("there is no table of ncu's in the CSV file", "record it with `ncu --csv --page raw`");
  if (point && comma)
    throw NcuFormatError("ncu's CSV has numbers with a decimal point and numbers with a decimal comma",
                         "record all of it with LC_ALL=C");
  std::vector<NcuLaunch> launches;
  for (const Row& row : rows) {
    const std::vector<std::string>&names = heads[row.header], &unit = heads[row.units];
    NcuLaunch launch;
    for (std::size_t i = 0; i < names.size(); ++i) {
      double value = 0;
      if (names[i] == "Kernel Name")
        launch.kernel = bare_kernel_name(row.fields[i]);
      else if (names[i] == "Grid Size")
        launch.grid = ncu::dimensions(row.fields[i]);
      else if (names[i] == "Block Size")
        launch.block = ncu::dimensions(row.fields[i]);
      else if (names[i].find("__") != std::string::npos && ncu::number(row.fields[i], comma ? ',' : '.', value))
        launch.metrics[names[i]] = value * (unit.empty() ? 1 : ncu::scale_of(unit[i]));
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

}  // namespace ridge
