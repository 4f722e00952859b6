#include "cluster/src/collect/attempts.hpp"

#include <algorithm>
#include <cmath>

#include "cluster/src/base/cluster_clock.hpp"

namespace ridge::cluster {

// Ends an attempt without a result. Its work waits for another attempt or is given up.
void Attempts::failed(const std::string& token, const Failure& f) {
  if (db_.change("UPDATE attempt SET state = ?, reason = ?, ended = ? WHERE token = ? AND state = 'open'", f.state,
                 f.reason, wall_now(), token) == 0)
    return;
  Rows r = db_.query("SELECT work FROM attempt WHERE token = ?", token);
  if (!r.next()) return;
  const std::int64_t work = r.integer(0);
  db_.change(
      "UPDATE work SET failures = failures + ?4, reason = ?1, state = CASE WHEN ?5 OR (?4 AND failures + 1 > ?2) THEN "
      "'not-graded' ELSE 'waiting' END WHERE id = ?3 AND state = 'running'",
      f.reason, course_.retries, work, f.counts, f.final);
  Rows w = db_.query("SELECT failures FROM work WHERE id = ?", work);
  if (w.next()) not_before_[work] = steady_now() + std::min(30.0, std::pow(2.0, static_cast<double>(w.integer(0)) - 1));
}

bool Attempts::may_start(std::int64_t work, double now) const {
  const auto at = not_before_.find(work);
  return at == not_before_.end() || at->second <= now;
}

}  // namespace ridge::cluster
