// Task `interval`: how often to save, and what failures cost. Host code only.
//
// The model is Daly's (2006). Failures strike at random at a constant rate, also during a save and during a restart. A
// failure throws away all that was done since the last save; a restart follows, which a failure may interrupt, too.
#pragma once

struct Run {
  int gpus;
  double gpu_hours;  // mean time between failures of ONE GPU, with its share of the node, in hours
  double step;       // seconds of a training step
  double save;       // seconds for which training stands still to save
  double restart;    // seconds from a failure until the state of the last save is there again
};

// Seconds between failures of the whole run, on average: a failure of any GPU stops it.
double mean_between_failures(const Run& run);

// Expected seconds from one save's end to the next save's end, with `steps` training steps between them. With
// M = mean_between_failures, work = steps x step + save: M e^(restart / M) (e^(work / M) - 1).
double expected_seconds(const Run& run, long long steps);

// The share of time that goes into steps that are kept: steps x step over expected_seconds.
double goodput(const Run& run, long long steps);

// Young's interval (1974): sqrt(2 save M) seconds of training between two saves.
double young(const Run& run);
// Daly's: for save < 2 M, with x = sqrt(save / (2 M)): sqrt(2 save M) (1 + x / 3 + x^2 / 9) - save; else M.
double daly(const Run& run);

// The number of steps between saves, at least 1, with the largest goodput; of several the least. At most a few hundred
// calls of goodput(): intervals of billions of steps occur.
long long best_steps(const Run& run);
