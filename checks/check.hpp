// The interface that a lab's check.cpp implements. Only the judge runs it; it alone makes inputs and expected answers.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/lab/cause.hpp"

namespace ridge::lab {

enum class Mode { check, grade };  // small and public, or full size and secret
enum class Backend { cpu, cuda };

struct Request {
  Mode mode;
  Backend backend;
  std::uint64_t memory;         // bytes that one measured call's inputs and outputs may take
  std::uint64_t seed = 0;       // for sizes (random_size): public in check, secret in grade
  std::vector<int> ranks = {};  // the numbers of ranks in lab.toml that can be run here
};

struct Case {
  std::string name;                    // shown to people: "rows 257 cols 510"
  std::array<std::int64_t, 8> size{};  // passed to entry.cu as they are
  bool measured = false;               // performance goals: of one case on `cpu`, the worst of several on `cuda`
  int ranks = 0;                       // 0: one worker without a communicator
  // The interconnect for virtual time: a name in collectives/topologies, and how many ranks are in a group of its first
  // level (0: as in the file). Empty: the device profile's link between every two devices.
  std::string topology = {};
  int node = 0;
  // The rank that shape() and fill() are asked about; verify() sees the buffers of all ranks, in order.
  int rank = 0;
  // Only fill() uses this seed. It makes inputs that are equal on all ranks; fill()'s own seed differs from rank to
  // rank.
  std::uint64_t shared_seed = 0;
  // Nonzero: the judge puts the values that fill() made into another order, drawn from this seed (value_bytes()).
  std::uint64_t reordered = 0;
  // Never leaves the judge: answer() and marks() may draw from it what a submission must not know.
  std::uint64_t secret = 0;
};

// A question that host code asks the judge in the middle of a call (runtime/lab/ask.hpp). The lab gives the numbers a
// meaning.
struct Question {
  std::array<std::int64_t, 8> value{};
};
struct Answer {
  std::array<double, 4> value{};
};

// A number that the check itself gives an answer, such as the share of a table's entries that are right. A goal with
// the metric `marked` whose id is `goal` takes it (docs/metrics.md).
struct Mark {
  std::string goal;
  double value = 0;
  std::string unit = {};
  std::string message = {};  // what is off, with its arithmetic
  std::string secret = {};   // the text where the inputs are secret: no value in it
};

// Data that one rank sent to another.
struct Message {
  int from = 0, to = 0;
  std::uint64_t bytes = 0;
  bool host = false;        // by MPI
  bool collective = false;  // a step of one of NCCL's collectives, such as ncclAllReduce
};

// A task's buffers lie on the device, in page-locked host memory, or in pageable host memory. Only the inputs of tasks
// with host_reads_inputs may be pageable.
enum class Place : std::uint32_t { device, pinned, pageable };

// Bytes of every input, output and of the workspace, which is on the device.
struct Shape {
  std::vector<std::size_t> in;
  std::vector<std::size_t> out;
  std::size_t workspace = 0;
  Place in_place = Place::device, out_place = Place::device;
};

// The least work that any algorithm must do. Goals and the roofline refer to it.
struct Work {
  double operations = 0;
  std::string operation_unit;  // "flop", "element"
  double bytes_read = 0;
  double bytes_written = 0;
  std::string ceiling = {};  // limits the operations: "fp32", "tf32", "bf16", ... ; "": fp32 where the unit is flop
};

// The divisors of the `..._over_bound` metrics (docs/metrics.md).
struct Bound {
  std::string metric;
  double value = 0;
  // A value below this share of the bound counts as not measured: no real work reaches it. 0: the judge's default.
  double least = 0;
};

struct Verdict {
  bool ok = true;
  std::string message;  // the first wrong element, its index, expected and got, and how many are wrong
  // The text shown where the inputs are secret: it names the kind of mistake and no value. Empty means "wrong result".
  std::string secret = {};
  std::string check = "correct";  // that failed
  Cause cause = Cause::none;
  std::string picture = {};  // which elements are wrong, lines of plain text (picture.hpp)
};

using Buffers = std::span<const std::span<std::byte>>;
using ConstBuffers = std::span<const std::span<const std::byte>>;

class TaskCheck {
 public:
  virtual ~TaskCheck() = default;
  virtual std::string id() const = 0;  // as in lab.toml
  virtual std::vector<Case> cases(const Request& request) const = 0;
  virtual Shape shape(const Case& c) const = 0;
  virtual void fill(const Case& c, std::uint64_t seed, Buffers in) const = 0;
  // Bytes of one value of an input whose values are as valid in any other order, with another answer; else 0.
  virtual std::size_t value_bytes(const Case&, std::size_t /*input*/) const { return 0; }
  virtual Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const = 0;
  // Checks the messages between the ranks; each sender's are in the order in which it sent them.
  virtual Verdict verify_messages(const Case&, std::span<const Message>) const { return {}; }
  // Adds to the report of a failure what the messages tell: those of the whole call, and of one that did not come to
  // its end those until then.
  virtual void tell_of_messages(const Case&, std::span<const Message>, Verdict& /*failed*/) const {}
  virtual Work work(const Case& c) const = 0;
  // The bounds of the measured case on the emulator: one for each `..._over_bound` metric in lab.toml.
  virtual std::vector<Bound> bounds(const Case&) const { return {}; }
  // The questions that one call may ask; a call that asks more fails (gate `questions`). 0: none.
  virtual std::size_t most_questions(const Case&) const { return 0; }
  // The answer to the last question of `asked`, which holds all of this call so far. Its numbers may be any.
  virtual Answer answer(const Case&, std::span<const Question> /*asked*/) const { return {}; }
  // Checks the questions of a call, before its answer is looked at.
  virtual Verdict verify_questions(const Case&, std::span<const Question>) const { return {}; }
  // Of a right answer on which nothing was timed; those of the last such case count.
  virtual std::vector<Mark> marks(const Case&, ConstBuffers /*in*/, ConstBuffers /*out*/,
                                  std::span<const Question>) const {
    return {};
  }
  // True where host code must see the inputs' values: data that starts in host memory, launches that depend on results.
  // Otherwise `grade` runs host code with other inputs than those that its kernels are judged with (backend cpu).
  virtual bool host_reads_inputs() const { return false; }
  // False where the contract keeps page-locked inputs and outputs from kernels: a kernel that accesses them is
  // stopped (backend cpu).
  virtual bool kernels_may_reach_host() const { return true; }
  // False where the contract says that the host waits for nothing: a host that waits is refused (backend cpu).
  virtual bool host_may_wait() const { return true; }
  // False where the contract says that nothing is read back: a host that reads is refused (backend cpu).
  virtual bool host_may_read() const { return true; }
  // Bytes that a submission may hand from the host to the device in one call (backend cpu): copies, pinned and managed
  // memory, arguments, 32 for each launch. An answer computed on the host could reach the device in no other way.
  virtual double bytes_from_host(const Case& c) const {
    const Work w = work(c);
    return 64 * 1024 + 0.01 * (w.bytes_read + w.bytes_written);
  }
};

using TaskChecks = std::vector<std::unique_ptr<TaskCheck>>;
using Factory = TaskChecks (*)();

// Called once by each check.cpp: static const bool registered = add_lab("01_coalescing", make);
bool add_lab(const char* lab, Factory factory);
// The checks of a lab; empty until its module is loaded.
TaskChecks checks_of(const std::string& lab);

}  // namespace ridge::lab
