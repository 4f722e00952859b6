// Chooses the nodes that may get the course's jobs. A node on which attempts fail is left out and tried
// again later.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cluster/src/gradebook/gradebook.hpp"
#include "cluster/src/jobs/executor.hpp"

namespace ridge::cluster {

inline constexpr const char* kSilent = "no sign of life from";  // begins the reason of a node that was silent

class Nodes {
 public:
  Nodes(Gradebook& book, Executor& executor)
      : book_(book), executor_(executor), db_(book.db()), course_(book.course()) {}

  std::vector<std::string> excluded() const;
  // Those of `usable` on which earlier attempts of the work ended without a result. The next attempt avoids them; at
  // least `needs` others are left.
  std::vector<std::string> avoided(std::int64_t work, std::vector<std::string> usable, std::size_t needs) const;
  void avoid_none(std::int64_t work);  // for no other node takes it
  // `at_once`: it is left out after this failure; otherwise after several in a row.
  void failed(const std::string& node, const std::string& reason, bool at_once);
  void worked(const std::string& node);
  void readmit();  // those whose time has come
  void readmit_all();
  void forget();

 private:
  Gradebook& book_;
  Executor& executor_;
  Database& db_;
  const Course& course_;
  std::map<std::string, double> out_since_;  // excluded nodes, in steady_now() seconds
  std::set<std::int64_t> anywhere_;          // works that avoid no node
};

}  // namespace ridge::cluster
