// Task `async_save`: the state after the last step, what each crash leaves, and the virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

#include "../async_save_plan.hpp"
#include "ceilings/profile.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "sweep.hpp"

namespace ridge::lab::resilience {

namespace {

using files::Bytes;

// Of async_save.hpp, which needs a GPU's headers.
constexpr const char* kState = "ckpt/state";
constexpr std::size_t kHeadBytes = 4096;
struct Head {
  std::int64_t step, words;
  std::uint64_t hash;
};
std::uint64_t hash_of(const char* data, std::size_t bytes) {
  std::uint64_t h = 14695981039346656037ull;
  for (std::size_t i = 0; i < bytes; ++i) h = (h ^ static_cast<unsigned char>(data[i])) * 1099511628211ull;
  return h;
}

// The call of the last save that fails.
enum class Fails { none, full, sync, short_write };
constexpr const char* kFails[] = {"", "the storage is full in the last save", "fsync fails once, in the last save",
                                  "a pwrite of the last save takes half of its bytes"};

// Remembers whether the storage was given words of states from elsewhere than `staging`; a head may come from any memory.
class StateFiles : public SavedFiles {
 public:
  // fails: the call of the last of `saves` saves that fails.
  StateFiles(files::Storage storage, std::uint64_t room, std::size_t calls, Fails fails, std::int64_t saves)
      : SavedFiles(std::move(storage)), room_(room) {
    put_folder("ckpt");
    reset_counts();
    std::vector<std::int64_t> marks;
    for (std::size_t call = 0; call < calls; ++call) marks.insert(marks.end(), {kStaging, kTrained});
    expect_marks(std::move(marks));
    on_mark([this, fails, saves](FileSystem&, std::int64_t number, std::int64_t value) -> std::int64_t {
      if (number == kStaging) staging_ = static_cast<std::uint64_t>(value);
      if (number == kStaging && fails != Fails::none) arm(failure_of(fails, saves));
      if (number == kTrained) disarm(), all_saved_ = value == 1;
      return 0;
    });
  }
  bool all_saved() const { return all_saved_; }
  files::Reply call(const files::Request& r, std::span<std::byte> window) override {
    const std::uint64_t head = r.offset < 0 ? 0 : kHeadBytes - std::min<std::uint64_t>(kHeadBytes, r.offset);
    const std::uint64_t from = r.address + head - staging_;
    if (r.op == files::Op::write && r.bytes > head && (from > room_ || r.bytes - head > room_ - from))
      elsewhere_ = true;
    const files::Reply reply = SavedFiles::call(r, window);
    if (r.op == files::Op::rename && std::string(r.other) == kState && reply.result == 0 && !charged().empty())
      published_.push_back(charged().back().number);
    return reply;
  }
  // The requests that gave a state its name.
  const std::vector<std::uint64_t>& published() const { return published_; }
  bool written_from_elsewhere() const { return elsewhere_; }

 private:
  Failure failure_of(Fails fails, std::int64_t saves) const {
    const auto is_last = [this, saves](const auto&, const auto& path, const auto&) {
      const auto renamed = std::count_if(changes().begin(), changes().end(), [](const files::Change& c) {
        return c.kind == files::Change::Kind::rename && c.other == kState;
      });
      return renamed + 1 == saves && path != "ckpt";
    };
    using How = Failure::How;
    if (fails == Fails::full) return {How::lasts, files::Op::write, ENOSPC, is_last};
    if (fails == Fails::sync) return {How::once, files::Op::sync, EIO, is_last};
    return {How::shortens, files::Op::write, 0, is_last};
  }
  bool all_saved_ = false;
  std::vector<std::uint64_t> published_;
  std::uint64_t room_;
  std::atomic<std::uint64_t> staging_ = 0;
  std::atomic<bool> elsewhere_ = false;
};

// The state is a thousand times smaller than a real one, and so are the steps and the fixed costs of a request.
files::Storage fast_storage() {
  files::Storage s;
  s.targets = s.stripe_count = 8;
  s.stripe_size = 1 << 16;
  s.target_bandwidth = 1e9;
  s.request_seconds = 2e-6;
  s.latency = 3e-6;
  s.open_seconds = 2e-6;
  return s;
}

// Sizes: steps, steps between saves, words, and a number of Fails for the judge.
class AsyncSave : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "async_save"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](std::int64_t steps, std::int64_t every, std::int64_t words, bool measured,
                         Fails fails = Fails::none) {
      const char* const what = kFails[static_cast<int>(fails)];
      Case c{fmt::format("{} steps, a save after every {}, {} words{}{}", steps, every, words, *what != 0 ? ": " : "",
                         what),
             {steps, every, words, static_cast<std::int64_t>(fails)},
             measured};
      c.secret = one_way_seed(r.seed, "async_save", all.size());
      all.push_back(c);
    };
    add(1, 1, 1024, false);
    add(6, 1, 5120, false);
    add(15, 5, 3072, false);
    for (Fails f : {Fails::full, Fails::sync, Fails::short_write}) add(6, 3, 4096, false, f);
    add(r.mode == Mode::check ? 48 : 96, 12, 130048, true);
    return all;
  }
  Shape shape(const Case& c) const override { return {{bytes_of(c)}, {bytes_of(c)}, 0}; }
  void fill(const Case& c, std::uint64_t, Buffers in) const override { fill_bits(as<std::uint32_t>(in[0]), c.secret); }
  bool host_reads_inputs() const override { return true; }  // the host saves the state
  double bytes_from_host(const Case& c) const override {
    return (1 << 17) + static_cast<double>(64 * c.size[0] + 8192 * (c.size[0] / c.size[1]));
  }
  Work work(const Case& c) const override {
    const auto n = static_cast<double>(c.size[0] * c.size[2]);
    return {n, "word", 4 * n, 4 * n};
  }
  // Steps and copies, one after the other, and after them the last save.
  std::vector<Bound> bounds(const Case& c) const override {
    const files::Storage s = fast_storage();
    const auto& device = ridge::default_profile().device;
    const auto bytes = static_cast<double>(bytes_of(c));
    const double copy = device.at("copy_latency") + bytes / device.at("pcie_pinned");
    const double names = s.open_seconds + s.latency;
    const double write = s.request_seconds + (bytes + kHeadBytes) / s.targets / s.target_bandwidth + s.latency;
    const double saves = static_cast<double>(c.size[0] / c.size[1]);
    const double calls = 7 * (device.at("sync_call") + s.call_seconds);  // of the host, which waits for each
    return {{"virtual_time_over_bound",
             static_cast<double>(c.size[0]) * kStep + saves * copy + write + s.latency + 4 * names + calls, 0.9}};
  }

  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<StateFiles>(fast_storage(), kHeadBytes + bytes_of(c), calls, fails_of(c),
                                        c.size[0] / c.size[1]);
  }
  // The steps, and a copy for each save: who works the states out elsewhere has nothing to hide the storage behind.
  DeviceWork least_on_device(const Case& c) const override {
    const auto saves = static_cast<double>(c.size[0] / c.size[1]);
    return {static_cast<double>(c.size[0]), 0, saves * static_cast<double>(bytes_of(c))};
  }
  std::vector<AfterKernels> after_kernels(const Case& c, const files::Service& files) const override {
    std::vector<AfterKernels> all;
    for (const std::uint64_t request : dynamic_cast<const StateFiles&>(files).published()) {
      const auto step = static_cast<std::int64_t>(all.size() + 1) * c.size[1];
      all.push_back(
          {request, "train_kernel", static_cast<std::size_t>(step), fmt::format("the rename of step {}", step)});
    }
    return all;
  }
  Verdict verify(const Case& c, ConstBuffers in, ConstBuffers out) const override {
    const std::vector<Bytes> states = states_of(c, in);
    const auto got = as<std::uint32_t>(out[0]);
    const auto* right = reinterpret_cast<const std::uint32_t*>(states.back().data());
    return compare_exact<std::uint32_t>(
        got, [&](std::size_t i) { return right[i]; },
        [](std::size_t i) { return fmt::format("state[{}] after the last step", i); });
  }
  Verdict verify_files(const Case& c, ConstBuffers in, ConstBuffers, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const StateFiles&>(files);
    if (!owned.marks_as_expected()) return other_marks();
    if (owned.written_from_elsewhere())
      return {false,
              "the storage was given words of other memory than `staging`, which is the only buffer for snapshots",
              "a snapshot lies in other memory than `staging`"};
    if (const auto n = owned.counts().changed_in_flight; n > 0)
      return {
          false,
          fmt::format("{} write{} had another buffer at the end than at the beginning: the snapshot was overwritten "
                      "while the storage took it",
                      n, n == 1 ? "" : "s"),
          "a snapshot was overwritten while the storage took it"};
    // A save counts from its rename on, and is certain after the folder's fsync.
    SavedFiles::Saves saves;
    const auto& changes = owned.changes();
    for (std::size_t i = 0; i < changes.size(); ++i) {
      if (changes[i].kind == files::Change::Kind::rename && changes[i].other == kState) {
        if (!saves.empty() && !saves.back().ended) saves.back().end = i, saves.back().ended = true;
        saves.push_back({i, i + 1, false});
      } else if (changes[i].kind == files::Change::Kind::sync_folder && !saves.empty() && !saves.back().ended) {
        saves.back().end = i + 1, saves.back().ended = true;
      }
    }
    auto expected = static_cast<std::size_t>(c.size[0] / c.size[1]);
    const Fails fails = fails_of(c);
    const bool may_fail = fails == Fails::full || fails == Fails::sync;
    if (may_fail && owned.has_failed() && !owned.all_saved() && saves.size() < expected) --expected;
    if (!owned.all_saved() && !(may_fail && owned.has_failed()))
      return {false, "train_and_save returns false, and no call has failed", "train_and_save returns false"};
    if (owned.all_saved() && fails == Fails::full && owned.has_failed())
      return {false, "train_and_save returns true, and the storage was full", "train_and_save returns true"};
    if (saves.size() != expected)
      return {false, fmt::format("{} saves were renamed to {}, {} are expected", saves.size(), kState, expected),
              "the number of saves is wrong"};
    saves.back().ended = true;
    const std::vector<Bytes> states = states_of(c, in);
    const auto step_of = [&](int save) { return static_cast<long long>(c.size[1]) * (save + 1); };
    return sweep(owned, saves, c.size[2] > 50000 ? 1 : 4, c.secret, false, step_of,
                 [&](const files::Disk& disk) { return look(disk, c, states); });
  }

 private:
  static Fails fails_of(const Case& c) { return static_cast<Fails>(c.size[3]); }
  static constexpr double kStep = 14.08e-6;  // of train_step with 130048 words, in the emulator's time model
  static std::size_t bytes_of(const Case& c) { return static_cast<std::size_t>(c.size[2]) * 4; }
  // After each save's step.
  static std::vector<Bytes> states_of(const Case& c, ConstBuffers in) {
    std::vector<std::uint32_t> state(as<std::uint32_t>(in[0]).begin(), as<std::uint32_t>(in[0]).end());
    std::vector<Bytes> all;
    for (std::int64_t step = 1; step <= c.size[0]; ++step) {
      for (std::uint32_t& w : state) w = w * 1664525u + static_cast<std::uint32_t>(step) * 2654435761u + 1013904223u;
      if (step % c.size[1] != 0) continue;
      const auto* p = reinterpret_cast<const char*>(state.data());
      all.emplace_back(p, p + state.size() * 4);
    }
    return all;
  }
  static Found look(const files::Disk& disk, const Case& c, const std::vector<Bytes>& states) {
    const Bytes* file = find(disk, kState);
    if (file == nullptr) return {-1, fmt::format("there is no {}", kState)};
    Head head{};
    if (file->size() != kHeadBytes + bytes_of(c)) return {-1, fmt::format("{} has {} bytes", kState, file->size())};
    std::memcpy(&head, file->data(), sizeof head);
    if (head.words != c.size[2] || head.step <= 0 || head.step % c.size[1] != 0 || head.step > c.size[0])
      return {-1, fmt::format("the head says step {}, {} words", head.step, head.words)};
    const auto save = static_cast<int>(head.step / c.size[1]) - 1;
    const Bytes& right = states[static_cast<std::size_t>(save)];
    const bool same = std::memcmp(file->data() + kHeadBytes, right.data(), right.size()) == 0;
    if (same && head.hash == hash_of(right.data(), right.size())) return {save, {}};
    if (same) return {-1, fmt::format("the state of step {} has another hash in its head", head.step)};
    const auto* words = reinterpret_cast<const std::uint32_t*>(file->data() + kHeadBytes);
    const auto* expected = reinterpret_cast<const std::uint32_t*>(right.data());
    const std::size_t first = first_where(right.size() / 4, [&](std::size_t i) { return words[i] != expected[i]; });
    std::string of = "of no single step";
    for (std::size_t s = 0; s < states.size(); ++s)
      if (std::memcmp(states[s].data(), file->data() + kHeadBytes, right.size()) == 0)
        of = fmt::format("that of step {}", (static_cast<std::int64_t>(s) + 1) * c.size[1]);
    return {-1, fmt::format("the head says step {}, and the state is {} (word {} differs)", head.step, of, first)};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> async_save() { return std::make_unique<AsyncSave>(); }

}  // namespace ridge::lab::resilience
