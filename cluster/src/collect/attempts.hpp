// How an attempt ends without a result, and when its work may be tried again.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "cluster/src/gradebook/gradebook.hpp"

namespace ridge::cluster {

// final: no further attempt would help. counts: it is one of the work's `retries`.
struct Failure {
  std::string state, reason;
  bool final = false, counts = true;
};

class Attempts {
 public:
  explicit Attempts(Gradebook& book) : db_(book.db()), course_(book.course()) {}

  void failed(const std::string& token, const Failure& failure);
  // `now`: steady_now() seconds. The more often a work has failed, the longer it waits.
  bool may_start(std::int64_t work, double now) const;

 private:
  Database& db_;
  const Course& course_;
  std::map<std::int64_t, double> not_before_;
};

}  // namespace ridge::cluster
