// key, verify and report: what is done with records after the judge wrote them.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "app/commands.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/result/record.hpp"
#include "grader/result/report.hpp"
#include "grader/result/report_formats.hpp"
#include "grader/result/signature.hpp"
#include "grader/result/verify.hpp"
#include "learn/report/html_report.hpp"

namespace ridge {

namespace {

std::string read_all(const std::string& file) {
  std::error_code ec;
  if (!fs::is_regular_file(file, ec)) throw Error(Exit::usage, "there is no file " + file, "check the path");
  if (fs::file_size(file, ec) > kMaxRecordBytes) throw Error(Exit::usage, file + " is larger than 16 MiB", "");
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

fs::path key_file(const std::string& named) {
  fs::path file = named.empty() ? signing_key_file() : fs::path(named);
  if (file.empty())
    throw Error(Exit::usage, "no place for the key: neither HOME nor XDG_CONFIG_HOME is set", "name a file");
  return file;
}

}  // namespace

int command_key_new(const std::string& file) {
  fs::path path = key_file(file);
  PublicKey key = new_signing_key(path);
  fmt::print("Made {} (private: whoever reads it can sign) and {}.pub\nkey id     {}\npublic key {}\n", shown(path),
             shown(path), key.id(), key.hex());
  return 0;
}

int command_key_show(const std::string& file) {
  fs::path path = key_file(file);
  PublicKey key = public_key(path.string());
  fmt::print("key id     {}\npublic key {}\n", key.id(), key.hex());
  return 0;
}

int command_verify(const VerifyArguments& a) {
  VerifyOptions options;
  for (const auto& key : a.keys) options.keys.push_back(public_key(key));
  options.after = a.after;
  if (!a.submission.empty()) options.submission = a.submission;
  std::vector<std::string> texts;
  for (const auto& file : a.files) texts.push_back(read_all(file));
  std::vector<Verified> all = verify_records(texts, options);
  bool valid = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Verified& v = all[i];
    valid = valid && v.problem.empty();
    if (!v.problem.empty()) {
      fmt::print("INVALID {}: {}\n", printable(a.files[i]), printable(v.problem));
      continue;
    }
    const Result& r = v.result;
    std::string text = fmt::format("{} {:g} / {:g}, {} ({} on {}), attempt {}", r.lab, r.points, r.max, r.standing,
                                   r.mode, r.backend, r.attempt);
    fmt::print("valid   {}: {}\n        signed by {}{}\n", printable(a.files[i]), printable(text), v.signer.id(),
               options.keys.empty() ? " (anybody can make a key: name the course's with --key)" : ", a key you named");
  }
  return valid ? 0 : 1;
}

std::string in_format(const Result& r, const std::string& format, const std::string& json) {
  if (format == "json") return json;
  if (format == "junit") return junit_report(r);
  if (format == "gradescope") return gradescope_report(r);
  if (format == "autolab") return autolab_report(r);
  if (format == "prairielearn") return prairielearn_report(r);
  return report(r, use_colour(stdout));
}

int command_report(const ReportArguments& a) {
  if (!a.html.empty()) return loop::html_report(a.html, a.files);
  if (a.files.size() != 1)
    throw Error(Exit::usage, a.files.empty() ? "no record was named" : "one record at a time, except with --html",
                "records lie in work/.ridge/results/; `ridge report --html F.html` takes all of yours");
  const std::string& file = a.files[0];
  std::string text = read_all(file);
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

}  // namespace ridge
