// Task `save`: the files of the run, and what the judge looks at while it goes on.
#pragma once
#include "save_disks.hpp"
#include "save_faults.hpp"
#include "save_lists.hpp"

namespace ridge::lab::resilience::saved {

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

  std::int64_t begin_fault(FaultKind kind) {
    if (!judged_) judge_saves();
    FileSystem made{files::Storage{}};
    made.put_folder(kFolder);
    std::vector<Checkpoint> named;
    for (int s = 0; s < 2; ++s) {
      const Bytes state = saved::state_of(c_, s);
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
    arm(failure_of(kind, victim, *this));
    return 8 * save_of(kind) + saved::state_of(kind);
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
    const Lists lists = lists_of(c_, list_);
    if (!verdict.ok || got == lists.agreed) return;
    verdict = {false, fmt::format("{}: agreed_step is {}, expected {}", text_of(lists), got, lists.agreed),
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
    mount(disk_of(c_, kind));
  }

  Case c_;
  bool judged_ = false;
  FaultKind kind_ = kNone;
  int list_ = 0;
};

}  // namespace ridge::lab::resilience::saved
