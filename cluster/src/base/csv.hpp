// CSV (RFC 4180, and the byte order mark, semicolons and tabs of spreadsheets) that can be changed in place. Each field
// knows its place in the text, so that filling one column keeps all other bytes.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::cluster {

struct CsvField {
  std::string text;                // without quotes, in UTF-8, also where the file is in Latin-1
  std::size_t begin = 0, end = 0;  // its bytes in the file, with quotes
};

using CsvRow = std::vector<CsvField>;

struct Csv {
  std::string text;  // the file's bytes; of UTF-16 in UTF-8
  char separator = ',';
  std::string encoding;      // "UTF-16LE" or "UTF-16BE" where the file is in it; else empty
  std::vector<CsvRow> rows;  // empty lines are left out

  // The column whose name in the first row is one of these, whatever its case and outer blanks; -1 where there is none.
  int column(std::initializer_list<std::string_view> names) const;
  // The field's text, or an empty text where the row is shorter.
  const std::string& at(std::size_t row, int column) const;
};

// Throws Error(Exit::usage) where a quote is never closed, with its line, or the text is larger than 64 MiB.
Csv parse_csv(std::string text, const std::string& name);

// The text as a field, quoted where necessary. An apostrophe precedes a text that a spreadsheet would run as a formula.
std::string csv_field(std::string_view text, char separator = ',');

// The CSV's bytes with the fields of `changes` replaced, in the file's own encoding. Each changed field must exist.
struct CsvChange {
  std::size_t row;
  int column;
  std::string text;
};
std::string with_changes(const Csv& csv, std::vector<CsvChange> changes);

}  // namespace ridge::cluster
