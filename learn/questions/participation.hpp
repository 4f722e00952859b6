// How much of a lab's questions a student answered, as a file that `ridge submit` hands in. A student writes it, so it
// never counts for points.
#pragma once
#include <optional>
#include <string>

#include "grader/lab/lab.hpp"

namespace ridge::loop {

constexpr const char* kParticipationFile = "ridge-questions.json";
constexpr std::size_t kMaxParticipationBytes = 4096;

struct Participation {
  int predictions = 0, predicted = 0, near = 0;  // of the lab; answered; right or within a factor of two
  int questions = 0, answered = 0, right = 0;    // of the quiz; answered; right at first
  bool any() const { return predicted > 0 || answered > 0; }
};

// By the journal and the lab's own files.
Participation participation_of(const Lab& lab);

std::string participation_text(const Participation& p);
// None where the text is no such file, or its counts contradict each other.
std::optional<Participation> read_participation(const std::string& text);

}  // namespace ridge::loop
