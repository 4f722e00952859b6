#include "grader/worker/buffers.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <random>

#include "checks/compare.hpp"
#include "grader/base/clock.hpp"
#include "grader/base/defence.hpp"
#include "grader/base/seeds.hpp"

namespace ridge {

namespace {

// Fisher and Yates's shuffle of values of `bytes` each.
void shuffle(std::span<std::byte> values, std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::size_t i = values.size() / bytes; i > 1; --i) {
    std::byte* const other = values.data() + random() % i * bytes;
    std::swap_ranges(other, other + bytes, values.data() + (i - 1) * bytes);
  }
}

}  // namespace

CaseBuffers::CaseBuffers(Device& device, const lab::TaskCheck& check, const lab::Case& c, std::uint64_t seed,
                         std::uint32_t first_id, JudgeTime& time, const CaseBuffers* like)
    : device_(device), check_(check), case_(c), time_(time), first_id_(first_id) {
  lab::Shape shape = check.shape(c);
  in_place_ = shape.in_place;
  out_place_ = shape.out_place;
  {
    Lap lap(time_.allocate);
    for (std::size_t bytes : shape.in) {
      in_host_.push_back(device.host_memory(bytes));
      in_.push_back(device.allocate(bytes, in_place_));
    }
    for (std::size_t bytes : shape.out) out_.push_back(device.allocate(bytes, out_place_));
    if (shape.workspace != 0) workspace_ = device.allocate(shape.workspace);
  }
  if (like == nullptr) refill(seed, c.shared_seed);
  {
    Lap lap(time_.copy);
    for (std::size_t i = 0; like != nullptr && i < in_.size(); ++i) in_[i]->upload_later(like->in_host_[i]->bytes());
    device.settle();
  }
  next_id_ = first_id + static_cast<std::uint32_t>(in_.size() + out_.size()) + (workspace_ ? 1 : 0);
  poison(seed);
}

CaseBuffers::~CaseBuffers() {
  if (!on(Defence::scrubbed_memory)) return;
  for (const auto* all : {&in_, &out_, &scratch_, &decoys_})
    for (const auto& b : *all)
      if (b) b->wipe();
  if (workspace_) workspace_->wipe();
}

void CaseBuffers::refill(std::uint64_t seed, std::uint64_t shared_seed) {
  seed_ = seed;
  case_.shared_seed = on(Defence::fresh_inputs) ? shared_seed : 1;
  decoys_.clear();
  std::vector<std::span<std::byte>> views;
  for (const auto& host : in_host_) views.push_back(host->bytes());
  {
    Lap lap(time_.fill);
    check_.fill(case_, on(Defence::fresh_inputs) ? seed : 1, views);
    for (std::size_t i = 0; i < views.size() && case_.reordered != 0; ++i)
      if (const std::size_t bytes = check_.value_bytes(case_, i)) shuffle(views[i], bytes, case_.reordered + i);
  }
  Lap lap(time_.copy);
  for (std::size_t i = 0; i < in_.size(); ++i) in_[i]->upload_later(views[i]);
}

void CaseBuffers::make_decoys() const {
  std::vector<std::unique_ptr<HostMemory>> host;
  std::vector<std::span<std::byte>> views;
  for (const auto& b : in_) {
    host.push_back(device_.host_memory(b->bytes()));
    views.push_back(host.back()->bytes());
    decoys_.push_back(device_.allocate(b->bytes(), in_place_));
  }
  lab::Case decoy = case_;
  decoy.shared_seed = derived_seed(case_.shared_seed, "decoy");
  check_.fill(decoy, derived_seed(seed_, "decoy"), views);
  for (std::size_t i = 0; i < decoys_.size(); ++i) decoys_[i]->upload(views[i]);
}

Reply CaseBuffers::share(WorkerProcess& worker, double limit_seconds, Show show) const {
  std::uint32_t id = first_id_;
  Reply reply;
  auto give = [&](const DeviceBuffer& b, bool writable, lab::Place place = lab::Place::device) {
    if (reply.fate != Fate::ok || reply.done.status != protocol::Status::ok) return;
    // A contract that keeps them from kernels has a number of its own: runtime/worker/protocol.hpp.
    const bool kept = place == lab::Place::pinned && !check_.kernels_may_reach_host() && on(Defence::host_buffers);
    protocol::Buffer message{
        id++, writable ? 1u : 0u, b.bytes(), b.reserved(), kept ? 3u : static_cast<std::uint32_t>(place), 0};
    reply = worker.add_buffer(message, b.descriptor(writable), limit_seconds);
  };
  if (show == Show::decoy && decoys_.empty()) make_decoys();
  for (const auto& b : show == Show::decoy ? decoys_ : in_) give(*b, !on(Defence::own_inputs), in_place_);
  if (show != Show::judged && scratch_.empty()) {
    for (const auto& b : out_) scratch_.push_back(device_.allocate(b->bytes(), out_place_));
    if (workspace_) scratch_.push_back(device_.allocate(workspace_->bytes()));
  }
  if (show != Show::judged) {
    for (std::size_t i = 0; i < scratch_.size(); ++i) {
      scratch_[i]->poison(0x73637261, i < out_.size());
      give(*scratch_[i], true, i < out_.size() ? out_place_ : lab::Place::device);
    }
    return reply;
  }
  for (const auto& b : out_) give(*b, true, out_place_);
  if (workspace_) give(*workspace_, true);
  return reply;
}

void CaseBuffers::poison(std::uint64_t seed) {
  if (!on(Defence::poisoned_outputs)) return;
  std::uint64_t stream = 0;
  for (const auto& b : out_) b->poison(derived_seed(seed, "poison", stream++), true);
  if (workspace_) workspace_->poison(derived_seed(seed, "poison", stream), false);
}

void CaseBuffers::add_samples(std::uint64_t seed, std::vector<OutputSample>& to) const {
  // 96 to 128 places at one distance, which is drawn as well: a tenth that is late is met but for one in 10^4.
  constexpr std::size_t kWidth = 64, kRows = 128, kFewerRows = 33;
  for (const auto& b : out_) {
    OutputSample s{b.get(), 0, 0, std::min(b->bytes(), kWidth), 0};
    if (s.width == 0) continue;
    s.rows = std::min(b->bytes() / s.width, kRows - derived_seed(seed, "rows", to.size()) % kFewerRows);
    s.step = b->bytes() / s.rows;
    s.first = derived_seed(seed, "sample", to.size()) % (s.step - s.width + 1);
    to.push_back(s);
  }
}

void CaseBuffers::collect(HostCopy& to, int piece) const {
  const bool staged = piece >= 0;
  auto stored = [&](const DeviceBuffer& b) -> std::span<std::byte> { return to.storage.emplace_back(b.bytes()); };
  for (std::size_t i = 0; i < in_.size(); ++i) {
    if (on(Defence::own_inputs)) {
      to.in.emplace_back(in_host_[i]->bytes());
      continue;
    }
    const std::span<std::byte> theirs = stored(*in_[i]);
    in_[i]->download(theirs);
    to.in.emplace_back(theirs);
  }
  auto aligned = [](std::size_t bytes) { return (bytes + 255) / 256 * 256; };
  std::size_t total = 0;
  for (const auto& b : out_) total += aligned(b->bytes());
  const std::span<std::byte> staging = staged ? device_.staging(total, piece) : std::span<std::byte>();
  std::size_t at = 0;
  for (const auto& b : out_) {
    const std::span<std::byte> view = staged ? staging.subspan(at, b->bytes()) : stored(*b);
    b->download(view);
    to.out.emplace_back(view);
    at += aligned(b->bytes());
  }
}

bool CaseBuffers::unchanged(std::span<const std::span<const std::byte>> out, std::span<const OutputSample> samples,
                            std::span<const std::byte> sampled) const {
  std::size_t at = 0;
  for (const OutputSample& s : samples)
    for (std::size_t r = 0; r < s.rows; ++r, at += s.width)
      for (std::size_t k = 0; k < out_.size(); ++k)
        if (s.buffer == out_[k].get() &&
            std::memcmp(out[k].data() + s.first + r * s.step, sampled.data() + at, s.width) != 0)
          return false;
  return true;
}

protocol::Call CaseBuffers::call() const {
  protocol::Call call;
  std::snprintf(call.task, sizeof call.task, "%s", check_.id().c_str());
  for (std::size_t i = 0; i < 8; ++i) call.size[i] = case_.size[i];
  std::uint32_t id = first_id_;
  for (std::size_t i = 0; i < in_.size() && i < 4; ++i) call.in[i] = id++;
  for (std::size_t i = 0; i < out_.size() && i < 4; ++i) call.out[i] = id++;
  if (workspace_) call.workspace = id;
  call.node = static_cast<std::uint32_t>(case_.node);
  std::snprintf(call.topology, sizeof call.topology, "%s", case_.topology.c_str());
  return call;
}

}  // namespace ridge
