// Turns a collector's board into results in a folder, for the visualizer, which reads only files.
#pragma once
#include <map>
#include <string>

#include "grader/base/paths.hpp"

namespace ridge::loop {

class Follower {
 public:
  // Makes the folder, which belongs to this object.
  Follower(std::string url, fs::path folder);
  // Asks the collector once. A player's new scores in a lab become a result, FOLDER/pNNNN/NN_lab/NNNNNN.json; the
  // player's name is in pNNNN/name.txt. Throws an environment error if nobody answers, or the answer is no board.
  void look();

 private:
  fs::path home(const std::string& player);

  std::string url_;
  fs::path folder_;
  std::map<std::string, fs::path> homes_;                             // folder by player
  std::map<std::pair<std::string, std::string>, std::string> known_;  // tasks as last written, by player and lab
  int results_ = 0;
};

// Follows `url` in a process of its own and returns the folder. The process ends, and removes the folder, when the
// calling process ends, even one that has become another program. The first look is made before, so that a wrong
// address is an error at once.
fs::path follow_live(const std::string& url);

}  // namespace ridge::loop
