// The rank that a worker is, out of several.
#pragma once

struct ridge_rank {
  int rank = 0, ranks = 1;
  void* communicator = nullptr;  // ncclComm_t of all ranks; nullptr where the lab has none
};
