// ridge report shows a record, or writes it in another format.
#include "grader/result/report.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/command.hpp"
#include "app/commands/record_text.hpp"
#include "grader/result/report_formats.hpp"
#include "learn/report/html_report.hpp"

namespace ridge {

namespace {

struct ReportArguments {
  std::vector<std::string> files;  // --html takes many files, other formats take one
  std::string format = "terminal", out, html, name;
};

std::string in_format(const Result& r, const std::string& format, const std::string& json) {
  if (format == "json") return json;
  if (format == "junit") return junit_report(r);
  if (format == "gradescope") return gradescope_report(r);
  if (format == "autolab") return autolab_report(r);
  if (format == "prairielearn") return prairielearn_report(r);
  return report(r, use_colour(stdout));
}

int show_record(const ReportArguments& a) {
  if (!a.html.empty()) return loop::html_report(a.html, a.files, a.name);
  if (a.files.size() != 1)
    throw Error(Exit::usage, a.files.empty() ? "no record was named" : "one record at a time, except with --html",
                "records lie in work/.ridge/results/; `ridge report --html F.html` takes all of yours");
  const std::string& file = a.files[0];
  std::string text = record_text(file);
  Result r;
  try {
    nlohmann::json record = parse_json(text);
    if (!record.is_object() || record.value("schema", nlohmann::json()) != "ridge.result/1")
      throw Error(Exit::failed, "its schema is not ridge.result/1", "");
    r = read_result(record);
  } catch (const Error& e) {
    throw Error(Exit::usage, fmt::format("{} is no record: {}", file, e.what()),
                "records lie in work/.ridge/results/; see docs/result-format.md");
  }
  std::string out = in_format(r, a.format, text);
  if (a.out.empty())
    std::fwrite(out.data(), 1, out.size(), stdout);
  else
    write_durably(fs::absolute(a.out), out);
  return 0;
}

}  // namespace

void add_report(Commands& ridge) {
  CLI::App* command = ridge.add("report", "Show a record, or write it in another format",
                                "  ridge report result.json --format junit\n"
                                "  ridge report --html class.html work/.ridge/results/01_coalescing");
  auto a = std::make_shared<ReportArguments>();
  command->add_option("files", a->files, "Record (ridge.result/1); with --html also folders, one a student");
  command->add_option("--html", a->html, "Write one self-contained page of them (none named: your own) to this file");
  command->add_option("--name", a->name, "The person whose page it is, for its title")->needs("--html");
  command->add_option("--format", a->format, "Format")
      ->check(CLI::IsMember({"terminal", "json", "junit", "gradescope", "autolab", "prairielearn"}))
      ->capture_default_str();
  command->add_option("-o,--output", a->out, "Write to this file");
  ridge.set_action(command, [a] { return show_record(*a); });
}

}  // namespace ridge
