// A collector's board as results in a folder, for a visualizer that reads files and nothing else.
#pragma once
#include <map>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::loop {

class Follower {
 public:
  // Makes the folder, which is this one's.
  Follower(std::string url, fs::path folder);
  // Asks once. What somebody gained becomes a result of its own, FOLDER/pNNNN/NN_lab/NNNNNN.json, with the player's
  // name in pNNNN/name.txt. Throws an environment error where nobody answers, or the answer is no board.
  void look();

 private:
  fs::path home(const std::string& player);

  std::string url_;
  fs::path folder_;
  std::map<std::string, fs::path> homes_;                             // by the player's name
  std::map<std::pair<std::string, std::string>, std::string> known_;  // by name and lab: the tasks as last written
  int results_ = 0;
};

// Follows `url` in a process of its own, until this one (also when it has become another program) ends; the folder goes
// then. The first look is made here, so that a wrong address is an error at once.
fs::path follow_live(const std::string& url);

}  // namespace ridge::loop
