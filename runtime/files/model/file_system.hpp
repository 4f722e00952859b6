// A virtual file system that its owner, a lab's check in the judge, makes, fills and looks at afterwards. All that a
// submission can do is in call().
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "dirty_pages.hpp"
#include "disk.hpp"
#include "files/service.hpp"
#include "page_cache.hpp"
#include "storage.hpp"

namespace ridge::files {

// When a rank dies. Changes are creations, writes, truncations, fsyncs, renames and removals, in the order of their
// calls; an asynchronous write counts where its completion is taken.
struct Death {
  int rank = -1;  // who dies; -1: whoever it is
  std::uint64_t at_change =
      0;                   // in this rank's change of that number, from 1 on, of which a part may be done. For rank
                           // -1 the changes of all ranks are numbered together. 0: in none
  long long at_step = -1;  // when step() says this number
};

struct Faults {
  std::vector<Death> deaths;     // each happens once
  Crash crash = Crash::process;  // what a death takes along: the process, or the node with its page cache
  bool torn_rename = false;      // a file system whose rename is not atomic
  std::uint64_t seed = 1;
};

// Exact numbers of what happened.
struct Counts {
  std::uint64_t opens = 0, requests = 0, reads = 0, writes = 0, syncs = 0, renames = 0;
  std::uint64_t bytes_read = 0, bytes_written = 0;  // as the calls asked
  std::uint64_t bytes_from_cache = 0;               // of bytes_read
  std::uint64_t bytes_buffered = 0;                 // read or written by way of the page cache
  std::uint64_t metadata_requests = 0;
  std::uint64_t most_in_flight = 0, most_bytes_in_flight = 0;  // asynchronous reads and writes at once
  std::uint64_t changed_in_flight = 0;  // asynchronous writes whose buffer changed before their end
  std::vector<std::uint64_t> target_bytes, target_requests;
  std::map<std::int32_t, double> busy;  // s of each resource
  std::uint64_t computed_bytes = 0;     // by cores
};

// One request, for checks that look at their order.
struct Logged {
  Op op{};
  int rank = 0;
  std::uint64_t file = 0;
  std::int64_t offset = 0;
  std::uint64_t bytes = 0, number = 0;
  std::uint32_t flags = 0;  // of the descriptor; the request's own ones decide nothing
  bool asynchronous = false;
  std::int64_t result = 0;
};
constexpr std::size_t kMostLogged = 1 << 20;

// What a submission may do with a file that the owner has put there. A file that is read-only keeps its name, too.
enum class Access { read_write, read_only };

class FileSystem : public Service {
 public:
  explicit FileSystem(Storage storage, Faults faults = {});

  // For the owner: no cost, no count, durable at once. Among changes() they end what after_crash() can play again.
  void put(const std::string& path, Bytes bytes, Layout layout = {}, Access access = Access::read_write);
  void put_folder(const std::string& path);
  // Changes one bit of a file, as a failing device does.
  void flip(const std::string& path, std::size_t at);
  // The file has these bytes from now on, without a change of anybody's.
  void replace(const std::string& path, Bytes bytes);
  // Null where there is no such file.
  const Bytes* find(const std::string& path) const;
  const Disk& disk() const { return disk_; }
  const Storage& storage() const { return storage_; }
  const Counts& counts() const { return counts_; }
  // The first kMostLogged requests. A check that looks for a request fails where the log is not whole.
  const std::vector<Logged>& log() const { return log_; }
  bool log_is_whole() const { return !log_overflowed_; }
  const std::vector<Change>& changes() const { return changes_; }
  const std::vector<int>& died() const { return died_; }  // ranks, in the order of their deaths
  std::string name_of(std::uint64_t file) const;          // at its opening
  // Starts the count, and changes() and log(), again; pages stay.
  void reset_counts();
  void drop_pages() { cache_.clear(); }
  void set_faults(Faults faults);
  // In an answer to a mark: the rank that sent it dies, as in a call that a plan names. Its next call ends it.
  void kill(int rank) { die(rank); }
  // Dead ranks may call again, as new processes without open files.
  void restart();
  // the last. Other changes of other ranks are as they were. `faults`: its crash, torn_rename and seed. It throws where
  // the owner has changed the disk since the first of changes().
  // owner has changed the disk since the first of changes().
  Disk after_crash(std::uint64_t n, const Faults& faults) const;
  // Takes this disk in place of its own; nothing is open, nobody is dead.
  void mount(Disk disk);
  // What cores make of bytes: of `number`, as the caller gave it, and of the bytes that he sent. As many bytes come
  // back, and change hands when the work is waited for. Without it the bytes come back as they are.
  using CoreWork = std::function<Bytes(std::int64_t number, const Bytes& sent)>;
  void on_compute(CoreWork work) { work_ = std::move(work); }
  // Answers files::mark(number, value) of entry.cu. A submission can send marks, too: it shares a process with
  // entry.cu, and no request tells who made it. So a check says which marks it expects.
  void on_mark(std::function<std::int64_t(FileSystem&, std::int64_t, std::int64_t)> answer) {
    mark_ = std::move(answer);
  }
  // The marks that entry.cu makes, in their order. Any other mark is refused with -EPERM, and is not answered.
  void expect_marks(std::vector<std::int64_t> numbers);
  // True where the expected marks have come, all of them, and no other one.
  bool marks_as_expected() const { return !unexpected_mark_ && next_mark_ == expected_marks_.size(); }

  const std::vector<Charged>& charged() const override { return charged_; }
  Reply call(const Request& request, std::span<std::byte> window) override;

 private:
  void changed_by_owner();
  struct Open {
    std::uint64_t file = 0;  // 0: a folder
    std::uint32_t flags = 0;
    std::string path;
    int rank = 0;
  };
  struct Pending {
    Request request;
    int rank;
    std::uint64_t file;
    std::uint64_t bytes;
    std::shared_ptr<const Bytes> sent;
    bool direct;
    std::uint64_t number;
  };

  std::int64_t run(const Request& r, std::span<std::byte> window, Reply& reply);
  std::int64_t open(const Request& r, Reply& reply);
  std::int64_t read(const Request& r, std::span<std::byte> window, Reply& reply);
  std::int64_t write(const Request& r, std::span<std::byte> window, Reply& reply);
  std::int64_t complete(const Request& r, std::span<std::byte> window);
  std::int64_t compute(const Request& r, std::span<std::byte> window, Reply& reply);
  std::int64_t computed(const Request& r, const Bytes& sent, std::int64_t number, std::span<std::byte> window) const;
  void take_off(std::uint64_t bytes);
  void land(const Pending& p);
  void written(std::uint64_t file, bool direct, std::uint64_t offset, std::uint64_t bytes);
  std::int64_t sync(const Request& r, Reply& reply);
  std::int64_t rename(const Request& r, Reply& reply);
  std::int64_t unlink(const Request& r, Reply& reply);
  std::int64_t list(const Request& r, std::span<std::byte> window) const;
  std::int64_t mark(const Request& r);
  // False where the rank died in it.
  bool change(Change change);
  void die(int rank);
  bool is_dead(int rank) const;
  std::int64_t room(const Open& o, std::uint64_t length, std::uint64_t bytes);
  std::int64_t aligned(const Open& o, const Request& r) const;
  Open* opened(const Request& r);
  void charge(Reply& reply, std::int32_t resource, int stage, std::uint64_t bytes, double seconds);
  void charge_targets(Reply& reply, const Layout& layout, std::uint64_t offset, std::uint64_t bytes);
  void charge_metadata(Reply& reply);
  void charge_read(Reply& reply, const Open& o, std::uint64_t offset, std::uint64_t bytes);
  void charge_write(Reply& reply, const Open& o, std::uint64_t offset, std::uint64_t bytes);

  mutable std::mutex mutex_;
  Storage storage_;
  Faults faults_;
  Random random_;
  Disk disk_, at_start_;  // at_start_: before changes_
  PageCache cache_;
  std::map<int, Open> open_;
  std::map<std::uint64_t, Pending> pending_;
  std::map<std::uint64_t, std::string> names_;
  std::set<std::uint64_t> read_only_;
  DirtyPages dirty_;
  bool owner_changed_ = false;  // the disk, since the first of changes_
  std::uint64_t tickets_ = 0, numbers_ = 0, change_number_ = 0, grown_ = 0, written_ = 0;
  std::vector<Charged> charged_;
  std::map<int, std::uint64_t> rank_changes_;
  int next_target_ = 0;
  Counts counts_;
  std::vector<Logged> log_;
  bool log_overflowed_ = false;
  std::vector<Change> changes_;
  std::vector<int> died_, dead_;
  CoreWork work_;
  std::uint64_t at_cores_ = 0;                   // bytes of work that nobody has waited for yet
  std::uint64_t flying_ = 0, flying_bytes_ = 0;  // asynchronous reads and writes
  std::function<std::int64_t(FileSystem&, std::int64_t, std::int64_t)> mark_;
  bool any_mark_ = true;  // expect_marks() was not called
  std::vector<std::int64_t> expected_marks_;
  std::size_t next_mark_ = 0;
  bool unexpected_mark_ = false;
};

}  // namespace ridge::files
