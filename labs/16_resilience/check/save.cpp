// Task `save`: a reader of the judge's own looks at the disk after each crash, and disks of the judge's own are loaded.
#include "../save.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
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
enum DiskKind {
  kWhole,
  kBit,
  kShort,
  kGone,
  kParts,
  kTornManifest,
  kEmpty,
  kTwo,
  kLong,
  kManifestBit,
  kOtherRanks,
  kThree,
  kDisks
};
constexpr const char* kDiskNames[kDisks] = {
    "both checkpoints are whole",
    "one bit of a part of the newest has changed",
    "a part of the newest is too short",
    "a part of the newest is not there",
    "all parts of a newer step are there, and the manifest does not name it",
    "manifest.new is torn, and the manifest is the old one",
    "there is no manifest, but parts",
    "rank 0 cannot read step 12, the last rank cannot read step 8",
    "a part of the newest is longer than the manifest says",
    "one bit of the manifest has changed",
    "the checkpoints were saved on one rank more",
    "the manifest names three checkpoints, and the newest two are damaged",
};
constexpr int kExpectedSave[kDisks] = {2, 1, 1, 1, 1, 1, -1, -1, 1, -1, -1, 0};

// One save on a disk that has the checkpoints 4 and 8. The first kinds have an error that lasts, or one that comes once.
enum FaultKind {
  kNone,
  kPartFull,
  kPartOpen,
  kPartSync,
  kManifestFull,
  kManifestSync,
  kRename,
  kFolderSync,
  kShortWrite,
  kAgain,
  kAgainOther,
  kAgainDamaged
};
constexpr const char* kFaultNames[kFaults] = {
    "no call fails",
    "pwrite of a part says that the storage is full",
    "the open that makes a part says that the storage is full",
    "fsync of a part fails once",
    "pwrite of the manifest says that the storage is full",
    "fsync of the manifest fails once",
    "rename fails",
    "fsync of the folder fails once, after the rename",
    "a pwrite takes only half of its bytes",
    "step 8 is saved again, with the same state",
    "step 8 is saved again, with another state",
    "step 8 is saved again, and a part of it is damaged",
};
// Save and state of the one that is played.
constexpr int save_of(FaultKind kind) { return kind < kAgain ? 2 : 1; }
constexpr int state_of(FaultKind kind) { return kind < kAgain ? 2 : kind == kAgainOther ? 3 : 1; }

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

FaultKind fault_of(const Case& c, int fault) {
  std::vector<int> kinds(kFaults);
  std::iota(kinds.begin(), kinds.end(), 0);
  for (std::size_t i = kFaults; i > 1; --i) std::swap(kinds[i - 1], kinds[one_way_seed(c.secret, "fault", i) % i]);
  return static_cast<FaultKind>(kinds[static_cast<std::size_t>(fault)]);
}

// The lists of steps that agreed_step gets, packed as lists_of() in save_call.hpp reads them, and the answer.
struct Lists {
  std::int64_t packed = 0;
  long long agreed = -1;
};
Lists lists_of(const Case& c, int number) {
  Lists lists;
  int having[16] = {};
  for (int rank = 0; rank < kListRanks; ++rank) {
    int at = 0;
    const auto draw = one_way_seed(c.secret, "list", static_cast<std::uint64_t>(number * kListRanks + rank));
    for (int step = 8; step > 0 && at < kListSteps; --step) {
      // Each rank has three steps of four; every fourth list is empty on one rank.
      if ((draw >> 2 * step & 3) == 0 || (number % 4 == 3 && rank == number / 4 % kListRanks)) continue;
      lists.packed |= static_cast<std::int64_t>(step) << 4 * (rank * kListSteps + at++);
      if (++having[step] == kListRanks) lists.agreed = std::max<long long>(lists.agreed, step);
    }
  }
  return lists;
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

// The newest checkpoint that the manifest names, if all that it names are whole, and it names two where there were two.
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
      const int save = whole(disk, k, found.why);
      if (save < 0) return found.save = -1, found;
      if (&k == &all.front()) found.save = save;
    }
    if (static_cast<int>(all.size()) < std::min(kKept, found.save + 1))
      found = {-1, fmt::format("the manifest names {} checkpoint{}", all.size(), all.size() == 1 ? "" : "s")};
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
      for (int f = 0; f < kFaults; ++f) marks.insert(marks.end(), {kFault, kFaultEnds});
      for (int l = 0; l < kLists; ++l) marks.insert(marks.end(), {kList, kAgreed});
      marks.insert(marks.end(), kDisks, kMount);
    }
    expect_marks(std::move(marks));
    on_mark([this](FileSystem&, std::int64_t number, std::int64_t value) -> std::int64_t {
      if (number == kSaveBegins) note_begin(value);
      if (number == kSaveEnds) note_end(value);
      if (number == kSaveEnds && value < 0)
        verdict = {false, "commit returns false, and no call has failed", "commit returns false"};
      if (number == kFault && value >= 0 && value < kFaults) return begin_fault(fault_of(c_, static_cast<int>(value)));
      if (number == kFaultEnds) end_fault(value == 1);
      if (number == kList && value >= 0 && value < kLists) return lists_of(c_, list_ = static_cast<int>(value)).packed;
      if (number == kAgreed) judge_list(value);
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
    if (verdict.ok) verdict = synced_by_writers();
    if (verdict.ok) verdict = two_are_left(reader);
  }
  // In this model one fsync settles what all ranks wrote; on real nodes each has a page cache of its own.
  Verdict synced_by_writers() const {
    for (std::size_t i = 0; i < changes().size(); ++i) {
      const files::Change& w = changes()[i];
      if (w.kind != files::Change::Kind::write) continue;
      bool synced = false;
      for (std::size_t j = i + 1; j < changes().size() && !synced; ++j) {
        if (changes()[j].kind == files::Change::Kind::rename && changes()[j].other == kManifest) break;
        synced = changes()[j].kind == files::Change::Kind::sync_file && changes()[j].file == w.file &&
                 changes()[j].rank == w.rank;
      }
      if (!synced)
        return {false,
                fmt::format("rank {} writes to {} and does not sync it before the commit: another rank's fsync reaches "
                            "the page cache of its own node alone",
                            w.rank, w.path),
                "a rank does not sync what it writes"};
    }
    return {};
  }

  // A fault of the part is one of rank `victim`'s.
  Failure failure_of(FaultKind kind, int victim) const {
    using How = Failure::How;
    using files::Op;
    const auto part = [victim](const files::Request& r, const std::string& path, const std::string&) {
      return r.rank == victim && !path.empty() && path != kNewManifest && path != kManifest && path != kFolder;
    };
    const auto manifest = [](const files::Request&, const std::string& path, const std::string&) {
      return path == kNewManifest;
    };
    switch (kind) {
      case kPartFull:
        return {How::lasts, Op::write, ENOSPC, part};
      case kPartOpen:
        return {How::lasts, Op::open, ENOSPC, [part](const auto& r, const auto& path, const auto& other) {
                  return (r.flags & files::kCreate) != 0 && part(r, path, other);
                }};
      case kPartSync:
        return {How::once, Op::sync, EIO, part};
      case kManifestFull:
        return {How::lasts, Op::write, ENOSPC, manifest};
      case kManifestSync:
        return {How::once, Op::sync, EIO, manifest};
      case kRename:
        return {How::lasts, Op::rename, EIO,
                [](const auto&, const auto&, const std::string& to) { return to == kManifest; }};
      case kFolderSync:
        return {How::once, Op::sync, EIO, [this](const auto&, const std::string& path, const auto&) {
                  const bool renamed = std::any_of(changes().begin(), changes().end(), [](const files::Change& c) {
                    return c.kind == files::Change::Kind::rename && c.other == kManifest;
                  });
                  return path == kFolder && renamed;
                }};
      case kShortWrite:
        return {How::shortens, Op::write, 0, part};
      default:
        return {};
    }
  }
  std::int64_t begin_fault(FaultKind kind) {
    if (!judged_) judge_saves();
    FileSystem made{files::Storage{}};
    made.put_folder(kFolder);
    std::vector<Checkpoint> named;
    for (int s = 0; s < 2; ++s) {
      const Bytes state = resilience::state_of(c_, s);
      named.insert(named.begin(), {step_of(s), parts_of(c_, state)});
      for (int r = 0; r < c_.size[1]; ++r)
        made.put(part_path(step_of(s), r), Bytes(state.begin() + begin_of(c_, r), state.begin() + begin_of(c_, r + 1)));
    }
    const std::string manifest = pack(named);
    made.put(kManifest, Bytes(manifest.begin(), manifest.end()));
    kind_ = kind;
    const auto victim =
        static_cast<int>(one_way_seed(c_.secret, "victim", kind) % static_cast<std::uint64_t>(c_.size[1]));
    if (kind == kAgainDamaged) made.flip(part_path(step_of(1), victim), 77);
    mount(made.disk());
    arm(failure_of(kind, victim));
    return 8 * save_of(kind) + resilience::state_of(kind);
  }
  void end_fault(bool committed) {
    disarm();
    if (!verdict.ok) return;
    const char* const name = kFaultNames[kind_];
    const bool must = !has_failed() || kind_ == kShortWrite, may = kind_ != kAgainOther;
    if (committed ? !may : must && may) {
      verdict = {false,
                 fmt::format("where {}, commit returns {}{}", name, committed,
                             committed ? ": the named checkpoint of that step has another hash" : ""),
                 fmt::format("where {}, commit returns {}", name, committed)};
      return;
    }
    const std::size_t last = changes().size() + 1;
    if (last > 1000) {
      verdict = {false, fmt::format("one save makes {} changes of the disk", last), "a save makes too many changes"};
      return;
    }
    const Reader reader(c_);
    for (std::size_t n = kind_ == kAgainDamaged ? last : 1; n <= last; ++n)
      for (int seed = -1; seed < (n == last ? 12 : 1); ++seed) {
        files::Faults f;
        f.crash = seed < 0 ? files::Crash::process : files::Crash::node;
        f.seed = c_.secret + static_cast<std::uint64_t>(seed + 1);
        const Found found = reader(after_crash(n, f));
        const bool is_new = kind_ < kAgain && found.save == 2, is_old = found.save == 1;
        if (is_new || (is_old && !(n == last && committed && kind_ < kAgain))) continue;
        verdict = {false,
                   fmt::format("where {}, commit returns {}, and a crash of the {} {} leaves {}{}{}", name, committed,
                               seed < 0 ? "process" : "node", n == last ? "after the save" : "during the save",
                               found.save < 0 ? "no whole checkpoint" : fmt::format("step {}", step_of(found.save)),
                               found.why.empty() ? "" : ": ", found.why),
                   fmt::format("where {}, a crash leaves neither the old state nor the new one as a whole", name)};
        return;
      }
  }
  void judge_list(std::int64_t got) {
    const Lists lists = resilience::lists_of(c_, list_);
    if (!verdict.ok || got == lists.agreed) return;
    std::string all;
    for (int i = 0; i < kListRanks * kListSteps; ++i) {
      if (i % kListSteps == 0) all += fmt::format("{}rank {} can load", all.empty() ? "" : "; ", i / kListSteps);
      if (const auto step = lists.packed >> 4 * i & 15; step > 0) all += fmt::format(" {}", step);
    }
    verdict = {false, fmt::format("{}: agreed_step is {}, expected {}", all, got, lists.agreed),
               "agreed_step is not the newest step that all ranks can load"};
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
    const auto needed = static_cast<std::size_t>(kKept * c_.size[1]);
    std::size_t there = 0;
    for (const std::string& file : disk().list(kFolder)) there += file.rfind("step-", 0) == 0 ? 1 : 0;
    if (there > needed)
      return {false,
              fmt::format("at the end {} has {} parts, and {} are needed: files of older checkpoints fill the storage",
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
    if (kind != kThree) named.resize(2);
    if (kind == kOtherRanks)
      for (Checkpoint& k : named) k.parts.push_back({});
    std::string manifest = pack(named);
    if (kind == kManifestBit) {
      const auto draw = one_way_seed(c_.secret, "manifest");
      manifest[draw % manifest.size()] ^= static_cast<char>(1 << (draw >> 40 & 7));
    }
    if (kind != kEmpty) made.put(kManifest, Bytes(manifest.begin(), manifest.end()));
    if (kind == kTornManifest)
      made.put(kNewManifest, Bytes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2)));
    const auto flip_a_bit = [&](int save, int rank) {
      const std::string path = part_path(step_of(save), rank);
      made.flip(path, random_bits(c_.secret, 9) % made.find(path)->size());
    };
    if (kind == kBit) flip_a_bit(2, last);
    if (kind == kTwo) flip_a_bit(2, 0), flip_a_bit(1, last);
    if (kind == kThree) flip_a_bit(2, 0), flip_a_bit(1, 0);
    if (kind == kLong) {
      Bytes longer = *made.find(part_path(step_of(2), last));
      longer.insert(longer.end(), 9, 'z');
      made.replace(part_path(step_of(2), last), std::move(longer));
    }
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
  FaultKind kind_ = kNone;
  int list_ = 0;
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
