// A wrong answer as people see it best: which elements are wrong, as a pattern and as a map, and the numbers around the
// first. For answers of at most kMostPictured elements.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ridge::lab {

constexpr std::size_t kMostPictured = 1 << 16;

class Picture {
 public:
  explicit Picture(std::size_t total) : total_(total) {}
  bool wanted() const { return total_ <= kMostPictured; }
  // An element behind the last is one of a sample: such answers have no picture.
  void note(std::size_t i, double expected, double got, bool wrong);
  void merge(const Picture& other);  // of other elements
  // `where` names an element: out[i], or out[row][column] of a matrix. Empty where not all elements were noted.
  std::string text(const std::function<std::string(std::size_t)>& where) const;
  // How the wrong answer stands to the right one (relation.hpp), "; " before it. Empty where nothing is found.
  std::string told(const std::function<std::string(std::size_t)>& where, double modulo) const;

 private:
  struct Element {
    double expected = 0, got = 0;
    bool noted = false, wrong = false;
  };
  std::size_t total_;
  std::vector<Element> elements_;  // empty until one is noted
};

// "every 32nd element is wrong, from element 31 on": what the wrong ones of n elements have in common; else empty.
// `columns`: of a matrix, else 0.
std::string wrong_pattern(const std::vector<bool>& wrong, std::size_t columns);

// '.' all right, '#' all wrong, '+' some, at most 16 lines of 48; with its scale in the first line.
std::string wrong_map(const std::vector<bool>& wrong, std::size_t columns);

}  // namespace ridge::lab
