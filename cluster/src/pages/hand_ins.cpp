#include "cluster/src/pages/hand_ins.hpp"

#include <nlohmann/json.hpp>

#include "grader/base/error.hpp"
#include "grader/result/record.hpp"

namespace ridge::cluster {

std::vector<HandIn> hand_ins(Gradebook& book, const std::string& lab, const std::string& student) {
  std::vector<HandIn> all;
  for (Rows r = book.db().query(
           "SELECT student, content, source, problem, COALESCE(handed_in, taken) FROM submission WHERE lab = ?1 AND "
           "(?2 = '' OR student = ?2) AND student NOT IN (SELECT id FROM student WHERE enrolled = 0) "
           "ORDER BY COALESCE(handed_in, taken), id",
           lab, student);
       r.next();)
    all.push_back({r.text(0), r.text(1), r.text(2), r.text(3), r.integer(4)});
  return all;
}

std::optional<std::string> counting_record(Gradebook& book, const std::string& lab, const std::string& content) {
  Rows r = book.db().query(
      "SELECT r.record FROM work w JOIN result r ON r.work = w.id AND r.counts = 1 WHERE w.lab = ? AND w.content = ? "
      "AND "
      "w.backend = ? ORDER BY w.generation DESC LIMIT 1",
      lab, content, book.course().lab(lab).backend);
  return r.next() ? std::optional(r.text(0)) : std::nullopt;
}

std::optional<Result> result_of(const std::string& record) {
  try {
    return read_result(parse_json(record));
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace ridge::cluster
