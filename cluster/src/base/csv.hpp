// CSV (RFC 4180, and a byte order mark or semicolons as spreadsheets write them) that can be changed in place: each
// field knows where it stands in the text, so that a file is filled in one column and stays as it was, byte for byte,
// elsewhere.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace ridge::cluster {

struct CsvField {
  std::string text;                // without quotes
  std::size_t begin = 0, end = 0;  // of what stands in the file, quotes included
};

using CsvRow = std::vector<CsvField>;

struct Csv {
  std::string text;
  char separator = ',';
  std::vector<CsvRow> rows;  // empty lines are left out

  // The column whose name (first row; case and outer blanks do not matter) is one of these; -1: none.
  int column(std::initializer_list<std::string_view> names) const;
  // The field, or empty where the row is shorter.
  const std::string& at(std::size_t row, int column) const;
};

// Throws Error(Exit::usage) with the line where a quote is never closed or a file is larger than 64 MiB.
Csv parse_csv(std::string text, const std::string& name);

// Quoted where it has to be. A text that a spreadsheet would run as a formula gets an apostrophe in front.
std::string csv_field(std::string_view text, char separator = ',');

// The text with the fields of `changes` (row, column, new text) replaced. Every row must have its column.
struct CsvChange {
  std::size_t row;
  int column;
  std::string text;
};
std::string with_changes(const Csv& csv, std::vector<CsvChange> changes);

}  // namespace ridge::cluster
