// Lab 16: the sweep that judges `save`, on the reference solution: a crash in every change of the disk, with a rename as it
// should be and with one that is not atomic.
#include <cstdlib>
#include <iostream>
#include <map>

#include "files/local.hpp"
#include "files/ranks.hpp"
#include "labs/16_resilience/check/sweep.hpp"
#include "solutions/16_resilience/save.cu"
#include "support/catch.hpp"

using ridge::files::Bytes;
using ridge::files::Disk;
using namespace ridge::lab;
using namespace ridge::lab::resilience;

namespace {

constexpr int kRanks = 4, kStates = 4;
constexpr long long kBytes = 9001;

std::string state_of(int save) {
  std::string s(kBytes, '\0');
  for (std::size_t i = 0; i < s.size(); ++i)
    s[i] = static_cast<char>(i * 31 + static_cast<std::size_t>(save) * 7 + i / 251);
  return s;
}
long long number_of(int save) { return 10LL * (save + 1); }

// All saves, in this process.
void play(SavedFiles& owned) {
  owned.put_folder(kFolder);
  owned.reset_counts();
  ridge::files::use(&owned);
  for (int save = 0; save < kStates; ++save) {
    owned.note_begin(save);
    std::vector<Part> parts;
    for (int rank = 0; rank < kRanks; ++rank)
      files::lives_through(
          rank, [&] { parts.push_back(write_part(state_of(save).data(), kBytes, number_of(save), rank, kRanks)); });
    files::lives_through(0, [&] { commit(number_of(save), parts); });
    owned.note_end(save);
  }
  ridge::files::use(nullptr);
}

// The solution's own reader, on a disk that a crash has left.
Found look(const Disk& disk) {
  SavedFiles left(ridge::files::Storage{});
  left.mount(disk);
  ridge::files::use(&left);
  std::vector<std::vector<long long>> whole;
  for (int rank = 0; rank < kRanks; ++rank) whole.push_back(whole_steps(rank, kRanks));
  const long long step = agreed_step(whole);
  std::string state(kBytes, '\0');
  bool read = step >= 0;
  for (int rank = 0; read && rank < kRanks; ++rank) {
    const long long begin = part_begin(kBytes, rank, kRanks);
    read = read_part(step, rank, kRanks, state.data() + begin, kBytes - begin);
  }
  ridge::files::use(nullptr);
  const int save = static_cast<int>(step / 10) - 1;
  return read && state == state_of(save) ? Found{save} : Found{};
}

Verdict swept(const SavedFiles& owned, bool torn_rename, Swept* counts = nullptr) {
  return sweep(owned, owned.saves(), 4, 99, torn_rename, number_of, look, counts);
}

}  // namespace

TEST_CASE("every crash of the reference save leaves the old state or the new one as a whole") {
  SavedFiles owned(ridge::files::Storage{});
  play(owned);
  Swept counts;
  const Verdict v = swept(owned, false, &counts);
  INFO(v.message);
  REQUIRE(v.ok);
  // 18 changes a save, and 4 parts are removed in the third and the fourth.
  CHECK(owned.changes().size() == 18 * kStates + 2 * kRanks);
  CHECK(counts.crashes == static_cast<int>(owned.changes().size() + 1) * 5);
  int old = 0, fresh = 0;
  for (const auto& [kind, left] : counts.by_kind) {
    std::cout << kind << ": " << left.old + left.fresh << " killed, " << left.old << " found the old state, "
              << left.fresh << " the new one\n";
    old += left.old, fresh += left.fresh;
  }
  CHECK(old + fresh == counts.crashes);
  // The rename decides: nothing before it leaves the new state.
  CHECK(counts.by_kind["create"].fresh == 0);
  CHECK(counts.by_kind["pwrite"].fresh == 0);
  CHECK(counts.by_kind["rename"].fresh > 0);
  CHECK(counts.by_kind["none"].old == 5);
}

TEST_CASE("a rename that is not atomic is caught by the same sweep") {
  SavedFiles owned(ridge::files::Storage{});
  play(owned);
  const Verdict v = swept(owned, true);
  CHECK_FALSE(v.ok);
  INFO(v.message);
  CHECK(v.message.find("rename") != std::string::npos);
}
