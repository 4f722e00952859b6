// What students and authors ask about attempts and the course. Each function returns the program's exit code.
#pragma once
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <vector>

namespace ridge::loop {

int hint(const std::string& lab, const std::string& task, bool again);
int solution(const std::string& lab, const std::string& task, bool give_up);
int diff(const std::string& lab, const std::string& before, const std::string& after);
int log(const std::string& lab, const std::string& out);
int explain(const std::string& metric, const std::string& lab);

int course_export(const std::string& folder, const std::string& labs);
struct CourseCopy {
  std::set<std::string> labs;  // of labs these only; none: all
  bool prebuilt = false;       // for a program that is there already: without what only a build reads
};
// The files of the course that students get, below `to`. How many there are.
std::size_t copy_course(const std::filesystem::path& to, const CourseCopy& what, std::error_code& ec);
// Throws where this Ridge is a prebuilt one.
void needs_sources(const char* command);

}  // namespace ridge::loop
