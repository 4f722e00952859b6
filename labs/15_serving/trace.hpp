// The judge's traces of `blocks`, and the states that it compares: numbers of 32 bits.
#pragma once

// An operation: kind, sequence, argument (the parent of a fork, the token, the prompt's length), then a prompt's tokens.
enum Operation { kAdmit, kAddToken, kFork, kRelease, kStepEnded, kPreempt };

// A state, after an operation: what the function returned (a Write has three numbers), and the lengths of the lists
// that follow, each with `pages` places: free, resting, owners of each page, their hashes folded to 32 bits, and the
// pages of the operation's sequence.
struct State {
  int returned[3];
  int free, resting, known, sequences, table;
};
constexpr int kStateNumbers = 8, kLists = 5;
