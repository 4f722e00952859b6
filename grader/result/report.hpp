// Results for people, on a terminal or in a pipe.
#pragma once
#include <cstdio>
#include <string>

#include "grader/base/error.hpp"
#include "grader/result/result.hpp"

namespace ridge {

// Colour only on a terminal, and never with NO_COLOR set.
bool use_colour(std::FILE* out);

// The whole result: tasks, checks, goals, score.
std::string report(const Result& result, bool colour);

// Broken at spaces so that no line is longer than 100 characters, each behind `indent` blanks.
std::string wrapped(const std::string& text, std::size_t indent);

// "ridge: what failed" with advice below, on stderr.
void print_error(const Error& error);

// One changing line on a terminal; nothing in a pipe.
class Progress {
 public:
  explicit Progress(bool enabled);
  ~Progress();
  void show(const std::string& text);
  void clear();

 private:
  bool enabled_;
  bool shown_ = false;
};

}  // namespace ridge
