#include "compressed_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ridge::lab::ddp {

namespace {

constexpr std::size_t kMost = 1 << 16;  // elements: a measured case on a GPU has many

struct Rule {
  const char* what;
  double gradient = 1, residual = 1;  // factors, in what is sent
  enum { largest_magnitude, largest, last_of_equals, first_k, others } chooses = largest_magnitude;
  bool keeps = false;  // what was sent, in the residual
};

constexpr Rule kRules[] = {
    {"that adds the residual twice", 1, 2},
    {"that leaves out the residual: gradient + residual must be sent", 1, 0},
    {"that leaves out the gradient: gradient + residual must be sent", 0, 1},
    {"that sends the k largest values: the k largest magnitudes must be sent", 1, 1, Rule::largest},
    {"that sends those of the higher index, where magnitudes are equal: the lower index goes first", 1, 1,
     Rule::last_of_equals},
    {"that sends the elements 0 to k - 1, which top_k chooses where all values are 0: had the copy to the host ended "
     "when they were read?",
     1, 1, Rule::first_k},
    {"that keeps in the residual what it has sent: a sent element must become 0", 1, 1, Rule::largest_magnitude, true},
};

// Indices of the k elements that the rule sends.
std::vector<std::size_t> chosen(const std::vector<double>& a, std::size_t k, const Rule& rule) {
  std::vector<std::size_t> all(a.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (rule.chooses != Rule::first_k)
    std::sort(all.begin(), all.end(), [&](std::size_t i, std::size_t j) {
      const double x = rule.chooses == Rule::largest ? a[i] : std::fabs(a[i]);
      const double y = rule.chooses == Rule::largest ? a[j] : std::fabs(a[j]);
      return x != y ? x > y : rule.chooses == Rule::last_of_equals ? i > j : i < j;
    });
  all.resize(k);
  return all;
}

// The elements that became 0.
std::vector<std::size_t> cleared(const std::vector<double>& a, std::span<const float> got) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (got[i] == 0 && a[i] != 0) all.push_back(i);
  return all;
}

// Of the elements that all ranks send.
struct Choice {
  std::size_t right = 0, smaller = 0;  // among those that should be sent; smaller than all of these
};

// Whether all residuals and rank 0's mean are by the rule.
bool follows(const Rule& rule, ConstBuffers in, ConstBuffers out, std::size_t k, std::size_t ranks,
             Choice* choice = nullptr) {
  const std::size_t n = floats(in[0]).size();
  std::vector<double> mean(n), magnitude(n), a(n);
  auto near = [](float got, double value, double size) {
    return std::fabs(double{got} - value) <= 8 * kFp32.unit() * size;
  };
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto gradient = floats(in[2 * r]), residual = floats(in[2 * r + 1]), got = floats(out[2 * r + 1]);
    // Rounded to fp32, in which magnitudes are compared.
    for (std::size_t i = 0; i < n; ++i)
      a[i] = static_cast<float>(rule.gradient * gradient[i] + rule.residual * residual[i]);
    std::vector<double> left = a;
    std::vector<std::size_t> sent = rule.chooses == Rule::others ? cleared(a, got) : chosen(a, k, rule);
    if (sent.size() != k) return false;
    if (choice != nullptr) {
      std::vector<std::size_t> largest = chosen(a, k, Rule{});
      const double least = std::fabs(a[largest.back()]);
      std::sort(largest.begin(), largest.end());
      for (std::size_t i : sent) {
        choice->right += std::binary_search(largest.begin(), largest.end(), i) ? 1 : 0;
        choice->smaller += std::fabs(a[i]) < least ? 1 : 0;
      }
    }
    for (std::size_t i : sent) {
      mean[i] += a[i] / static_cast<double>(ranks), magnitude[i] += std::fabs(a[i]);
      if (!rule.keeps) left[i] = 0;
    }
    for (std::size_t i = 0; i < n; ++i)
      if (!near(got[i], left[i], std::fabs(left[i]))) return false;
  }
  for (std::size_t i = 0; i < n; ++i)
    if (!near(floats(out[0])[i], mean[i], magnitude[i])) return false;
  return true;
}

}  // namespace

std::string compression_behind(ConstBuffers in, ConstBuffers out, std::size_t k, std::size_t ranks, bool by_host) {
  if (floats(in[0]).size() > kMost) return {};
  for (const Rule& rule : kRules)
    if (follows(rule, in, out, k, ranks)) return rule.what;
  Rule others{};
  others.chooses = Rule::others;
  Choice choice;
  if (!follows(others, in, out, k, ranks, &choice)) return {};
  if (choice.smaller == 0)
    return fmt::format(
        "that sends k elements on each rank, none smaller than the k-th largest magnitude, but {} of {} are not "
        "the right ones: first all larger ones must be sent, then those of lower index among the equal ones",
        k * ranks - choice.right, k * ranks);
  return fmt::format(
      "that sends k elements of gradient + residual on each rank, but only {} of {} {} among the k largest "
      "magnitudes. Were all values there when it compared them{}?",
      choice.right, k * ranks, choice.right == 1 ? "is" : "are", by_host ? " (had the copy to the host ended)" : "");
}

}  // namespace ridge::lab::ddp
