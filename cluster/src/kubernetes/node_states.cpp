#include "cluster/src/kubernetes/node_states.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "formats/json_fields.hpp"

namespace ridge::cluster {

using nlohmann::json;

namespace {

const json& part(const json& node, const char* first, const char* second) {
  static const json nothing;
  const auto a = node.find(first);
  if (a == node.end()) return nothing;
  const auto b = a->find(second);
  return b == a->end() ? nothing : *b;
}

bool has_labels(const json& node, const PodOptions& pods) {
  const json& labels = part(node, "metadata", "labels");
  return std::ranges::all_of(pods.node_selector,
                             [&](const auto& l) { return text_at(labels, l.first.c_str()) == l.second; });
}

// Of extended resources, which are whole numbers.
long amount(const json& node, const std::string& resource) {
  return std::atol(text_at(part(node, "status", "allocatable"), resource.c_str()).c_str());
}

}  // namespace

bool is_well(const json& node) {
  for (const json& taint : part(node, "spec", "taints"))
    if (text_at(taint, "effect") == "NoExecute" || text_at(taint, "key").starts_with("node.kubernetes.io/"))
      return false;
  return !flag_at(node.value("spec", json::object()), "unschedulable") &&
         std::ranges::any_of(part(node, "status", "conditions"), [](const json& c) {
           return text_at(c, "type") == "Ready" && text_at(c, "status") == "True";
         });
}

std::vector<std::string> fitting(const json& nodes, const PodOptions& pods) {
  std::vector<std::string> names;
  for (const json& node : nodes.value("items", json::array()))
    if (is_well(node) && has_labels(node, pods) && std::ranges::all_of(pods.resources, [&](const auto& r) {
          return amount(node, r.first) >= std::atol(r.second.c_str());
        }))
      names.push_back(text_at(node.value("metadata", json::object()), "name"));
  return names;
}

std::vector<std::string> offers(const json& nodes) {
  std::map<std::string, long> sums;
  for (const json& node : nodes.value("items", json::array()))
    for (const auto& [resource, value] : part(node, "status", "allocatable").items())
      if (resource.starts_with("nvidia.com/")) sums[resource] += amount(node, resource);
  std::vector<std::string> all;
  for (const auto& [resource, sum] : sums) all.push_back(fmt::format("{}: {}", resource, sum));
  return all;
}

}  // namespace ridge::cluster
