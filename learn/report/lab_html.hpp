// A lab's section of the report: its tasks as cards with goals, findings, code and pictures.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "grader/lab/lab.hpp"
#include "grader/result/result.hpp"
#include "learn/report/attempts_html.hpp"

namespace ridge::loop {

struct LabRecord {
  Result result;
  fs::path file;
  // Of this machine's user, else empty: the files as judged, by name, and the attempts.
  std::map<std::string, std::string> sources = {};
  std::vector<Stop> stops = {};
  bool own = false;          // of this machine's user, whose journal has predictions
  std::string lessons = {};  // the address in front of "labs/NN_name/README.md#section"; empty: see `page` below
};

// `page`: the folder that the page is written to. Where it lies in the course, and no address is given, lessons are
// linked from there; elsewhere they are named. `lab`: null where it is not one of the course.
std::string lab_html(const LabRecord& record, const Lab* lab, const fs::path& page, const std::string& anchor);

// Points with one digit behind the point at most, never rounded up: 63.1.
std::string points_text(double points);
// A bar of the points earned.
std::string points_bar(double points, double max);

}  // namespace ridge::loop
