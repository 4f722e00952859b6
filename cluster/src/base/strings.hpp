// Splitting, trimming and lower case for the texts of Slurm, nvidia-smi and LMSs; variables of the environment.
#pragma once
#include <string>
#include <vector>

namespace ridge::cluster {

// The parts between separators, at least one where `text` is not empty; an empty part at the end is dropped.
std::vector<std::string> split(const std::string& text, char separator);
// Without white space at both ends.
std::string trimmed(std::string text);
// ASCII letters in lower case.
std::string lower(std::string text);
// The variable's value, or `otherwise` where it is unset or empty.
std::string environment(const char* variable, const std::string& otherwise = "");

}  // namespace ridge::cluster
