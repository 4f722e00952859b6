// The journal of what a student did: attempts with their hypotheses, hints taken, solutions opened early, and answers
// to questions. It is a file of JSON lines, work/.ridge/journal/NN_name.jsonl, one event a line, which is only appended
// to.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grader/result/result.hpp"

namespace ridge::loop {

struct Event {
  std::string time;                      // UTC, as in a result
  std::string kind;                      // attempt, hint, gave-up, predict, measured, quiz
  std::string task;                      // task of a hint, an opened solution or a prediction; empty: all
  std::string attempt;                   // name of the attempt's result
  std::string note;                      // hypothesis of an attempt
  std::vector<std::string> passed = {};  // tasks that passed in an attempt
  std::string question = {};             // id of a prediction or of a quiz's question
  std::string answer = {};               // to it, as text; empty: skipped
  std::optional<double> value = {};  // predict, measured: the number, or that of the choice, from 1; hint: its number
  std::optional<bool> right = {};    // quiz
};

// All events of a lab, in order. Damaged lines are skipped.
std::vector<Event> journal(const std::string& lab);

// Appends an event and syncs the file. Throws an environment error if it cannot be written.
void add_event(const std::string& lab, Event event);

// The hints of a task that were shown so far, from 0, in the order in which they were; and how many.
std::vector<int> hints_shown(const std::vector<Event>& events, const std::string& task);
int hints_taken(const std::vector<Event>& events, const std::string& task);

// Whether the task's solution was opened before it passed.
bool gave_up(const std::vector<Event>& events, const std::string& task);

}  // namespace ridge::loop
