#include "cluster/src/kubernetes/kubectl.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cluster/src/base/strings.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/sandbox/process.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

// Standard error comes first: warnings of the server, a line each. The answer begins with its brace.
std::string from_brace(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '{') return text.substr(at);
    const auto end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return "";
}

// kubectl prints an empty list before it says that it reached no server.
std::string without_json(const std::string& text) {
  std::string rest;
  bool inside = false;
  for (const std::string& line : split(text, '\n')) {
    inside = inside || line.starts_with('{');
    if (!inside) rest += (rest.empty() ? "" : "\n") + line;
    if (line.ends_with('}') && (line.starts_with('}') || line.starts_with('{'))) inside = false;
  }
  return rest;
}

}  // namespace

// kubectl's own words: "Error from server (Forbidden): ...", "The Job "x" is invalid: ...", "error: no context exists".
// A server that is away or overloaded gives other ones, some with a reason too.
bool is_refusal(const std::string& message) {
  for (const char* passing : {"(InternalError)", "(ServiceUnavailable)", "(Timeout)", "(ServerTimeout)",
                              "(TooManyRequests)", "(Expired)", "(Conflict)", "etcdserver"})
    if (message.find(passing) != std::string::npos) return false;
  // An API server that has just started knows neither its roles nor all namespaces yet.
  if (message.find("not yet ready") != std::string::npos || message.find("RBAC: ") != std::string::npos) return false;
  return message.find("Error from server (") != std::string::npos ||
         message.find(" is invalid: ") != std::string::npos || message.find("error validating") != std::string::npos ||
         message.find("strict decoding") != std::string::npos;
}

KubectlAnswer Kubectl::run(std::vector<std::string> words, double seconds) const {
  std::vector<std::string> argv = {"kubectl", "--namespace=" + cluster_.name_space,
                                   fmt::format("--request-timeout={:.0f}s", seconds - 5)};
  if (!cluster_.context.empty()) argv.push_back("--context=" + cluster_.context);
  argv.insert(argv.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  ProcessResult r = run_process(argv, "/", {.seconds = seconds, .output_bytes = 64 << 20, .flood_bytes = 128 << 20});
  if (!r.started || r.exit_code == 127)
    throw Error(Exit::environment, "kubectl can't be started",
                "install it (Debian's package is kubernetes-client), with a kubeconfig for this account");
  if (r.exit_code == 0) return {KubectlAnswer::Kind::good, r.output};
  std::string message =
      r.timed_out ? "kubectl did not answer" : capped(printable(trimmed(without_json(r.output))), 600);
  const bool refused = !r.timed_out && is_refusal(message);
  return {refused ? KubectlAnswer::Kind::refused : KubectlAnswer::Kind::none, message};
}

std::optional<json> Kubectl::get(std::vector<std::string> words, std::string& why) const {
  words.insert(words.begin(), "get");
  words.insert(words.end(), {"-o", "json"});
  const KubectlAnswer a = run(std::move(words));
  if (!a.good()) {
    why = a.text;
    return std::nullopt;
  }
  json answer = json::parse(from_brace(a.text), nullptr, false);
  if (!answer.is_object()) {  // cut off, or something else: it proves nothing
    why = "kubectl's answer is no JSON";
    return std::nullopt;
  }
  return answer;
}

}  // namespace ridge::cluster
