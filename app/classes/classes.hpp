// The commands for classes: `ridge cluster`, `ridge submit`, `ridge grade --slurm`. They are a part of the build that a
// student's first command does without (group `class` of the launcher).
#pragma once
#include <string>
#include <vector>

namespace ridge {

class Commands;

// Adds the commands. A build without them has stand-ins, which throw Error(Exit::environment) and say what to build.
void add_class_commands(Commands& ridge);

// Runs the command line `words` without --slurm as a job of the cluster; returns its exit code. Throws as above.
int grade_as_job(const std::string& lab, std::vector<std::string> words);

}  // namespace ridge
