// A lesson's Markdown as HTML for the page: headings with the anchors that findings name, and links that lead to what
// the server has.
#pragma once
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"

namespace ridge::serve {

// The README.md of `lab`. Links to lessons of `labs` lead to their pages, figures to figures/NN_name/FILE; other links
// into the repository become plain text.
std::string lesson_html(const std::string& markdown, const Lab& lab, const std::vector<Lab>& labs);

// Where a link of the lesson leads, relative to the page; empty: nowhere.
std::string lesson_target(const std::string& url, const Lab& lab, const std::vector<Lab>& labs);

// Whether this may be a figure's file name: letters, digits, '-', '_', and ".svg" or ".png".
bool is_figure_name(const std::string& name);

}  // namespace ridge::serve
