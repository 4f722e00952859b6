// The operations that have not ended, and the choice of the one that runs next.
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include "stream/operation.hpp"

namespace ridge::simt {

class PendingOperations {
 public:
  using Set = std::unordered_set<const Operation*>;

  PendingOperations();
  // 0: operations run as they were issued; 1: the one that was issued last runs as early as it can; other seeds draw
  // for each wait between that and a random order of the streams. The default, 1, is adversarial, so that a missing
  // dependency shows.
  void set_order(std::uint64_t seed) { order_ = seed; }

  void add(OperationPtr operation) { operations_.push_back(std::move(operation)); }
  void remove(const OperationPtr& operation);
  // All of them; none is left.
  std::vector<OperationPtr> take() { return std::exchange(operations_, {}); }
  std::size_t size() const { return operations_.size(); }
  const std::vector<OperationPtr>& all() const { return operations_; }  // in the order of issue
  // Those of them that `wanted` picks, in the order of issue.
  template <class Wanted>
  std::vector<OperationPtr> those(Wanted wanted) const {
    std::vector<OperationPtr> found;
    for (const OperationPtr& op : operations_)
      if (wanted(*op)) found.push_back(op);
    return found;
  }
  std::vector<OperationPtr> exchanges() const {
    return those([](const Operation& op) { return op.work.kind == WorkKind::exchange; });
  }

  // Whether the next wait of the host runs only what it needs, and not all that is pending. Seed 1 does so, others
  // draw: an operation that runs too late shows as well as one that runs too early.
  bool next_wait_is_lazy() const;
  // A number for pick(), drawn once for each wait.
  std::uint64_t draw();
  // An operation that can run now, out of `allowed` (null: out of all); nullptr where there is none.
  OperationPtr pick(const Set* allowed, std::uint64_t draw) const;

 private:
  std::vector<OperationPtr> operations_;
  std::uint64_t order_, draws_ = 0;
};

// These operations and all that they wait for, without those that have run.
PendingOperations::Set with_ancestors(const std::vector<OperationPtr>& operations);

}  // namespace ridge::simt
