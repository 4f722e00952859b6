// What entry.cu asks the judge for `batcher`: the judge has the trace and the clock. A question has 8 numbers, the kind
// first; an answer has 4. Its first number is kRefused where a rule was broken, and then nothing more is answered.
#pragma once

enum Asked {
  kBegin,    // -> seconds, requests that have arrived, pages
  kArrival,  // id of a request that has arrived -> seconds of its arrival, tokens of its prompt
  kEvict,    // id -> nothing
  kChunks,   // work of the next step: in each of 7 numbers a chunk, or 0 -> nothing
  kRun,  // in the first number a bit for each resident request, by id, that has one token computed; in the other ones
         // chunks; and the step is run -> seconds, requests that have arrived, which of these requests ended: a bit for
         // each, in two numbers of 32
  kWait  // -> seconds, requests that have arrived, 1 if the trace has ended
};

constexpr double kRefused = -1;
constexpr int kChunksOfQuestion = 7, kChunksOfRun = 6;

// Any id and any number of tokens, also those that no plan may have: the judge refuses them. 0 stands for no chunk, so the
// sign of `tokens` is flipped.
constexpr long long packed(int id, int tokens) {
  return static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(id)) << 32 |
                                (static_cast<unsigned>(tokens) ^ 0x80000000u));
}
constexpr int id_of(long long chunk) { return static_cast<int>(static_cast<unsigned long long>(chunk) >> 32); }
constexpr int tokens_of(long long chunk) { return static_cast<int>(static_cast<unsigned>(chunk) ^ 0x80000000u); }
