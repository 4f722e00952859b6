// The library's part of curand_kernel.h: jumps within sequences, which are matrix powers.
#pragma once

namespace ridge_simt {

// XORWOW (Marsaglia 2003): state[0] is the Weyl counter d, state[1] to state[5] the xorshift words. Seeds, then moves on by
// subsequence * 2^67 + offset numbers.
void xorwow_init(unsigned long long seed, unsigned long long subsequence, unsigned long long offset,
                 unsigned (&state)[6]);
void xorwow_skip(unsigned long long subsequences, unsigned long long numbers, unsigned (&state)[6]);

// MRG32k3a (L'Ecuyer 1999): state[0..2] and state[3..5] are the last three of either recurrence. Subsequences are 2^76
// numbers long, sequences 2^127.
void mrg_init(unsigned long long seed, unsigned (&state)[6]);
void mrg_skip(unsigned long long sequences, unsigned long long subsequences, unsigned long long numbers,
              unsigned (&state)[6]);

}  // namespace ridge_simt
