// The operations that the lanes of a warp do together. Each works on arguments that lie on the lanes' own stacks.
#include "kernel/warp_operations.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

#include "block/block.hpp"
#include "hopper/wgmma_work.hpp"
#include "ridge_simt/ptx.h"
#include "ridge_simt/warp.h"

namespace ridge_simt {

namespace {

void meet(void* const*, unsigned) {}

// The lane that `lane` reads; itself where the segment ends. Only bits 0 to 4 of the argument count. PTX ISA,
// "shfl.sync".
int shuffle_source(Shuffle kind, int lane, int argument, int width) {
  argument &= 31;
  int first = lane & ~(width - 1), last = first + width - 1, from = lane;
  if (kind == Shuffle::index) return first | (argument & (width - 1));
  if (kind == Shuffle::up) {
    from = lane - argument;
    return from >= first ? from : lane;
  }
  from = kind == Shuffle::down ? lane + argument : lane ^ argument;
  return from <= last ? from : lane;
}

struct ShuffleHead {
  Shuffle kind;
  int argument, width;
  const char* name;
};
constexpr std::size_t kValue = 32;  // where it lies in ShuffleLane
static_assert(offsetof(ShuffleLane<char>, value) == kValue && offsetof(ShuffleLane<long double>, value) == kValue);

// A value that shows in what uses it: NaN, huge, or huge and negative, as float and as double; an integer far from all
// others. The NaN has bits of its own, which a message can name (checks/compare.cpp).
void undefined(char* value, std::size_t bytes, int lane) {
  constexpr unsigned char kHighest[] = {0xff, 0x7f, 0xfe, 0x7f};
  for (std::size_t i = 0; i < bytes; ++i) {
    const bool highest = (i + 1) % 4 == 0 || i + 1 == bytes;
    value[i] = static_cast<char>(highest ? kHighest[lane % 4] : lane % 4 == 0 ? 0xfe : 0x7e - lane);
  }
}

template <std::size_t Bytes>
void shuffle_work(void* const* lanes, unsigned mask) {
  for (int l = 0; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    const auto& own = *static_cast<const ShuffleHead*>(lanes[l]);
    char kind[96], detail[96];
    if (own.width < 1 || own.width > 32 || (own.width & (own.width - 1)) != 0) {
      std::snprintf(kind, sizeof kind, "%s: width is not a power of two up to 32", own.name);
      std::snprintf(detail, sizeof detail, "lane %d gives width %d", l, own.width);
      return misuse(l, kind, detail, 719);
    }
    int from = shuffle_source(own.kind, l, own.argument, own.width);
    if (from < 0 || from > 31 || (mask >> from & 1) == 0) {
      std::snprintf(kind, sizeof kind, "%s reads an inactive lane", own.name);
      std::snprintf(detail, sizeof detail,
                    "lane %d reads lane %d, which takes no part (active: 0x%08x): what it gets is undefined", l, from,
                    mask);
      ridge::simt::BlockRunner::current()->undefined_value(l, kind, detail);
      undefined(static_cast<char*>(lanes[l]) + kValue + Bytes, Bytes, l);
      continue;
    }
    std::memcpy(static_cast<char*>(lanes[l]) + kValue + Bytes, static_cast<const char*>(lanes[from]) + kValue, Bytes);
  }
}

template <Vote V>
void vote_work(void* const* lanes, unsigned mask) {
  auto lane = [&](int l) -> VoteLane& { return *static_cast<VoteLane*>(lanes[l]); };
  int first = __builtin_ctz(mask);
  std::uint64_t sum = lane(first).value;
  unsigned ballot = 0;
  bool equal = true;
  for (int l = first; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    std::uint64_t v = lane(l).value;
    if (v != 0) ballot |= 1u << l;
    equal &= v == lane(first).value;
    if (l == first) continue;
    auto s = static_cast<std::int32_t>(static_cast<std::uint32_t>(v)),
         old = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum));
    if constexpr (V == Vote::add) sum += v;
    if constexpr (V == Vote::min) sum = v < sum ? v : sum;
    if constexpr (V == Vote::max) sum = v > sum ? v : sum;
    if constexpr (V == Vote::smin) sum = s < old ? v : sum;
    if constexpr (V == Vote::smax) sum = s > old ? v : sum;
    if constexpr (V == Vote::bit_and) sum &= v;
    if constexpr (V == Vote::bit_or) sum |= v;
    if constexpr (V == Vote::bit_xor) sum ^= v;
    (void)s, (void)old;
  }
  for (int l = first; l < 32; ++l) {
    if ((mask >> l & 1) == 0) continue;
    if constexpr (V == Vote::any) {
      lane(l).result = ballot != 0;
    } else if constexpr (V == Vote::all) {
      lane(l).result = ballot == mask;
    } else if constexpr (V == Vote::ballot) {
      lane(l).result = ballot;
    } else if constexpr (V == Vote::match_any) {
      unsigned same = 0;
      for (int m = first; m < 32; ++m)
        if ((mask >> m & 1) != 0 && lane(m).value == lane(l).value) same |= 1u << m;
      lane(l).result = same;
    } else if constexpr (V == Vote::match_all) {
      lane(l).result = equal ? mask : 0;
      lane(l).all = equal;
    } else {
      lane(l).result = sum;
    }
  }
}

constexpr unsigned kVotes = static_cast<unsigned>(Vote::bit_xor) + 1, kMostBytes = 16;

template <std::size_t... I>
constexpr std::array<Work, sizeof...(I)> shuffles(std::index_sequence<I...>) {
  return {&shuffle_work<I + 1>...};
}
template <std::size_t... I>
constexpr std::array<Work, sizeof...(I)> votes(std::index_sequence<I...>) {
  return {&vote_work<static_cast<Vote>(I)>...};
}

}  // namespace

Meeting meeting_of(Operation operation) {
  static constexpr auto kShuffles = shuffles(std::make_index_sequence<kMostBytes>());
  static constexpr auto kVoted = votes(std::make_index_sequence<kVotes>());
  const auto number = static_cast<unsigned>(operation);
  constexpr auto kFirstVote = static_cast<unsigned>(Operation::vote),
                 kShuffle = static_cast<unsigned>(Operation::shuffle);
  if (operation == Operation::meet) return {&meet, 0};
  if (operation == Operation::multiply) return {&multiply_matrices, sizeof(MatrixOperands)};
  if (operation == Operation::store_matrix) return {&scatter_matrices, sizeof(StoreMatrix)};
  if (operation == Operation::wgmma) return {&ask_wgmma, sizeof(WgmmaCall)};
  if (operation == Operation::load_matrix) return {&exchange_matrices, sizeof(LoadMatrix)};
  if (number - kFirstVote < kVotes) return {kVoted[number - kFirstVote], sizeof(VoteLane)};
  if (number - kShuffle - 1 < kMostBytes)
    return {kShuffles[number - kShuffle - 1], static_cast<unsigned>(kValue + 2 * (number - kShuffle))};
  return {};
}

}  // namespace ridge_simt
