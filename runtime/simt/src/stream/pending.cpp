#include "stream/pending.hpp"

#include <algorithm>
#include <utility>

#include "launch/launch.hpp"

namespace ridge::simt {

namespace {

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a + 0x9E3779B97F4A7C15ull) ^ (b * 0xBF58476D1CE4E5B9ull);
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

PendingOperations::PendingOperations() : order_(order_from_environment()) {}

void PendingOperations::remove(const OperationPtr& op) {
  operations_.erase(std::remove(operations_.begin(), operations_.end(), op), operations_.end());
}

bool PendingOperations::next_wait_is_lazy() const {
  return order_ == 1 || (order_ != 0 && mixed(order_ + 1, draws_) % 2 == 0);
}

std::uint64_t PendingOperations::draw() { return mixed(order_, draws_++); }

OperationPtr PendingOperations::pick(const Set* allowed, std::uint64_t draw) const {
  auto ready = [&](const OperationPtr& op) {
    if (op->exchange != nullptr || (allowed != nullptr && allowed->count(op.get()) == 0)) return false;
    return std::all_of(op->after.begin(), op->after.end(), [](const OperationPtr& before) { return before->done; });
  };
  if (order_ == 0) {
    auto first = std::find_if(operations_.begin(), operations_.end(), ready);
    return first == operations_.end() ? nullptr : *first;
  }
  if (order_ == 1 || draw % 2 == 0) {
    auto last = std::find_if(operations_.rbegin(), operations_.rend(), ready);
    return last == operations_.rend() ? nullptr : *last;
  }
  OperationPtr best;
  std::pair<std::uint64_t, std::uint64_t> best_rank;
  for (const auto& op : operations_) {
    if (!ready(op)) continue;
    std::pair rank{mixed(draw, static_cast<std::uint64_t>(op->stream)), mixed(draw, op->number)};
    if (best == nullptr || rank < best_rank) {
      best = op;
      best_rank = rank;
    }
  }
  return best;
}

PendingOperations::Set with_ancestors(const std::vector<OperationPtr>& operations) {
  PendingOperations::Set set;
  std::vector<const Operation*> open;
  for (const auto& op : operations) open.push_back(op.get());
  while (!open.empty()) {
    const Operation* op = open.back();
    open.pop_back();
    if (op->done || !set.insert(op).second) continue;
    for (const auto& before : op->after) open.push_back(before.get());
  }
  return set;
}

}  // namespace ridge::simt
