// What failures leave of a run that saves its state now and then.
#pragma once

namespace ridge::network {

struct Reliability {
  double gpu_hours_between_failures = 0;  // of one GPU with its share of the node; 0: none fails
  double save_seconds = 0;                // that a checkpoint stops the training for
  double restart_seconds = 0;             // from a failure to the first step after it
};

struct Goodput {
  double seconds_between_failures = 0;  // of the whole job
  double interval = 0;                  // s of training between two checkpoints
  double fraction = 1;                  // of the time that advances the training
};

// `interval` of 0: Young's, sqrt(2 x save x between failures), best to first order. Failures are independent, and
// as likely while state is saved or restored as at any other time (Daly 2006, equation 20).
Goodput goodput(const Reliability& reliability, int ranks, double interval);

}  // namespace ridge::network
