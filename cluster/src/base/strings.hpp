// Small functions for the texts of Slurm, nvidia-smi and LMSs, and for variables of the environment.
#pragma once
#include <string>
#include <vector>

namespace ridge::cluster {

// The parts between separators. An empty part at the end is dropped.
std::vector<std::string> split(const std::string& text, char separator);
// The text without white space at both ends.
std::string trimmed(std::string text);
// The text with ASCII letters in lower case.
std::string lower(std::string text);
// UTF-8 with letters and their accents in one character (NFC), as most systems write names; macOS takes them apart.
// The same text where it is no UTF-8, or Ridge was built without libutf8proc.
std::string composed(const std::string& text);
// "87.5" of 87.5 and "90" of 90.
std::string short_number(double value);
// The variable's value, or `otherwise` where it is unset or empty.
std::string environment(const char* variable, const std::string& otherwise = "");

}  // namespace ridge::cluster
