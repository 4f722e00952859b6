#include "serve/class_page.hpp"

#include <chrono>
#include <utility>

#include "grader/base/clock.hpp"
#include "grader/base/error.hpp"
#include "grader/sandbox/process.hpp"
#include "serve/entrance.hpp"

namespace ridge::serve {

namespace {

constexpr auto kPeriod = std::chrono::seconds(1);  // between looks at the gradebook
constexpr double kReportSeconds = 120;

// The report's own policy stands in it, and allows its one script alone.
net::Fields report_fields() {
  return {{"Content-Security-Policy", "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"}};
}

}  // namespace

ClassPage::ClassPage(fs::path program, std::string token, std::string course, std::string lab, fs::path gradebook)
    : program_(std::move(program)),
      token_(std::move(token)),
      course_(std::move(course)),
      lab_(std::move(lab)),
      gradebook_(std::move(gradebook)),
      asked_(now()) {
  const fs::path share = build_dir() / "share" / "serve";
  for (const char* name : {"class.html", "class.js", "class.css", "api.js", "proof.js", "refused.js", "icon.svg"})
    files_[name] = {file_text(share / name), media_type(name)};
  thread_ = std::thread([this] { run(); });
}

ClassPage::~ClassPage() {
  {
    std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

net::Site ClassPage::site() {
  net::Fields fields = page_fields();
  for (auto& [name, value] : fields)
    if (name == "Content-Security-Policy") value += "; frame-src 'self'";
  return {[this](const net::Request& in) {
            net::Judged j = judge_entry(in, token_, {});
            if (j.known) asked_ = now();
            return j;
          },
          [this](const net::Request& in) { return answer(in); }, fields};
}

double ClassPage::idle_seconds() const { return events_.listeners() > 0 ? 0 : now() - asked_; }

net::Response ClassPage::answer(const net::Request& in) {
  const std::string rest = behind_token(in, token_, {});
  if (in.method != "GET" && in.method != "HEAD") return problem(404, "there is nothing at this address");
  if (rest == "report") {
    std::lock_guard lock(mutex_);
    net::Response out = file_response(report_, "text/html; charset=utf-8");
    if (report_.empty()) out = problem(503, "the report is being written");
    out.fields = report_fields();
    return out;
  }
  if (rest == "api/events") {
    net::Response out;
    out.type = "text/event-stream";
    out.stream = [this](const std::shared_ptr<net::EventStream>& tab) {
      events_.listen(tab, [this] { return net::as_event("hello", state()); });
    };
    return out;
  }
  const auto file = files_.find(rest.empty() ? "class.html" : rest);
  if (file == files_.end()) return problem(404, "there is nothing at this address");
  return file_response(file->second.text, file->second.type);
}

nlohmann::json ClassPage::state() {
  std::lock_guard lock(mutex_);
  return {{"lab", lab_}, {"number", number_}, {"problem", problem_}, {"proof", proof_json(token_)}};
}

ClassPage::Stamp ClassPage::look() const {
  Stamp s;
  std::error_code ec;
  s.time = fs::last_write_time(gradebook_, ec);
  s.bytes = ec ? 0 : fs::file_size(gradebook_, ec);
  // The log of commits that are not in the file yet; an empty one is as none.
  const fs::path log = gradebook_.string() + "-wal";
  const std::uintmax_t bytes = fs::file_size(log, ec);
  if (ec || bytes == 0) return s;
  s.log_bytes = bytes;
  s.log_time = fs::last_write_time(log, ec);
  return s;
}

void ClassPage::write_report() try {
  const TemporaryDir folder("ridge-class-");
  const fs::path file = folder.path() / "class.html";
  ProcessLimits limits;
  limits.seconds = kReportSeconds;
  const ProcessResult r =
      run_process({program_.string(), "cluster", "report", "--course", course_, "--lab", lab_, "--html", file.string()},
                  folder.path(), limits);
  const std::string text = r.exit_code == 0 ? file_text(file) : "";
  std::lock_guard lock(mutex_);
  problem_ = !text.empty() ? "" : r.timed_out ? "the report took too long" : r.output.substr(0, 1000);
  if (text.empty()) return;
  report_ = text;
  ++number_;
} catch (const Error& e) {
  std::lock_guard lock(mutex_);
  problem_ = std::string(e.what()) + (e.advice.empty() ? "" : "; " + e.advice);
}

void ClassPage::run() {
  bool again = true;
  Stamp last;
  std::unique_lock lock(mutex_);
  while (!ends_) {
    lock.unlock();
    // Reading the gradebook may itself put its log away: one more report then finds nothing new.
    if (const Stamp before = look(); again || before != last) {
      write_report();
      last = look();
      again = last != before;
      nlohmann::json told = state();
      told.erase("proof");
      events_.tell("report", told);
    }
    lock.lock();
    wake_.wait_for(lock, kPeriod, [this] { return ends_; });
  }
}

}  // namespace ridge::serve
