// Task `predict`: six kernels (kernels.hpp), how they are launched, and what is to be predicted of a launch.
#pragma once

// The six kernels. `a` is a number of each one's own; n = blocks x threads.
//   strided    out[i] = in[a i]                                            a from 1 to 12
//   row_sum    out[i] = the sum of in[a i] ... in[a i + a - 1]             a from 8 to 40
//   transpose  out (32 blocks, 32) = the transpose of in (32, 32 blocks), through a tile float[32][32 + a] of shared
//              memory; 256 threads                                         a from 0 to 8
//   halo       out[i] = the sum of in[i] ... in[i + 2 a]; in: n + 2 a      a from 1 to 8
//   wide       as strided, with float4 in place of floats                  a from 1 to 4
//   table      out[i] = in[i] x coefficient[i % a]                         a from 32 to 1024, a multiple of 32
// All are floats, and each array begins at a multiple of 256 bytes.
enum class Kernel : int { strided, row_sum, transpose, halo, wide, table };

struct Launch {
  Kernel kernel;
  int blocks, threads;  // of a block: a multiple of 32
  int registers;        // of a thread
  int shared;           // bytes of shared memory of a block, all together
  int a;
};

// The limits of an SM, and the speeds of the GPU. The first ones are the CUDA Programming Guide's ("Technical
// Specifications per Compute Capability"), of compute capability 9.0.
struct Device {
  int sms = 132;
  int warps = 64, blocks = 32;      // resident on an SM at most
  int registers = 65536;            // of an SM: a quarter for each of its four schedulers
  int register_unit = 256;          // a warp's registers are a multiple of this
  int shared = 233472;              // bytes of an SM
  int shared_reserved = 1024;       // bytes that each block takes besides its own
  int shared_unit = 128;            // and the sum is a multiple of this
  double clock = 1.98e9;            // Hz
  double l1_bytes_per_cycle = 128;  // of an SM, for L1 and shared memory together
  double l2_bandwidth = 5.1e12;     // B/s, of the GPU; so the next one
  double memory_bandwidth = 4.2e12;
  // Seconds that a load takes: with a hit in L1; what a miss in L1 adds; and what a miss in L2 adds to that.
  double l1_latency = 32e-9, l2_latency = 80e-9, memory_latency = 315e-9;
};

enum class Limit : int { warps, blocks, shared_memory, registers };  // the resource that runs out first
enum class Roof : int { l1, l2, memory, latency };

struct Prediction {
  // Of the whole launch. A request of a warp touches sectors of 32 bytes; shared memory serves it in wavefronts.
  double load_sectors, store_sectors, shared_wavefronts;
  // Warps that are resident on an SM, and what limits them. Where several resources run out together, any of them.
  int warps;
  Limit limit;
  // Bytes that pass between the SMs and L1 (all sectors), between L1 and L2 (the sectors that a block loads for the
  // first time, since its loads fit into L1, and all stores), and from memory into L2 (64 bytes at a time, each once).
  double l1_bytes, l2_bytes, memory_bytes;
  // The highest of the four roofs (of two within 5%, either), and the time that the highest gives:
  //   l1       (l1_bytes + 128 x shared_wavefronts) / (what all SMs' L1 deliver)
  //   l2       l2_bytes / l2_bandwidth
  //   memory   memory_bytes / memory_bandwidth
  //   latency  loads of a thread x the mean latency of a load x max(1, blocks / blocks that are resident on the GPU)
  // Mean latency: l1 + (share of the load sectors that L1 misses) x l2 + (memory_bytes / bytes of the load sectors, at
  // most 1) x memory.
  Roof roof;
  double seconds;
};

// Fills table[0] to table[count - 1], a row for each launch. On the host.
void predict(const Launch* launches, int count, const Device& device, Prediction* table);
