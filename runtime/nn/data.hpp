// Training data: a random source whose entropy is known exactly, so that a loss has a known floor, and
// text. Host code, no CUDA.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace nn {

// tokens, targets: (B, T); a target is the token that follows.
struct Batch {
  std::vector<int> tokens, targets;
};

// SplitMix64: equal on every machine, where the distributions of <random> are not.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
  }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }  // [0, 1)
  std::size_t below(std::size_t n) { return static_cast<std::size_t>(uniform() * static_cast<double>(n)); }

 private:
  std::uint64_t state_;
};

// -sum p log p, in nats.
inline double entropy(const std::vector<double>& p) {
  double h = 0;
  for (double x : p) h -= x > 0 ? x * std::log(x) : 0;
  return h;
}

// A Markov chain over V tokens: the next one depends on the last `order` ones (1 or 2). Each context has a few likely
// successors, and every token a small chance, so the chain is ergodic: one stationary distribution, found by iteration,
// gives the entropies exactly.
class MarkovSource {
 public:
  static constexpr int kSuccessors = 4;
  static constexpr double kAnywhere = 0.05;  // the share of the probability that is spread over all tokens

  MarkovSource(int vocabulary, int order, std::uint64_t seed)
      : vocabulary_(static_cast<std::size_t>(vocabulary)), order_(order) {
    if (vocabulary < 2 || (order != 1 && order != 2))
      throw std::invalid_argument("nn: a Markov source has 2 tokens or more and the order 1 or 2");
    Random random(seed);
    const std::size_t V = vocabulary_, contexts = order == 1 ? V : V * V;
    next_.assign(contexts * V, kAnywhere / static_cast<double>(V));
    for (std::size_t c = 0; c < contexts; ++c) {
      double weights[kSuccessors], sum = 0;
      for (double& w : weights) sum += w = 0.1 + random.uniform();
      for (double w : weights) next_[c * V + random.below(V)] += (1 - kAnywhere) * w / sum;
    }
    std::vector<double> p(contexts, 1 / static_cast<double>(contexts)), q;
    for (double change = 1; change > 1e-14;) {
      q.assign(contexts, 0);
      for (std::size_t c = 0; c < contexts; ++c)
        for (std::size_t v = 0; v < V; ++v) q[after(c, v)] += p[c] * next_[c * V + v];
      change = 0;
      for (std::size_t c = 0; c < contexts; ++c) change += std::abs(p[c] - q[c]);
      p.swap(q);
    }
    std::vector<double> one(V, 0), two(V * V, 0);
    for (std::size_t c = 0; c < contexts; ++c)
      for (std::size_t v = 0; v < V; ++v) {
        const double joint = p[c] * next_[c * V + v];
        one[v] += joint;
        two[c % V * V + v] += joint;
        if (joint > 0) rate_ -= joint * std::log(next_[c * V + v]);
      }
    unigram_ = entropy(one);
    bigram_ = entropy(two) - unigram_;  // H(x, y) - H(x)
  }

  // The entropy of a token in nats when nothing, the last token, or the last `order` tokens are known. No model's loss
  // is below the last one.
  double unigram_entropy() const { return unigram_; }
  double bigram_entropy() const { return bigram_; }
  double entropy_rate() const { return rate_; }

  // B sequences of T tokens, each from a start of its own.
  Batch sample(int B, int T, Random& random) const {
    Batch out;
    for (int b = 0; b < B; ++b) {
      std::size_t context = random.below(next_.size() / vocabulary_);
      for (int t = -32; t <= T; ++t) {  // the first ones lead to the stationary distribution
        const int token = static_cast<int>(context % vocabulary_);
        if (t >= 0 && t < T) out.tokens.push_back(token);
        if (t > 0) out.targets.push_back(token);
        context = after(context, draw(context, random));
      }
    }
    return out;
  }

 private:
  std::size_t after(std::size_t context, std::size_t token) const {
    return order_ == 1 ? token : context % vocabulary_ * vocabulary_ + token;
  }
  std::size_t draw(std::size_t context, Random& random) const {
    double u = random.uniform();
    const double* p = &next_[context * vocabulary_];
    for (std::size_t v = 0; v + 1 < vocabulary_; ++v)
      if ((u -= p[v]) < 0) return v;
    return vocabulary_ - 1;
  }

  std::size_t vocabulary_;
  int order_;
  std::vector<double> next_;  // (contexts, V): probabilities; a context ends in its last token
  double unigram_ = 0, bigram_ = 0, rate_ = 0;
};

// Bytes of files: V = 256, no tokenizer.
class TextSource {
 public:
  // `path`: a file, or a folder, of which all README.md below it are taken in the order of their names.
  explicit TextSource(const std::string& path) {
    namespace fs = std::filesystem;
    std::vector<fs::path> files;
    if (fs::is_directory(path)) {
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.path().filename() == "README.md") files.push_back(entry.path());
      std::sort(files.begin(), files.end());
    } else {
      files.emplace_back(path);
    }
    for (const fs::path& file : files) {
      std::ifstream in(file, std::ios::binary);
      text_.insert(text_.end(), std::istreambuf_iterator<char>(in), {});
    }
    if (text_.size() < 2)
      throw std::invalid_argument("nn: there is no text in " + path +
                                  "; name a file, or a folder with README.md files");
  }

  std::size_t size() const { return text_.size(); }

  double unigram_entropy() const {
    std::vector<double> p(256, 0);
    for (char c : text_) p[static_cast<unsigned char>(c)] += 1 / static_cast<double>(text_.size());
    return entropy(p);
  }

  // B pieces of T bytes from random places.
  Batch sample(int B, int T, Random& random) const {
    if (text_.size() <= static_cast<std::size_t>(T))
      throw std::invalid_argument("nn: the text has " + std::to_string(text_.size()) +
                                  " bytes, too few for T = " + std::to_string(T));
    Batch out;
    for (int b = 0; b < B; ++b) {
      const std::size_t at = random.below(text_.size() - static_cast<std::size_t>(T));
      for (std::size_t t = 0; t < static_cast<std::size_t>(T); ++t) {
        out.tokens.push_back(static_cast<unsigned char>(text_[at + t]));
        out.targets.push_back(static_cast<unsigned char>(text_[at + t + 1]));
      }
    }
    return out;
  }

 private:
  std::vector<char> text_;
};

}  // namespace nn
