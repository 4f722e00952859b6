// The share of an answer that checks compare. After a turn of a timing session, whose outputs are gigabytes, the judge
// compares blocks that it draws once the program has answered. A program that leaves out a hundredth of its work meets
// them still: of 1000 blocks, 62 are drawn, and where 10 are wrong, every other call shows it.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::lab {

constexpr std::size_t kLeastBlocks = 64;  // an answer of fewer is compared whole

// While one exists, checks compare one block in `one_in`, drawn from `seed`. There is one at a time, made before the
// threads that compare and gone after them.
class ComparedShare {
 public:
  ComparedShare(unsigned one_in, std::uint64_t seed);
  ~ComparedShare();
  ComparedShare(const ComparedShare&) = delete;
  ComparedShare& operator=(const ComparedShare&) = delete;
};

bool compares_all();
// Whether block number `block` of `blocks` is compared.
bool compares(std::size_t block, std::size_t blocks);

}  // namespace ridge::lab
