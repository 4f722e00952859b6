// The shell of pages that stand alone: light and dark, from a telephone to a wide screen, and on paper.
#pragma once
#include <string>

namespace ridge::loop {

extern const char* const kPageStyle;

// A whole page, which loads nothing from elsewhere and runs no script but `script`. `body` is HTML, `style` is added to
// the pages' own.
std::string whole_page(const std::string& title, const std::string& body, const std::string& style = "",
                       const std::string& script = "");

}  // namespace ridge::loop
