// What a student handed in for a lab, attempt by attempt, with the results that count.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "grader/result/result.hpp"

namespace ridge::cluster {

struct HandIn {
  std::string student, content, source, problem;
  std::int64_t date = 0;  // Unix seconds
};

// All of a lab's students who are in the class, or of one of them; oldest first.
std::vector<HandIn> hand_ins(Gradebook& book, const std::string& lab, const std::string& student = "");

// The record of a content that counts, as Gradebook::grades chooses it; nothing where there is none.
std::optional<std::string> counting_record(Gradebook& book, const std::string& lab, const std::string& content);

// Nothing where the text is no record.
std::optional<Result> result_of(const std::string& record);

}  // namespace ridge::cluster
