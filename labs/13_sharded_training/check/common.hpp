// What the checks of lab 13 share: a training step in double precision, shards, traffic.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../units.hpp"
#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/memo.hpp"

namespace ridge::lab::sharded_training {

// A step's results for all units, one after another, and what an honest error of each element is.
struct Step {
  std::vector<double> gradient, deviation;
  std::vector<std::vector<double>> of_rank;  // what each rank adds to the gradient; empty for large models
};

// Tasks that train. Sizes of a case: layers, channels, heads, T, vocabulary, sequences of all ranks.
class Training : public TaskCheck {
 public:
  std::vector<Case> cases(const Request& r) const override;
  Work work(const Case& c) const override;
  double bytes_from_host(const Case& c) const override;
  Verdict verify_messages(const Case& c, std::span<const Message> messages) const override;

 protected:
  // Blocks of the measured case on the emulator.
  virtual std::int64_t measured_blocks() const { return 4; }
  // How often rank r's share of each unit's weights is gathered, beside one reduce-scatter of each unit.
  virtual std::int64_t gathers(const Case& c, int unit) const = 0;
  virtual std::uint64_t bytes_of_weight() const { return 4; }  // as it is gathered
  virtual const char* needed() const = 0;

  static nn::ModelConfig config(const Case& c);
  static units::Units units_of(const Case& c) { return units::Units(config(c)); }
  static std::int64_t sequences(const Case& c, int rank);
  static std::size_t bytes_of_tokens(const Case& c) {
    return static_cast<std::size_t>(2 * sequences(c, c.rank) * c.size[3]) * 4;
  }
  // All units' weights, as in the middle of training; the own moments of a rank.
  static std::vector<float> weights(const Case& c, std::uint64_t seed);
  static void fill_own(const Case& c, std::uint64_t seed, Buffers in);
  // in: four buffers of each rank, of which 1 to 3 are tokens, m and v. before: all units' weights.
  std::shared_ptr<const Step> step(const Case& c, ConstBuffers in, std::span<const float> before) const;

  // What AdamW makes of element i of all units. before: its weight.
  struct Updated {
    Expected weight, m, v;
  };
  static Updated updated(const Case& c, const units::Units& units, const Step& s, ConstBuffers in, double before,
                         std::size_t i);
  // Rank r's own buffers of gradients, m and v.
  static Verdict verify_own(const Case& c, const Step& s, ConstBuffers in, ConstBuffers out, std::size_t rank);
  static Where where(const Case& c, const char* buffer, std::size_t rank, bool own);

 private:
  static Step make_step(const Case& c, ConstBuffers in, std::span<const float> before);
  Memo<Step> steps_{3};  // on GPUs some 500 MB each
};

// Compares; where most of the wrong elements have a suspect's values, the message says what they are.
struct Suspect {
  std::string what;
  std::function<double(std::size_t)> value;
};
Verdict compare_with(std::span<const float> got, const std::function<Expected(std::size_t)>& right, const Where& where,
                     const std::vector<Suspect>& suspects);

std::unique_ptr<TaskCheck> memory_plan();
std::unique_ptr<TaskCheck> zero2();
std::unique_ptr<TaskCheck> zero3();
std::unique_ptr<TaskCheck> recompute();
std::unique_ptr<TaskCheck> clip_and_save();

}  // namespace ridge::lab::sharded_training
