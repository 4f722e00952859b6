// What a student did that no result tells: own attempts with their hypotheses, hints taken, solutions given up for.
// JSON lines in work/.ridge/journal/NN_name.jsonl, one event each, only ever appended to.
#pragma once
#include <string>
#include <vector>

#include "grader/result/result.hpp"

namespace ridge::loop {

struct Event {
  std::string time;                      // UTC, as in a result
  std::string kind;                      // attempt, hint, gave-up
  std::string task;                      // of a hint, or what was given up; empty: all
  std::string attempt;                   // the result's name
  std::string note;                      // of an attempt: its hypothesis
  std::vector<std::string> passed = {};  // of an attempt: tasks that passed
};

// All events of a lab, in order. Lines that are damaged are left out.
std::vector<Event> journal(const std::string& lab);

// Adds one and syncs it; throws Error(Exit::environment) where it can't be written.
void add_event(const std::string& lab, Event event);

// Hints of a task that were shown so far, and whether its solution was opened without a pass.
int hints_taken(const std::vector<Event>& events, const std::string& task);
bool gave_up(const std::vector<Event>& events, const std::string& task);

}  // namespace ridge::loop
