// Task `save`: a reader of the judge's own looks at the disk behind each crash, and disks of the judge's own are loaded.
#include "../save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "../save_plan.hpp"
#include "checks/compare.hpp"
#include "checks/fill.hpp"
#include "checks/one_way.hpp"
#include "sweep.hpp"

namespace ridge::lab::resilience {

namespace {

using ridge::files::Bytes;
using ridge::files::Disk;

// Disks to load, in an order that the secret draws, and the step that all ranks can load; each has the checkpoints 4, 8
// and 12, or as said.
enum DiskKind { kWhole, kBit, kShort, kGone, kParts, kTornManifest, kEmpty, kTwo, kDisks };
constexpr const char* kDiskNames[kDisks] = {
    "both checkpoints are whole",
    "one bit of a part of the newest has changed",
    "a part of the newest is too short",
    "a part of the newest is not there",
    "all parts of a newer step are there, and the manifest does not name it",
    "manifest.new is torn, and the manifest is the old one",
    "there is no manifest, but parts",
    "rank 0 cannot read step 12, the last rank cannot read step 8",
};
constexpr int kExpectedSave[kDisks] = {2, 1, 1, 1, 1, 1, -1, -1};

// The state of a save.
Bytes state_of(const Case& c, int save, int disk = -1) {
  Bytes b(static_cast<std::size_t>(c.size[0]));
  const std::uint64_t seed = one_way_seed(c.secret, "state", static_cast<std::uint64_t>(100 * (disk + 1) + save));
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<char>(random_bits(seed, i) >> 19);
  return b;
}

// The kind of the disk that is mounted as number `disk`: who counts its calls does not know it.
DiskKind kind_of(const Case& c, int disk) {
  std::vector<int> kinds(kDisks);
  std::iota(kinds.begin(), kinds.end(), 0);
  for (std::size_t i = kDisks; i > 1; --i) std::swap(kinds[i - 1], kinds[one_way_seed(c.secret, "disk", i) % i]);
  return static_cast<DiskKind>(kinds[static_cast<std::size_t>(disk)]);
}

long long begin_of(const Case& c, int rank) { return part_begin(c.size[0], rank, static_cast<int>(c.size[1])); }

std::vector<Part> parts_of(const Case& c, const Bytes& state) {
  std::vector<Part> parts;
  for (int r = 0; r < c.size[1]; ++r)
    parts.push_back(
        {begin_of(c, r + 1) - begin_of(c, r),
         hash_of(state.data() + begin_of(c, r), static_cast<std::size_t>(begin_of(c, r + 1) - begin_of(c, r)))});
  return parts;
}

// The newest whole checkpoint that the manifest names, and how many whole ones it names.
struct Reader {
  const Case& c;
  std::vector<Bytes> states;

  explicit Reader(const Case& of) : c(of) {
    for (int s = 0; s < kSaves; ++s) states.push_back(state_of(c, s));
  }
  static bool named(const Disk& disk, std::vector<Checkpoint>& all, std::string& why) {
    const Bytes* bytes = find(disk, kManifest);
    if (bytes == nullptr) why = "there is no manifest";
    if (bytes == nullptr || unpack({bytes->begin(), bytes->end()}, all)) return bytes != nullptr;
    why = "the manifest is torn";
    return false;
  }
  // The save whose state it is, or -1.
  int whole(const Disk& disk, const Checkpoint& k, std::string& why) const {
    int save = -1;
    for (int s = 0; s < kSaves; ++s)
      if (step_of(s) == k.step) save = s;
    if (save < 0 || k.parts.size() != static_cast<std::size_t>(c.size[1])) {
      why = fmt::format("the manifest names step {} with {} parts", k.step, k.parts.size());
      return -1;
    }
    for (int r = 0; r < c.size[1]; ++r) {
      const Bytes* part = find(disk, part_path(k.step, r));
      const Bytes& state = states[static_cast<std::size_t>(save)];
      const Bytes right(state.begin() + begin_of(c, r), state.begin() + begin_of(c, r + 1));
      const Part& says = k.parts[static_cast<std::size_t>(r)];
      if (part != nullptr && *part == right && says.bytes == static_cast<std::int64_t>(right.size()) &&
          says.hash == hash_of(right.data(), right.size()))
        continue;
      why = fmt::format("of step {} rank {}'s part {}", k.step, r,
                        part == nullptr ? std::string("is not there")
                        : *part == right
                            ? std::string("has another length or hash in the manifest")
                            : fmt::format("is not whole ({} bytes, expected {})", part->size(), right.size()));
      return -1;
    }
    return save;
  }
  Found operator()(const Disk& disk) const {
    std::vector<Checkpoint> all;
    Found found;
    if (!named(disk, all, found.why)) return found;
    for (const Checkpoint& k : all) {
      std::string why;
      found.save = whole(disk, k, why);
      if (found.save >= 0) return found;
      if (found.why.empty()) found.why = why;
    }
    return found;
  }
};

class SaveFiles : public SavedFiles {
 public:
  SaveFiles(const Case& c, std::size_t calls) : SavedFiles(files::Storage{}), c_(c) {
    put_folder(kFolder);
    // What a crash of an earlier run has left: longer than what is written now.
    put(kNewManifest, Bytes(5000, 'x'));
    for (int s : {0, 2}) put(part_path(step_of(s), 0), Bytes(static_cast<std::size_t>(c.size[0]) + 7, 'y'));
    reset_counts();
    std::vector<std::int64_t> marks;
    for (std::size_t call = 0; call < calls; ++call) {
      for (int s = 0; s < kSaves; ++s) marks.insert(marks.end(), {kSaveBegins, kSaveEnds});
      marks.insert(marks.end(), kDisks, kMount);
    }
    expect_marks(std::move(marks));
    on_mark([this](FileSystem&, std::int64_t number, std::int64_t value) -> std::int64_t {
      if (number == kSaveBegins) note_begin(value);
      if (number == kSaveEnds) note_end(value);
      if (number == kMount && value >= 0 && value < kDisks) mount_one(kind_of(c_, static_cast<int>(value)));
      return 0;
    });
  }
  // Of the saves, as they were when the first disk took their disk's place.
  Verdict verdict = {false, "the run did not come to its last save", "the run did not come to its last save"};
  double most_of_one_rank = 0, written = 0, writes = 0;

 private:
  void judge_saves() {
    judged_ = true;
    const Reader reader(c_);
    if (saves().size() != kSaves || !saves().back().ended) return;
    verdict = sweep(
        *this, saves(), 4, c_.secret, false, [](int s) { return step_of(s); }, reader);
    std::vector<double> of(static_cast<std::size_t>(c_.size[1]));
    for (const files::Change& change : changes())
      if (change.kind == files::Change::Kind::write && change.rank >= 0 && change.rank < c_.size[1])
        of[static_cast<std::size_t>(change.rank)] += static_cast<double>(change.data->size());
    most_of_one_rank = *std::max_element(of.begin(), of.end());
    written = static_cast<double>(counts().bytes_written);
    writes = static_cast<double>(counts().writes);
    if (verdict.ok) verdict = two_are_left(reader);
  }
  Verdict two_are_left(const Reader& reader) const {
    std::vector<Checkpoint> all;
    std::string why;
    std::vector<int> saves;
    if (Reader::named(disk(), all, why))
      for (const Checkpoint& k : all) saves.push_back(reader.whole(disk(), k, why));
    if (saves != std::vector<int>{kSaves - 1, kSaves - 2})
      return {
          false,
          fmt::format("at the end the manifest must name the last two checkpoints, the newest first, both whole{}{}",
                      why.empty() ? "" : ": ", why),
          "at the end the manifest does not name the last two checkpoints"};
    const auto needed = static_cast<std::size_t>(kKept * c_.size[1] + 1);
    if (const std::size_t there = disk().list(kFolder).size(); there > needed)
      return {false,
              fmt::format("at the end {} has {} files, and {} are needed: files of older checkpoints fill the storage",
                          kFolder, there, needed),
              "files of older checkpoints are left"};
    return {};
  }

  void mount_one(DiskKind kind) {
    if (!judged_) judge_saves();
    FileSystem made{files::Storage{}};
    made.put_folder(kFolder);
    const int ranks = static_cast<int>(c_.size[1]), last = ranks - 1;
    std::vector<Checkpoint> named;
    for (int s = 0; s < 3; ++s) {
      const Bytes state = state_of(c_, s, kind);
      named.insert(named.begin(), {step_of(s), parts_of(c_, state)});
      for (int r = 0; r < ranks; ++r)
        made.put(part_path(step_of(s), r), Bytes(state.begin() + begin_of(c_, r), state.begin() + begin_of(c_, r + 1)));
    }
    const std::string all = pack({named[0], named[1]});
    if (kind == kParts || kind == kTornManifest) named.erase(named.begin());
    named.resize(2);
    const std::string manifest = pack(named);
    if (kind != kEmpty) made.put(kManifest, Bytes(manifest.begin(), manifest.end()));
    if (kind == kTornManifest)
      made.put(kNewManifest, Bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2)));
    const auto flip_a_bit = [&](int save, int rank) {
      const std::string path = part_path(step_of(save), rank);
      made.flip(path, random_bits(c_.secret, 9) % made.find(path)->size());
    };
    if (kind == kBit) flip_a_bit(2, last);
    if (kind == kTwo) flip_a_bit(2, 0), flip_a_bit(1, last);
    Disk result = made.disk();
    if (kind == kShort || kind == kGone) {
      files::Change change;
      change.kind = kind == kGone ? files::Change::Kind::unlink : files::Change::Kind::truncate;
      change.path = part_path(step_of(2), last);
      change.file = result.find(change.path);
      change.offset = made.find(change.path)->size() / 2;
      result.apply(change);
      result.settle();
    }
    mount(std::move(result));
  }

  Case c_;
  bool judged_ = false;
};

class SaveCheck : public TaskCheck, public UsesFiles {
 public:
  std::string id() const override { return "save"; }
  std::vector<Case> cases(const Request& r) const override {
    std::vector<Case> all;
    const auto add = [&](std::int64_t bytes, std::int64_t ranks) {
      Case c{fmt::format("{} bytes, {} rank{}", bytes, ranks, ranks == 1 ? "" : "s")};
      c.size = {bytes, ranks, kDisks};
      c.secret = one_way_seed(r.seed, "save", all.size());
      all.push_back(c);
    };
    add(random_size(r.seed, 600, 900), 1);
    add(random_size(r.seed + 1, 9000, 12000), 3);
    add(random_size(r.seed + 2, 60000, 90000), 4);
    return all;
  }
  Shape shape(const Case& c) const override {
    const auto bytes = static_cast<std::size_t>(c.size[0]);
    return {{kSaves * bytes},
            {static_cast<std::size_t>(kDisks * (1 + c.size[1])) * 8, kDisks * bytes},
            0,
            Place::pageable,
            Place::device};
  }
  void fill(const Case& c, std::uint64_t, Buffers in) const override {
    for (int s = 0; s < kSaves; ++s) {
      const Bytes state = state_of(c, s);
      std::memcpy(in[0].data() + static_cast<std::size_t>(s) * state.size(), state.data(), state.size());
    }
  }
  bool host_reads_inputs() const override { return true; }
  double bytes_from_host(const Case& c) const override {
    return static_cast<double>((1 << 16) + 2 * kDisks * c.size[0]);
  }
  Work work(const Case& c) const override { return {static_cast<double>(kSaves * c.size[0]), "byte", 0, 0}; }

  std::unique_ptr<files::Service> make_files(const Case& c, std::size_t calls) const override {
    return std::make_unique<SaveFiles>(c, calls);
  }
  Verdict verify(const Case&, ConstBuffers, ConstBuffers) const override { return {}; }
  Verdict verify_files(const Case& c, ConstBuffers, ConstBuffers out, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const SaveFiles&>(files);
    if (!owned.marks_as_expected()) return other_marks();
    return owned.verdict.ok ? loaded(c, out) : owned.verdict;
  }
  std::vector<Mark> file_marks(const Case& c, const files::Service& files) const override {
    const auto& owned = dynamic_cast<const SaveFiles&>(files);
    const double state = static_cast<double>(kSaves * c.size[0]), ranks = static_cast<double>(c.size[1]);
    double manifests = 0;
    for (int s = 0; s < kSaves; ++s) manifests += 16 + std::min(s + 1, kKept) * (16 + 16 * ranks);
    return {ratio("balance", owned.most_of_one_rank, state / ranks + manifests,
                  fmt::format("one rank writes {:.0f} bytes, {:.0f} are its part and the manifests",
                              owned.most_of_one_rank, state / ranks + manifests)),
            ratio("bytes", owned.written, state + manifests,
                  fmt::format("{:.0f} bytes are written, {:.0f} are needed", owned.written, state + manifests)),
            ratio("writes", owned.writes, kSaves * (ranks + 1),
                  fmt::format("{:.0f} writes for {:.0f} files", owned.writes, kSaves * (ranks + 1)))};
  }

 private:
  static Verdict loaded(const Case& c, ConstBuffers out) {
    const auto numbers = as<long long>(out[0]);
    const auto bytes = static_cast<std::size_t>(c.size[0]);
    std::size_t at = 0;
    for (int disk = 0; disk < kDisks; ++disk) {
      const DiskKind kind = kind_of(c, disk);
      const int save = kExpectedSave[kind];
      const long long expected = save < 0 ? -1 : step_of(save), got = numbers[at++];
      const auto fault = [&](std::string what) {
        return Verdict{false, fmt::format("where {}: {}", kDiskNames[kind], what),
                       fmt::format("where {}, the wrong state is loaded", kDiskNames[kind])};
      };
      if (got != expected)
        return fault(fmt::format("the agreed step is {}, expected {}{}", got, expected,
                                 expected < 0 ? " (no step can be loaded by all)" : ""));
      const Bytes state = save < 0 ? Bytes(bytes) : state_of(c, save, kind);
      for (int r = 0; r < c.size[1]; ++r) {
        const bool read = numbers[at++] == 1;
        if (save >= 0 && !read) return fault(fmt::format("read_part({}) is false on rank {}", expected, r));
        if (save >= 0 && std::memcmp(out[1].data() + static_cast<std::size_t>(disk) * bytes + begin_of(c, r),
                                     state.data() + begin_of(c, r),
                                     static_cast<std::size_t>(begin_of(c, r + 1) - begin_of(c, r))) != 0)
          return fault(fmt::format("read_part({}) gave rank {} other bytes than were saved", expected, r));
      }
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<TaskCheck> save() { return std::make_unique<SaveCheck>(); }

}  // namespace ridge::lab::resilience
