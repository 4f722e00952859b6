#include "description.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <map>

namespace ridge::network {

namespace {

namespace fs = std::filesystem;

std::string in_digits(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", x);
  return text;
}

// The keys of a description, each taken once; what is left over is a mistake.
class Fields {
 public:
  Fields(const std::string& folder, const std::string& name) {
    const bool path = name.size() > 5 && name.substr(name.size() - 5) == ".toml";
    file_ = path ? name : folder + "/" + name + ".toml";
    if (!fs::is_regular_file(file_)) {
      std::string known;
      for (const std::string& n : names_in(folder)) known += (known.empty() ? "" : ", ") + n;
      throw DescriptionError(path ? "there is no file " + name
                                  : "there is no '" + name + "'; there are " + known + ", and files that end in .toml");
    }
    try {
      table_ = toml::parse_file(file_);
    } catch (const toml::parse_error& e) {
      throw DescriptionError(file_ + ":" + std::to_string(e.source().begin.line) + ": " + std::string(e.description()));
    }
  }

  std::string text(const std::string& key) {
    const auto value = take(key).value<std::string>();
    if (!value) fail(key, "is a text in quotes");
    return *value;
  }
  double number(const std::string& key, double least) {
    const auto value = take(key).value<double>();
    if (!value || !std::isfinite(*value) || !(*value >= least))
      fail(key, "is a number of " + in_digits(least) + " or more");
    return *value;
  }
  double positive(const std::string& key) {
    const auto value = take(key).value<double>();
    if (!value || !std::isfinite(*value) || !(*value > 0)) fail(key, "is a number above 0");
    return *value;
  }
  int whole(const std::string& key, int least) {
    const auto value = take(key).value<std::int64_t>();
    constexpr int most = 10'000'000;
    if (!value || *value < least || *value > most)
      fail(key, "is a whole number from " + std::to_string(least) + " to " + std::to_string(most));
    return static_cast<int>(*value);
  }
  double share(const std::string& key) {
    const double value = positive(key);
    if (value > 1) fail(key, "is a share above 0 and at most 1");
    return value;
  }
  bool flag(const std::string& key) {
    const auto value = take(key).value<bool>();
    if (!value) fail(key, "is true or false");
    return *value;
  }
  bool has(const std::string& key) const { return table_.contains(key); }
  void end() const {
    for (const auto& [key, value] : table_)
      if (taken_.count(std::string(key.str())) == 0)
        throw DescriptionError(file_ + ":" + std::to_string(value.source().begin.line) + ": unknown key '" +
                               std::string(key.str()) + "'");
  }
  [[noreturn]] void fail(const std::string& key, const std::string& what) const {
    const auto* node = table_.get(key);
    throw DescriptionError(file_ + (node != nullptr ? ":" + std::to_string(node->source().begin.line) : "") + ": " +
                           key + " " + what + (node == nullptr ? ", and is missing" : ""));
  }

 private:
  toml::node_view<const toml::node> take(const std::string& key) {
    taken_[key] = true;
    return std::as_const(table_)[key];
  }
  std::string file_;
  toml::table table_;
  std::map<std::string, bool> taken_;
};

}  // namespace

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Transformer load_transformer(const std::string& folder, const std::string& name) {
  Fields f(folder + "/models", name);
  Transformer m;
  m.title = f.text("title");
  m.layers = f.whole("layers", 1);
  m.hidden = f.whole("hidden", 1);
  m.heads = f.whole("heads", 1);
  m.kv_heads = f.has("kv_heads") ? f.whole("kv_heads", 1) : m.heads;
  m.head_width = f.has("head_width") ? f.whole("head_width", 1) : m.hidden / m.heads;
  m.feed_forward = f.has("feed_forward") ? f.whole("feed_forward", 1) : 4 * m.hidden;
  m.gated = f.has("gated") && f.flag("gated");
  m.vocabulary = f.whole("vocabulary", 1);
  m.sequence = f.whole("sequence", 1);
  m.tied = f.has("tied") && f.flag("tied");
  m.positions = f.has("positions") ? f.whole("positions", 0) : 0;
  f.end();
  if (!f.has("head_width") && m.hidden % m.heads != 0) f.fail("heads", "divides `hidden`, or head_width is given");
  if (m.heads % m.kv_heads != 0) f.fail("kv_heads", "divides the number of heads");
  return m;
}

namespace {

// Three keys: `key`, `key`_half and `key`_waves.
AttentionRate attention_rate_of(Fields& f, const std::string& key, double most) {
  AttentionRate rate;
  rate.flops = f.positive(key);
  if (rate.flops > most) f.fail(key, "is bf16_flops at most");
  rate.half = f.number(key + "_half", 0);
  rate.waves = f.has(key + "_waves") ? f.number(key + "_waves", 0) : 0;
  return rate;
}

}  // namespace

Gpu load_gpu(const std::string& folder, const std::string& name) {
  Fields f(folder + "/gpus", name);
  Gpu g;
  g.title = f.text("title");
  g.sms = f.whole("sms", 1);
  g.bf16_flops = f.positive("bf16_flops");
  g.fp8_flops = f.has("fp8_flops") ? f.number("fp8_flops", 0) : 0;
  if (g.fp8_flops > 0) g.fp8_efficiency = f.positive("fp8_efficiency");
  g.product_efficiency = f.share("product_efficiency");
  g.product_depth = f.number("product_depth", 0);
  g.clock_boost = f.has("clock_boost") ? f.number("clock_boost", 1) : 1;
  g.flash = {attention_rate_of(f, "flash_forward", g.bf16_flops), attention_rate_of(f, "flash_backward", g.bf16_flops)};
  if (f.has("cudnn_forward"))
    g.cudnn = {attention_rate_of(f, "cudnn_forward", g.bf16_flops),
               attention_rate_of(f, "cudnn_backward", g.bf16_flops)};
  g.memory_bandwidth = f.positive("memory_bandwidth");
  g.memory_bytes = f.positive("memory_bytes");
  g.kernel_seconds = f.number("kernel_seconds", 0);
  g.speed_spread = f.has("speed_spread") ? f.number("speed_spread", 0) : 0;
  g.speed_jitter = f.has("speed_jitter") ? f.number("speed_jitter", 0) : 0;
  f.end();
  if (g.product_efficiency * g.fp8_efficiency > 1) f.fail("fp8_efficiency", "times product_efficiency is 1 at most");
  return g;
}

Fabric load_fabric(const std::string& folder, const std::string& name) {
  Fields f(folder + "/fabrics", name);
  Fabric n;
  n.title = f.text("title");
  n.gpus = f.whole("gpus", 1);
  n.node_bandwidth = f.positive("node_bandwidth");
  n.node_latency = f.number("node_latency", 0);
  n.adapters = f.whole("adapters", 1);
  n.adapter_bandwidth = f.positive("adapter_bandwidth");
  n.latency = f.number("latency", 0);
  const std::string kind = f.has("kind") ? f.text("kind") : "full";
  if (kind == "fat_tree")
    n.kind = Fabric::Kind::fat_tree;
  else if (kind == "dragonfly")
    n.kind = Fabric::Kind::dragonfly;
  else if (kind != "full")
    f.fail("kind", "is \"full\", \"fat_tree\" or \"dragonfly\"");
  if (n.kind != Fabric::Kind::full) {
    n.unit = f.whole("unit", 1);
    n.oversubscription = f.has("oversubscription") ? f.positive("oversubscription") : 1;
  }
  if (n.kind == Fabric::Kind::fat_tree) {
    n.rails = f.has("rails") && f.flag("rails");
    n.paths = f.has("paths") ? f.whole("paths", 1) : 1;
  }
  f.end();
  if (n.gpus > 1024) f.fail("gpus", "is 1024 at most");
  if (n.adapters > n.gpus || n.gpus % n.adapters != 0) f.fail("adapters", "divides the number of GPUs");
  return n;
}

}  // namespace ridge::network
