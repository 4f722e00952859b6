// What the checks of lab 07 share: the model of the tasks that train, its gradient in double precision, traffic.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "checks/compare.hpp"
#include "checks/memo.hpp"
#include "nn/layout.hpp"

namespace ridge::lab::ddp {

Verdict refused(std::string why);

// Output `which` of all ranks, bit for bit.
Verdict same_bits(ConstBuffers out, std::size_t outs, std::size_t which, const char* name);

// What ranks send: their bytes, and how many messages.
struct Traffic {
  std::uint64_t bytes = 0;
  std::vector<std::uint64_t> messages, sent;  // of each rank
  Traffic(const Case& c, std::span<const Message> all);
};

// The gradient of the mean loss over all tokens of all ranks, and what an honest error of each element is.
struct Gradient {
  std::vector<double> value, deviation;
};

// A wrong answer that somebody may have computed: what it is, in words, and its element i.
struct Suspect {
  std::string what;
  std::function<double(std::size_t)> value;
};

// What nearly all wrong elements of `got` are, in words ("; the wrong elements are ..."), where it is one of the suspects' answers.
// Empty for none. `right` has the expected elements.
std::string found(std::span<const float> got, const std::function<Expected(std::size_t)>& right,
                  const std::vector<Suspect>& suspects, const Where& where);
// Compares, and names the suspect; they are only asked for where the answer is wrong.
Verdict compare_with(std::span<const float> got, const std::function<Expected(std::size_t)>& right, const Where& where,
                     const std::function<std::vector<Suspect>()>& suspects);

// Tasks that train. Sizes of a case: layers, channels, heads, T, vocabulary, sequences of a micro-batch on all ranks,
// micro-batches, bucket_bytes.
class Training : public TaskCheck {
 public:
  std::vector<Case> cases(const Request& r) const override;
  Shape shape(const Case& c) const override;
  void fill(const Case& c, std::uint64_t seed, Buffers in) const override;
  Work work(const Case& c) const override;
  double bytes_from_host(const Case& c) const override;
  bool host_reads_inputs() const override { return false; }

 protected:
  virtual void add_small(int /* ranks */, std::vector<Case>&) const {}
  virtual void add_measured(const Request&, std::vector<Case>&) const {}
  virtual std::int64_t micro_batches(int) const { return 1; }
  virtual int most_measured() const { return 4; }  // ranks
  virtual std::int64_t bucket_bytes(std::int64_t /* bytes of weights */) const { return 0; }

  Case small(int p, std::int64_t layers, std::int64_t channels, std::int64_t heads, std::int64_t T, std::int64_t V,
             std::int64_t of_all) const;
  static nn::ParameterLayout layout(const Case& c);
  static std::size_t elements(const Case& c) { return layout(c).elements; }
  static std::size_t bytes_of_weights(const Case& c) { return 4 * elements(c); }
  static std::int64_t sequences(const Case& c, int rank);
  static void fill_weights(const Case& c, std::uint64_t seed, std::span<float> to);

  std::shared_ptr<const Gradient> expected_gradient(const Case& c, ConstBuffers in, std::size_t ins) const;
  static Expected expected(double value, double deviation, double magnitude);
  // "block1.fc_w[3, 17]"
  static Where where(const Case& c, const char* buffer, std::size_t rank, std::size_t first = 0);
  // A rank's gradients, with what students compute in their place.
  static Verdict verify_gradient(const Case& c, const Gradient& g, ConstBuffers in, std::size_t ins,
                                 std::span<const float> got, std::size_t rank);
  // The gradients of what each rank alone adds to the sum, with rank 0's weights or with its own; of all micro-batches or of
  // one of them.
  static std::vector<std::vector<double>> parts(const Case& c, ConstBuffers in, std::size_t ins, bool own_weights,
                                                int only = -1);
  // All ranks together send what all-reduces of n elements take, and each sends as much, and n more where
  // it is in the chain of a broadcast.
  static Verdict verify_all_reduce(const Case& c, const Traffic& t, bool broadcast, const char* needed);

 private:
  static std::string name_of(const Case& c);
  static nn::ModelConfig config(const Case& c);
  static Gradient make_gradient(const Case& c, ConstBuffers in, std::size_t ins);
  static void add_gradient(const Case& c, ConstBuffers in, std::size_t ins, int rank, bool own_weights, int only,
                           std::vector<double>& to);

  Memo<Gradient> gradients_{4};  // on GPUs 200 MB each
};

std::unique_ptr<TaskCheck> after();
std::unique_ptr<TaskCheck> overlapped();
std::unique_ptr<TaskCheck> accumulated();
std::unique_ptr<TaskCheck> sharded();
std::unique_ptr<TaskCheck> compressed_host();
std::unique_ptr<TaskCheck> compressed();

}  // namespace ridge::lab::ddp
