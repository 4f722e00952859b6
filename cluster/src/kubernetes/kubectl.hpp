// Runs kubectl. A missing answer is told from a refusal.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cluster/src/base/course.hpp"

namespace ridge::cluster {

struct KubectlAnswer {
  enum class Kind { good, refused, none } kind = Kind::none;
  std::string text;  // what kubectl printed; of a refusal or a missing answer, the message
  bool good() const { return kind == Kind::good; }
};

class Kubectl {
 public:
  explicit Kubectl(const KubernetesCluster& cluster) : cluster_(cluster) {}

  // Throws Error(Exit::environment) where the command is missing.
  KubectlAnswer run(std::vector<std::string> words, double seconds = 20) const;
  // The answer as JSON; nothing where there was none, or a refusal. `why` then has the message.
  std::optional<nlohmann::json> get(std::vector<std::string> words, std::string& why) const;

 private:
  KubernetesCluster cluster_;
};

// Whether the API server said no, as opposed to not answering or answering that it cannot serve now.
bool is_refusal(const std::string& message);

}  // namespace ridge::cluster
