// Task `save`: a reader of the judge's own looks at the disk after each crash, and disks of the judge's own are loaded.
#include <cstring>

#include "checks/compare.hpp"
#include "save_files.hpp"

namespace ridge::lab::resilience {

namespace saved {

namespace {

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

}  // namespace saved

std::unique_ptr<TaskCheck> save() { return std::make_unique<saved::SaveCheck>(); }

}  // namespace ridge::lab::resilience
