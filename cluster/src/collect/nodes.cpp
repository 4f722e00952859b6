#include "cluster/src/collect/nodes.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cluster/src/base/cluster_clock.hpp"

namespace ridge::cluster {

namespace {

constexpr int kFailures = 3;           // on a node before it is left out
constexpr double kSilentSeconds = 60;  // after which a node that was silent is asked for

}  // namespace

std::vector<std::string> Nodes::excluded() const {
  std::vector<std::string> all;
  for (Rows r = db_.query("SELECT name FROM node WHERE excluded = 1 ORDER BY name"); r.next();)
    all.push_back(r.text(0));
  return all;
}

std::vector<std::string> Nodes::avoided(std::int64_t work, std::vector<std::string> usable, std::size_t needs) const {
  if (anywhere_.contains(work)) return {};
  for (const std::string& node : excluded()) std::erase(usable, node);
  std::vector<std::string> failed;  // the last one first
  for (Rows r = db_.query("SELECT node, MAX(number) FROM attempt WHERE work = ? AND node <> '' AND "
                          "state IN ('failed', 'lost', 'fenced') GROUP BY node ORDER BY 2 DESC",
                          work);
       r.next();)
    if (std::ranges::find(usable, r.text(0)) != usable.end()) failed.push_back(r.text(0));
  const std::size_t most = usable.size() > needs ? usable.size() - needs : 0;
  if (failed.size() > most) failed.resize(std::min<std::size_t>(most, 1));
  std::ranges::sort(failed);
  return failed;
}

void Nodes::avoid_none(std::int64_t work) { anywhere_.insert(work); }

void Nodes::failed(const std::string& node, const std::string& reason, bool at_once) {
  if (node.empty() || node.find_first_of(" ,[") != std::string::npos) return;
  db_.change(
      "INSERT INTO node VALUES(?1, 1, ?2, ?3) ON CONFLICT(name) DO UPDATE SET failures = failures + 1, reason = ?3, "
      "excluded = MAX(excluded, ?2, failures + 1 >= ?4)",
      node, at_once, reason, kFailures);
}

void Nodes::worked(const std::string& node) {
  db_.change("UPDATE node SET failures = 0 WHERE name = ? AND excluded = 0", node);
}

// A node that was only silent may have been slow, or it is up again: it comes back once the executor calls it well. One
// whose preflight failed, or on which attempts failed, is tried again after `readmit_s`; its next failure leaves it out
// again.
void Nodes::readmit() {
  const double now = steady_now();
  std::vector<std::pair<std::string, std::string>> out;
  for (Rows r = db_.query("SELECT name, reason FROM node WHERE excluded = 1"); r.next();)
    out.emplace_back(r.text(0), r.text(1));
  for (const auto& [name, reason] : out) {
    double& since = out_since_.emplace(name, now).first->second;
    const bool silent = reason.starts_with(kSilent);
    if (now - since < (silent ? std::min<double>(kSilentSeconds, course_.readmit_s) : course_.readmit_s)) continue;
    since = now;
    if (silent && !executor_.node_is_well(name)) continue;
    db_.change("UPDATE node SET excluded = 0, failures = ? WHERE name = ?", kFailures - 1, name);
    out_since_.erase(name);
    book_.note(fmt::format("node {} is tried again", name));
  }
}

void Nodes::readmit_all() { db_.change("UPDATE node SET excluded = 0, failures = 0"); }

void Nodes::forget() { db_.change("DELETE FROM node"); }

}  // namespace ridge::cluster
