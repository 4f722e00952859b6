#include "learn/questions/quiz.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "grader/base/toml_reader.hpp"

namespace ridge::loop {

namespace {

constexpr std::size_t kMostItems = 9;  // one key each

std::string sentence(const TomlReader& r, const char* key) {
  auto text = r.required<std::string>(key);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  if (text.empty()) r.fail(key, fmt::format("'{}' is empty", key));
  return text;
}

void read_wrong(const TomlReader& r, Question& q) {
  for (const TomlReader& w : r.checked_tables("wrong")) {
    q.wrong.push_back({w.finite("answer"), sentence(w, "why")});
    const double value = q.wrong.back().value;
    if (std::abs(value - q.answer) <= q.tolerance * std::abs(q.answer))
      w.fail("answer", fmt::format("a wrong answer of question '{}' counts as right", q.id), "take another value");
    if (q.kind == QuestionKind::line && (value < 1 || value > static_cast<double>(q.code.size())))
      w.fail("answer", fmt::format("question '{}' shows no line {:g}", q.id, value),
             fmt::format("its lines are 1 to {}", q.code.size()));
    w.finish();
  }
  if (q.wrong.empty())
    r.fail("wrong", fmt::format("question '{}' explains no wrong answer", q.id),
           "add wrong = [{ answer = 4, why = \"...\" }] with the answers that students give");
}

void read_number(const TomlReader& r, Question& q) {
  q.answer = r.finite("answer");
  q.tolerance = r.has("tolerance") ? r.finite("tolerance") : 0;
  q.unit = r.checked<std::string>("unit").value_or("");
  if (q.tolerance < 0 || q.tolerance >= 1)
    r.fail("tolerance", "'tolerance' is not from 0 to below 1", "it is a relative error: 0.05 accepts 5% more or less");
  read_wrong(r, q);
}

void read_line(const TomlReader& r, Question& q) {
  std::istringstream code(sentence(r, "code"));
  for (std::string line; std::getline(code, line);) q.code.push_back(line);
  q.answer = static_cast<double>(r.required<std::int64_t>("answer"));
  if (q.answer < 1 || q.answer > static_cast<double>(q.code.size()))
    r.fail("answer", fmt::format("question '{}' shows no line {:g}", q.id, q.answer),
           fmt::format("its lines are 1 to {}", q.code.size()));
  read_wrong(r, q);
}

void read_items(const TomlReader& r, const char* key, Question& q) {
  const std::size_t least = q.kind == QuestionKind::order ? 3 : 2;
  std::size_t right = 0;
  for (const TomlReader& i : r.checked_tables(key)) {
    QuizItem item;
    item.text = sentence(i, "text");
    if (q.kind == QuestionKind::choice) item.right = i.checked<bool>("right").value_or(false);
    if (item.right) {
      ++right;
      if (i.has("why")) i.fail("why", "the right choice has a 'why'", "say it in the question's own 'why'");
    } else {
      item.why = sentence(i, "why");
    }
    i.finish();
    q.items.push_back(std::move(item));
  }
  if (!r.has(key)) r.fail(key, fmt::format("'{}' is missing", key));
  if (q.items.size() < least || q.items.size() > kMostItems)
    r.fail(key, fmt::format("question '{}' has {} {}", q.id, q.items.size(), key),
           fmt::format("take {} to {}", least, kMostItems));
  if (q.kind == QuestionKind::choice && right != 1)
    r.fail(key, fmt::format("question '{}' has {} right choices", q.id, right), "mark one with right = true");
}

Question question(const TomlReader& r) {
  Question q;
  q.id = r.plain_name("id");
  q.kind = r.named<QuestionKind>("kind");
  q.ask = sentence(r, "ask");
  q.why = sentence(r, "why");
  q.lesson = r.checked<std::string>("lesson").value_or("");
  switch (q.kind) {
    case QuestionKind::number:
      read_number(r, q);
      break;
    case QuestionKind::choice:
      read_items(r, "choices", q);
      break;
    case QuestionKind::order:
      read_items(r, "items", q);
      break;
    case QuestionKind::line:
      read_line(r, q);
      break;
  }
  r.finish();
  return q;
}

}  // namespace

Quiz parse_quiz(std::string_view text, const fs::path& file) {
  const toml::table table = parse_toml(text, file);
  const TomlReader r(table, shown(file), "docs/questions.md has the format, labs/01_coalescing/quiz.toml an example");
  Quiz quiz;
  for (const TomlReader& t : r.checked_tables("question")) {
    Question q = question(t);
    for (const Question& other : quiz.questions)
      if (other.id == q.id)
        t.fail("id", fmt::format("a second question '{}'", q.id),
               "the journal knows questions by their id: name it otherwise");
    quiz.questions.push_back(std::move(q));
  }
  r.finish();
  if (quiz.questions.empty()) r.fail("question", "there is no question");
  return quiz;
}

Quiz load_quiz(const fs::path& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec)) throw Error(Exit::usage, "cannot read " + shown(file), "check the path");
  return parse_quiz(file_text(file), file);
}

std::optional<Quiz> load_quiz(const Lab& lab) {
  std::error_code ec;
  const fs::path file = lab.dir / "quiz.toml";
  return fs::exists(file, ec) ? std::optional<Quiz>(load_quiz(file)) : std::nullopt;
}

}  // namespace ridge::loop
