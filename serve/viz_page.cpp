#include "serve/viz_page.hpp"

#include <utility>

#include "grader/base/clock.hpp"
#include "serve/entrance.hpp"

namespace ridge::serve {

VizPage::VizPage(fs::path program, std::string token, std::vector<std::string> words, Portals portals)
    : viz_(std::move(program)),
      token_(std::move(token)),
      shown_(std::move(words)),
      portals_(std::move(portals)),
      files_(load_page_files(build_dir() / "share" / "serve" / "viz")),
      asked_(now()) {
  for (const char* name : {"proof.js", "refused.js"}) {
    const fs::path file = build_dir() / "share" / "serve" / name;
    files_[name] = {file_text(file), media_type(name)};
  }
}

net::Site VizPage::site() {
  return {[this](const net::Request& in) {
            net::Judged j = judge_entry(in, token_, portals_);
            if (j.known) asked_ = now();
            return j;
          },
          [this](const net::Request& in) { return answer(in); }, page_fields()};
}

double VizPage::idle_seconds() const { return viz_.open() > 0 ? 0 : now() - asked_; }

net::Response VizPage::answer(const net::Request& in) {
  const std::string rest = behind_token(in, token_, portals_);
  if (in.method != "GET" && in.method != "HEAD") return problem(404, "there is nothing at this address");
  if (rest == "api/viz") {
    std::vector<std::string> words = shown_;
    const std::vector<std::string> wanted = view_words(in);
    if (!wanted.empty()) std::erase_if(words, [](const std::string& w) { return w.starts_with("--"); });
    words.insert(words.end(), wanted.begin(), wanted.end());
    return viz_.answer(in, words);
  }
  if (rest == "api/proof") return json_response(proof_json(token_));
  const auto file = files_.find(rest.empty() ? "viz.html" : rest);
  if (file == files_.end()) return problem(404, "there is nothing at this address");
  return file_response(file->second.text, file->second.type);
}

}  // namespace ridge::serve
