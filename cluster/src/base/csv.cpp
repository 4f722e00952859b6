#include "cluster/src/base/csv.hpp"

#include <fmt/format.h>
#include <iconv.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/source_text.hpp"

namespace ridge::cluster {

namespace {

constexpr std::size_t kMaxBytes = 64 << 20;

// Returns nothing if the text is not in this encoding.
std::optional<std::string> converted(std::string text, const char* to_encoding, const char* from_encoding) {
  const iconv_t converter = iconv_open(to_encoding, from_encoding);
  if (converter == reinterpret_cast<iconv_t>(-1)) return std::nullopt;
  std::string out(3 * text.size() + 1, '\0');
  char *from = text.data(), *to = out.data();
  std::size_t left = text.size(), room = out.size();
  const std::size_t result = iconv(converter, &from, &left, &to, &room);
  iconv_close(converter);
  if (result == static_cast<std::size_t>(-1)) return std::nullopt;
  out.resize(out.size() - room);
  return out;
}

std::string lower_trimmed(std::string_view text) { return lower(trimmed(std::string(text))); }

}  // namespace

int Csv::column(std::initializer_list<std::string_view> names) const {
  if (rows.empty()) return -1;
  for (std::string_view name : names)
    for (std::size_t i = 0; i < rows[0].size(); ++i)
      if (lower_trimmed(rows[0][i].text) == lower_trimmed(name)) return static_cast<int>(i);
  return -1;
}

const std::string& Csv::at(std::size_t row, int column) const {
  static const std::string none;
  if (row >= rows.size() || column < 0 || static_cast<std::size_t>(column) >= rows[row].size()) return none;
  return rows[row][static_cast<std::size_t>(column)].text;
}

Csv parse_csv(std::string text, const std::string& name) {
  if (text.size() > kMaxBytes) throw Error(Exit::usage, name + " is larger than 64 MiB", "is it a CSV file?");
  Csv csv;
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) {
    csv.encoding = text[0] == '\xFF' ? "UTF-16LE" : "UTF-16BE";
    text = source_text(text).value_or(text);
  }
  csv.text = std::move(text);
  const std::string& s = csv.text;
  std::size_t at = s.rfind("\xEF\xBB\xBF", 0) == 0 ? 3 : 0;
  const std::string_view first = std::string_view(s).substr(at, s.find_first_of("\r\n", at) - at);
  std::map<char, int> counts;  // outside of quotes: titles may hold commas
  bool quoted = false;
  for (const char c : first) {
    if (c == '"') quoted = !quoted;
    if (!quoted) ++counts[c];
  }
  for (const char c : {';', '\t'})
    if (counts[c] > counts[csv.separator]) csv.separator = c;
  std::size_t line = 1;
  CsvRow row;
  while (at < s.size()) {
    CsvField f;
    f.begin = at;
    if (s[at] == '"') {
      const std::size_t opened = line;
      for (++at;; ++at) {
        if (at >= s.size())
          throw Error(Exit::usage, fmt::format("{} line {}: a quote is never closed", name, opened),
                      "close the quote, or double it where it belongs to the text");
        if (s[at] == '"') {
          if (at + 1 >= s.size() || s[at + 1] != '"') break;
          ++at;
        }
        line += s[at] == '\n';
        f.text += s[at];
      }
      ++at;
    }
    while (at < s.size() && s[at] != csv.separator && s[at] != '\n' && s[at] != '\r') f.text += s[at++];
    f.end = at;
    row.push_back(std::move(f));
    if (at < s.size() && s[at] == csv.separator) {
      if (++at < s.size()) continue;
      row.push_back({"", at, at});
    } else if (at < s.size()) {
      at += s[at] == '\r' && at + 1 < s.size() && s[at + 1] == '\n' ? 2 : 1;
      ++line;
    }
    if (row.size() > 1 || row[0].begin != row[0].end) csv.rows.push_back(std::move(row));
    row.clear();
  }
  // The file keeps its bytes; what is read of it is UTF-8.
  for (CsvRow& r : csv.rows)
    for (CsvField& f : r)
      if (!valid_utf8(f.text)) {
        const auto read = converted(f.text, "UTF-8", "WINDOWS-1252");  // of spreadsheets on Windows
        if (!read)
          throw Error(Exit::usage, name + " is neither UTF-8 nor Windows-1252 (Latin-1)", "save it as CSV in UTF-8");
        f.text = *read;
      }
  return csv;
}

std::string csv_field(std::string_view text, char separator) {
  std::string out(text);
  if (!out.empty() && std::string_view("=+-@\t\r").find(out[0]) != std::string_view::npos) {
    const bool number = out.find_first_not_of("+-.0123456789eE") == std::string::npos;
    if (!number) out.insert(0, 1, '\'');
  }
  if (out.find_first_of(std::string("\"\r\n") + separator) == std::string::npos) return out;
  for (std::size_t at = 0; (at = out.find('"', at)) != std::string::npos; at += 2) out.insert(at, 1, '"');
  return '"' + out + '"';
}

std::string with_changes(const Csv& csv, std::vector<CsvChange> changes) {
  std::sort(changes.begin(), changes.end(), [](const CsvChange& a, const CsvChange& b) {
    return a.row != b.row ? a.row < b.row : a.column < b.column;
  });
  std::string out;
  std::size_t done = 0;
  for (const CsvChange& c : changes) {
    const CsvField& f = csv.rows.at(c.row).at(static_cast<std::size_t>(c.column));
    out.append(csv.text, done, f.begin - done);
    out += csv_field(c.text, csv.separator);
    done = f.end;
  }
  out.append(csv.text, done);
  if (csv.encoding.empty()) return out;
  return (csv.encoding == "UTF-16LE" ? "\xFF\xFE" : "\xFE\xFF") +
         converted(out, csv.encoding.c_str(), "UTF-8").value_or("");
}

}  // namespace ridge::cluster
