// What the instructor's page of a lab is made of.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/pages/hand_ins.hpp"
#include "grader/lab/lab.hpp"

namespace ridge::cluster {

struct ClassData {
  Lab lab;
  CourseLab rules;
  std::string course;
  std::vector<Grade> grades;
  std::map<std::string, Result> results;  // that counts, by the student's id
  std::vector<HandIn> hand_ins;           // of all, oldest first
};

ClassData class_data(Gradebook& book, const std::string& lab);

// A check that students fail, the most common first.
struct Failing {
  std::string check;  // "copy/correct"
  int students = 0;
  // Known ways to fail there: what is wrong, as a teacher would say it, and the name of such a solution.
  std::vector<std::pair<std::string, std::string>> misconceptions;
};
std::vector<Failing> failing_most(const ClassData& data);

// What grading took.
struct Costs {
  int gpus = 0;                                        // of a job
  int results = 0;                                     // gradings that gave one
  double hours = 0;                                    // that these took on their nodes
  std::optional<double> slurm_hours, slurm_gpu_hours;  // of all jobs, by Slurm's accounting where there is one
};
Costs costs_of(Gradebook& book, const ClassData& data);

}  // namespace ridge::cluster
