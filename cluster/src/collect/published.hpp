// Moves what jobs publish in the shared folder into the gradebook.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cluster/src/collect/attempts.hpp"
#include "cluster/src/collect/nodes.hpp"

namespace ridge::cluster {

class Published {
 public:
  Published(Gradebook& book, Attempts& attempts, Nodes& nodes)
      : book_(book), db_(book.db()), course_(book.course()), attempts_(attempts), nodes_(nodes) {}

  int collect();  // returns the number of collected files

 private:
  bool take(const fs::path& file, const std::string& token);
  void take_record(const std::string& token, std::int64_t work, bool open, const std::string& record, double seconds);

  Gradebook& book_;
  Database& db_;
  const Course& course_;
  Attempts& attempts_;
  Nodes& nodes_;
  std::vector<std::string> judged_;  // builds to be removed once the collected results are committed
};

}  // namespace ridge::cluster
