#include <algorithm>

#include "files/model/disk.hpp"
#include "support/catch.hpp"

using namespace ridge::files;

namespace {

Bytes filled(std::size_t n, char c) { return Bytes(n, c); }

Change create(Disk& disk, const std::string& path, int rank = 0) {
  Change c;
  c.kind = Change::Kind::create;
  c.file = disk.next_number();
  c.path = path;
  c.rank = rank;
  disk.apply(c);
  return c;
}
void write(Disk& disk, std::uint64_t file, std::uint64_t offset, Bytes data, int rank = 0) {
  Change c;
  c.kind = Change::Kind::write;
  c.file = file;
  c.offset = offset;
  c.rank = rank;
  c.data = std::make_shared<const Bytes>(std::move(data));
  disk.apply(c);
}
void sync(Disk& disk, std::uint64_t file) {
  Change c;
  c.kind = file == 0 ? Change::Kind::sync_folder : Change::Kind::sync_file;
  c.file = file;
  disk.apply(c);
}
Change renaming(const Disk& disk, const std::string& from, const std::string& to) {
  Change c;
  c.kind = Change::Kind::rename;
  c.file = disk.find(from);
  c.path = from;
  c.other = to;
  return c;
}

}  // namespace

TEST_CASE("a crash of a process leaves what its calls have done") {
  Disk disk;
  const std::uint64_t f = create(disk, "a").file;
  write(disk, f, 0, filled(10000, 'x'));
  Random random(1);
  disk.crash(Crash::process, random);
  CHECK(disk.file(disk.find("a")).now == filled(10000, 'x'));
}

TEST_CASE("a crash of the node may lose or tear what was not synced, page by page") {
  bool torn = false, lost = false, whole = false, out_of_order = false;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    Disk disk;
    const std::uint64_t f = create(disk, "a").file;
    write(disk, f, 0, filled(3 * 4096, 'o'));
    disk.settle();
    write(disk, f, 0, filled(3 * 4096, 'n'));
    Random random(seed);
    disk.crash(Crash::node, random);
    const Bytes& now = disk.file(f).now;
    REQUIRE(now.size() == 3 * 4096);
    const auto fresh = std::count(now.begin(), now.end(), 'n');
    CHECK(fresh % 4096 == 0);
    lost = lost || fresh == 0;
    whole = whole || fresh == 3 * 4096;
    torn = torn || (fresh > 0 && fresh < 3 * 4096);
    out_of_order = out_of_order || (now[0] == 'o' && now[3 * 4096 - 1] == 'n');
  }
  CHECK((lost && whole && torn && out_of_order));
}

TEST_CASE("what was synced survives, and the same seed leaves the same") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Disk disk;
    const std::uint64_t f = create(disk, "a").file;
    write(disk, f, 0, filled(9000, 's'));
    sync(disk, f);
    sync(disk, 0);
    write(disk, f, 4000, filled(9000, 'n'));
    Disk again = disk;
    Random one(seed), other(seed);
    disk.crash(Crash::node, one);
    again.crash(Crash::node, other);
    REQUIRE(disk.find("a") == f);
    const Bytes& now = disk.file(f).now;
    CHECK(std::all_of(now.begin(), now.begin() + 4000, [](char c) { return c == 's'; }));
    CHECK(now.size() >= 9000);
    CHECK(now == again.file(f).now);
  }
}

TEST_CASE("a rename is whole or was never, and without the folder's fsync it may be undone") {
  int renamed = 0, undone = 0;
  for (std::uint64_t seed = 0; seed < 64; ++seed) {
    Disk disk;
    write(disk, create(disk, "old").file, 0, filled(10, 'o'));
    write(disk, create(disk, "new").file, 0, filled(10, 'n'));
    disk.settle();
    Random random(seed);
    disk.apply(renaming(disk, "new", "old"));
    disk.crash(Crash::node, random);
    REQUIRE(disk.find("old") != 0);
    const char c = disk.file(disk.find("old")).now[0];
    renamed += c == 'n' ? 1 : 0;
    undone += c == 'o' && disk.find("new") != 0 ? 1 : 0;
  }
  CHECK(renamed + undone == 64);
  CHECK((renamed > 0 && undone > 0));
}

TEST_CASE("a rename that is not atomic can leave no target") {
  Disk disk;
  create(disk, "old");
  create(disk, "new");
  Random random(1);
  disk.apply_partly(renaming(disk, "new", "old"), random, true);
  CHECK(disk.find("old") == 0);
  CHECK(disk.find("new") != 0);
}

TEST_CASE("names survive a crash in the order in which they changed") {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    Disk disk;
    for (const char* name : {"a", "b", "c", "d"}) create(disk, name);
    Random random(seed);
    disk.crash(Crash::node, random);
    const std::vector<std::string> left = disk.list("");
    const std::vector<std::string> all = {"a", "b", "c", "d"};
    CHECK(std::equal(left.begin(), left.end(), all.begin()));
  }
}

TEST_CASE("a crash of one rank's node spares what others wrote") {
  for (std::uint64_t seed = 0; seed < 16; ++seed) {
    Disk disk;
    const std::uint64_t a = create(disk, "a", 1).file, b = create(disk, "b", 2).file;
    sync(disk, 0);
    write(disk, a, 0, filled(4096, 'a'), 1);
    write(disk, b, 0, filled(4096, 'b'), 2);
    Random random(seed);
    disk.crash(Crash::node, random, 1);
    CHECK(disk.file(disk.find("b")).now == filled(4096, 'b'));
    CHECK((disk.file(a).now.empty() || disk.file(a).now == filled(4096, 'a')));
  }
}

namespace {

void make_folder(Disk& disk, const std::string& path) {
  Change c;
  c.kind = Change::Kind::make_folder;
  c.path = path;
  disk.apply(c);
}
void sync_folder(Disk& disk, const std::string& path) {
  Change c;
  c.kind = Change::Kind::sync_folder;
  c.path = path;
  disk.apply(c);
}

}  // namespace

TEST_CASE("fsync settles what all ranks wrote to its file, and no other file") {
  bool other_lost = false;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    Disk disk;
    const std::uint64_t a = create(disk, "a").file, b = create(disk, "b").file;
    disk.settle();
    write(disk, a, 0, filled(4096, '1'), 1);
    write(disk, a, 4096, filled(4096, '2'), 2);
    write(disk, b, 0, filled(4096, '1'), 1);
    sync(disk, a);
    Random random(seed);
    disk.crash(Crash::node, random);
    CHECK(disk.file(a).now.size() == 8192);
    CHECK(disk.file(a).now[8191] == '2');
    other_lost = other_lost || disk.file(b).now.empty();
  }
  CHECK(other_lost);
}

TEST_CASE("a rename into another folder is durable on both sides, whichever folder was synced") {
  for (const std::vector<std::string>& synced : {std::vector<std::string>{"B"}, {"A"}, {"B", "A"}, {"A", "B"}})
    for (std::uint64_t seed = 0; seed < 32; ++seed) {
      Disk disk;
      make_folder(disk, "A");
      make_folder(disk, "B");
      disk.settle();
      const std::uint64_t x = create(disk, "A/x").file;
      disk.apply(renaming(disk, "A/x", "B/x"));
      for (const std::string& folder : synced) sync_folder(disk, folder);
      Random random(seed);
      disk.crash(Crash::node, random);
      CHECK(disk.find("A/x") == 0);
      CHECK(disk.find("B/x") == x);
    }
}

TEST_CASE("names in a folder that a crash took along are gone") {
  bool gone = false;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    Disk disk;
    make_folder(disk, "D");
    make_folder(disk, "D/E");
    create(disk, "D/E/x");
    sync_folder(disk, "D/E");
    sync_folder(disk, "D");  // and nobody syncs the root
    Random random(seed);
    disk.crash(Crash::node, random);
    CHECK((disk.find("D/E/x") != 0) == disk.is_folder("D"));
    CHECK(disk.is_folder("D/E") == disk.is_folder("D"));
    gone = gone || !disk.is_folder("D");
    if (!disk.is_folder("D")) {
      make_folder(disk, "D");
      CHECK(disk.list("D").empty());
      disk.settle();
      disk.crash(Crash::node, random);
      CHECK(disk.list("D").empty());
    }
  }
  CHECK(gone);
}
