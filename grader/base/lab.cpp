#include "grader/base/lab.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "grader/base/error.hpp"
#include "grader/base/text.hpp"

namespace ridge {

namespace {

// Reads values and says where one is missing or of the wrong kind.
class Reader {
 public:
  Reader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  template <class T>
  T required(const char* key) const {
    asked_.insert(key);
    const toml::node* node = table_.get(key);
    if (node != nullptr)
      if (auto value = node->value<T>()) return *value;
    auto line = (node != nullptr ? node->source() : table_.source()).begin.line;
    throw Error(Exit::environment,
                fmt::format("{}:{}: '{}' is {}", file_, line, key, node != nullptr ? "of the wrong type" : "missing"),
                "see labs/01_coalescing/lab.toml for a complete example");
  }
  template <Named E>
  E named(const char* key) const {
    const auto word = required<std::string>(key);
    if (const auto value = parse<E>(word)) return *value;
    refuse(*table_.get(key), key, word, Words<E>::all);
  }
  template <Named E>
  std::vector<E> all_named(const char* key) const {
    std::vector<E> all;
    for (const std::string& word : strings(key)) {
      const auto value = parse<E>(word);
      if (!value) refuse(*table_.get(key), key, word, Words<E>::all);
      all.push_back(*value);
    }
    return all;
  }
  template <class T>
  T optional(const char* key, T otherwise) const {
    asked_.insert(key);
    return table_[key].value_or(otherwise);
  }
  std::vector<std::string> strings(const char* key) const {
    asked_.insert(key);
    std::vector<std::string> all;
    if (const auto* array = table_[key].as_array())
      for (const auto& item : *array)
        if (auto text = item.value<std::string>()) all.push_back(*text);
    return all;
  }
  std::vector<int> numbers(const char* key) const {
    asked_.insert(key);
    std::vector<int> all;
    if (const auto* array = table_[key].as_array())
      for (const auto& item : *array)
        if (auto number = item.value<std::int64_t>(); number && *number >= 1 && *number <= 64)
          all.push_back(static_cast<int>(*number));
    return all;
  }
  std::optional<Reader> table(const char* key) const {
    asked_.insert(key);
    const auto* table = table_[key].as_table();
    return table != nullptr ? std::optional<Reader>(Reader(*table, file_)) : std::nullopt;
  }
  std::vector<Reader> tables(const char* key) const {
    asked_.insert(key);
    std::vector<Reader> all;
    if (const auto* array = table_[key].as_array())
      for (const auto& item : *array)
        if (const auto* table = item.as_table()) all.emplace_back(*table, file_);
    return all;
  }
  // A key that nobody asked for is a mistake: it would do nothing.
  void finish() const {
    for (const auto& [key, node] : table_)
      if (asked_.count(std::string(key.str())) == 0)
        throw Error(Exit::environment,
                    fmt::format("{}:{}: unknown key '{}'", file_, node.source().begin.line, key.str()),
                    "see labs/01_coalescing/lab.toml for a complete example");
  }

 private:
  template <class Known>
  [[noreturn]] void refuse(const toml::node& node, const char* key, const std::string& word, const Known& known) const {
    throw Error(Exit::environment,
                fmt::format("{}:{}: '{}' has the value '{}', which there is not", file_, node.source().begin.line, key,
                            printable(word)),
                fmt::format("it can be {}", fmt::join(known, ", ")));
  }

  const toml::table& table_;
  std::string file_;
  mutable std::set<std::string> asked_;
};

// The line of the first character beyond ASCII that is in no string and no comment, or 0. TOML has none there, and
// toml++ 3.3 runs into undefined behaviour on some (found by fuzzing).
int foreign_line(std::string_view text) {
  int line = 1;
  std::string_view quote;  // of the string that we are in; "#" in a comment
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (text[i] == '\n') {
      ++line;
      if (quote.size() == 1) quote = {};  // strings of one line and comments end
    } else if (quote.empty()) {
      if (static_cast<unsigned char>(text[i]) >= 0x80) return line;
      // A quote inside of a word begins no string.
      const bool word = i > 0 && std::string_view(" \t\r\n=[,{.").find(text[i - 1]) == std::string_view::npos;
      for (std::string_view q : {"\"\"\"", "\'\'\'", "\"", "'", "#"})
        if ((!word || q == "#") && rest.substr(0, q.size()) == q) {
          quote = q;
          i += q.size() - 1;
          break;
        }
    } else if (text[i] == '\\' && quote[0] == '"') {
      if (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (quote != "#" && rest.substr(0, quote.size()) == quote) {
      i += quote.size() - 1;
      quote = {};
    }
  }
  return 0;
}

bool all_digits(const std::string& s) { return !s.empty() && s.find_first_not_of("0123456789") == std::string::npos; }

}  // namespace

double Task::points(lab::Backend backend) const {
  if (!needs.empty() && backend == lab::Backend::cpu) return 0;
  double sum = points_correct;
  for (const Goal& g : goals)
    if (g.backend == backend) sum += g.points;
  return sum;
}

bool Lab::has_backend(lab::Backend backend) const {
  return backends.empty() || std::find(backends.begin(), backends.end(), backend) != backends.end();
}

int Lab::most_gpus(int here) const {
  int most = 1;
  for (int p : ranks)
    if (p <= here) most = std::max(most, p);
  return most;
}

bool runs_on(const std::string& needs, const std::string& compute) {
  std::string digits;
  for (char c : compute)
    if (c != '.') digits += c;
  if (digits.empty() || needs.rfind("sm_", 0) != 0) return false;
  const std::string number = needs.substr(3, needs.find_last_of("0123456789") - 2);
  return number.size() + 3 < needs.size() ? digits == number : std::atoi(digits.c_str()) >= std::atoi(number.c_str());
}

Lab load_lab(const fs::path& dir) {
  std::ifstream in(dir / "lab.toml", std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad() || !in.is_open())
    throw Error(Exit::environment, "cannot read " + shown(dir / "lab.toml"), "check that it is readable");
  return parse_lab(text, dir);
}

Lab parse_lab(std::string_view text, const fs::path& dir) {
  fs::path file = dir / "lab.toml";
  if (int line = foreign_line(text); line != 0)
    throw Error(Exit::environment,
                fmt::format("{}:{}: a character that is not ASCII, outside of quotes", shown(file), line),
                "correct the manifest");
  toml::table table;
  try {
    table = toml::parse(text, file.string());
  } catch (const toml::parse_error& e) {
    throw Error(Exit::environment,
                fmt::format("{}:{}: {}", shown(file), e.source().begin.line, std::string(e.description())),
                "correct the manifest");
  }
  Reader r(table, shown(file));
  Lab lab;
  lab.name = dir.filename().string();
  lab.dir = dir;
  lab.title = r.required<std::string>("title");
  lab.order = static_cast<int>(r.required<std::int64_t>("order"));
  lab.minutes = static_cast<int>(r.optional<std::int64_t>("minutes", 0));
  lab.prerequisites = r.strings("prerequisites");
  lab.backends = r.all_named<lab::Backend>("backends");
  lab.files = r.strings("files");
  lab.libraries = r.strings("libraries");
  lab.ranks = r.numbers("ranks");
  lab.baseline_libraries = r.strings("baseline_libraries");
  if (auto forbid = r.table("forbid")) {
    for (const lab::Backend backend : lab.backends) lab.forbid[backend] = forbid->strings(name_of(backend));
    lab.entry_calls = forbid->strings("entry");
    lab.forbidden_headers = forbid->strings("headers");
  }
  for (const Reader& t : r.tables("task")) {
    Task task;
    task.id = t.required<std::string>("id");
    task.title = t.required<std::string>("title");
    task.file = t.optional<std::string>("file", "");
    task.points_correct = t.required<double>("points_correct");
    task.needs = t.optional<std::string>("needs", "");
    task.baseline = t.optional<std::string>("baseline", "");
    task.lesson = t.optional<std::string>("lesson", "");
    task.hints = t.strings("hints");
    for (const Reader& g : t.tables("goal")) {
      task.goals.push_back({g.required<std::string>("id"), g.required<std::string>("title"),
                            g.named<lab::Backend>("backend"), g.required<std::string>("metric"),
                            g.required<double>("zero"), g.required<double>("full"), g.required<double>("points"),
                            g.optional<std::string>("after", ""), g.optional<std::string>("lesson", "")});
      g.finish();
      if (task.goals.back().metric == "ratio_to_baseline" && task.baseline.empty())
        throw Error(
            Exit::environment,
            fmt::format("{}: task '{}' is measured against a baseline and does not say which", shown(file), task.id),
            "add baseline = \"cudaMemcpy\", or what baseline.cu does");
    }
    t.finish();
    lab.tasks.push_back(std::move(task));
  }
  r.finish();
  return lab;
}

std::vector<Lab> load_labs() {
  std::vector<Lab> labs;
  std::vector<fs::path> folders = {root_dir() / "labs"};
#ifdef RIDGE_DEFENCE_SWITCHES
  folders.push_back(root_dir() / "tests/grader/labs");  // the test program has labs of its own
#endif
  for (const auto& folder : folders)
    if (fs::is_directory(folder))
      for (const auto& entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "lab.toml")) labs.push_back(load_lab(entry.path()));
  std::sort(labs.begin(), labs.end(), [](const Lab& a, const Lab& b) { return a.name < b.name; });
  return labs;
}

Lab find_lab(const std::string& key) {
  std::vector<Lab> labs = load_labs();
  std::string known;
  std::vector<std::string> names;
  for (const Lab& lab : labs) {
    std::string number = lab.name.substr(0, lab.name.find('_'));
    std::string rest = lab.name.substr(std::min(lab.name.size(), number.size() + 1));
    if (key == lab.name || key == rest) return lab;
    if (all_digits(key) && all_digits(number) && key.size() < 6 && std::stoi(key) == std::stoi(number)) return lab;
    known += (known.empty() ? "" : ", ") + lab.name;
    names.insert(names.end(), {lab.name, rest});
  }
  const std::string near = nearest(key, names);
  throw Error(Exit::usage, fmt::format("there is no lab '{}'", key),
              (near.empty() ? "" : "did you mean " + near + "? ") + "labs here: " + known);
}

}  // namespace ridge
