// A question to the judge in the middle of a call, for a lab's entry.cu: what a submission measures, and may not know.
#pragma once

// Fills `answer` and returns true. The judge counts the questions of a call, whoever asks: beyond the number that the
// lab allows, and where the task allows none, nothing is answered. May be called by several threads, which take turns.
// `question`: 8 numbers; `answer`: 4. Only entry.cu may call it.
extern "C" bool ridge_ask(const long long* question, double* answer);
