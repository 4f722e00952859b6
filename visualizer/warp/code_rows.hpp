// Breaks a long line of source into rows, so that no index of an access is cut away.
#pragma once
#include <string>
#include <vector>

namespace ridge::viz {

// Rows of at most `columns` characters. A row ends behind a blank, a comma, an operator or an opening bracket where it
// can; the rows after the first are indented by four columns more than the line. An empty line is one empty row.
std::vector<std::string> code_rows(const std::string& line, std::size_t columns);

}  // namespace ridge::viz
