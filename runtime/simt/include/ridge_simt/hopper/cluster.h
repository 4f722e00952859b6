// Thread block clusters: blocks that run at the same time and reach each other's shared memory.
#pragma once
#include <cstdint>

#include "../../vector_types.h"
#include "../device.h"

namespace ridge_simt {

unsigned cluster_rank();    // of this block
unsigned cluster_size();    // 1 where the launch has no clusters
dim3 cluster_dim();
dim3 cluster_block();       // this block in its cluster
dim3 cluster_index();       // of the cluster in the grid
// barrier.cluster: all threads of all blocks of the cluster.
void cluster_arrive();
void cluster_wait();
// The address of block `rank` that lies where `address` lies in this block, and the rank to which an address belongs.
unsigned map_shared(unsigned address, unsigned rank);
void* map_shared_pointer(const void* p, unsigned rank);
unsigned rank_of_shared(unsigned address);
unsigned rank_of_pointer(const void* p);

}  // namespace ridge_simt
