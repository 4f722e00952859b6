// Contract of lab 18's tasks on sparse matrices, `spmv` and `cg`.
//
// A is stored in CSR (compressed sparse rows): row r has the entries starts[r] <= k < starts[r + 1], each with a column and
// a value. Rows may be empty, and one row may have nearly all entries. Columns of a row ascend; a column may occur several
// times, and then all of its entries count.
//
// All pointers are device pointers from the judge, at least 256-byte aligned, different ones at each call. Work goes on `stream`;
// the judge waits for it, and no host function may wait for the device or read from it. Calls do not overlap. A workspace is
// undefined at each call. Helpers belong in an unnamed namespace: the files are linked together.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>

struct Csr {
  int rows;             // and columns; at least 1
  int entries;          // at least 1, at most 2^30
  const int* starts;    // rows + 1 numbers; starts[0] = 0, starts[rows] = entries
  const int* columns;   // entries
  const float* values;  // entries
};

// y = A x: y[r] = sum over the entries k of row r of values[k] * x[columns[k]], 0 for an empty row. Sums are in fp32, and
// the same call gives the same bits each time: no sum may depend on the order in which blocks run.
//   x, y       rows floats
//   workspace  at least 8 bytes for each kChunk entries, 8 bytes for each row, and 64 KiB
constexpr int kChunk = 4096;  // entries of a chunk: how many you may take together; you need not
void spmv(const Csr& a, const float* x, float* y, void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// Conjugate gradients for A x = b, A symmetric and positive definite, from x = 0. In exact arithmetic:
//   r = p = b; rho = r.r
//   q = A p; alpha = rho / p.q; x += alpha p; r -= alpha q; rho' = r.r; p = r + (rho' / rho) p        an iteration
// It ends after the first iteration k with r.r <= tolerance^2 b.b, which may be k = 0, or after `most`. Vectors are in
// fp32. Dot products are multiplied and added in double precision: squares of b may be beyond fp32. x and rho may differ
// from exact arithmetic as the formulas above do in fp32; arrangements that drift further have to replace r now and then.
// The same call gives the same bits each time: no sum may depend on the order in which blocks run.
//   b, x        rows floats
//   iterations  one int: k
//   rho         most + 1 doubles, of which the first k + 1 are written: r.r after each iteration, rho[0] = b.b
//   tolerance   0 <= tolerance < 1; most >= 1
//   workspace   at least 32 bytes for each row and 256 KiB: room for eight vectors
void cg(const Csr& a, const float* b, float* x, int* iterations, double* rho, float tolerance, int most,
        void* workspace, std::size_t workspace_bytes, cudaStream_t stream);

// All blocks of a cooperative launch run at once: as many as are resident. On the emulator each of them takes a thread of the
// operating system, so it has 128 at most.
//   shared   bytes of dynamic shared memory of a block
template <class Kernel>
int blocks_at_once(Kernel* kernel, int threads, std::size_t shared = 0) {
  int device = 0, sms = 1, resident = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, shared);
#ifdef RIDGE_SIMT
  return sms * resident < 128 ? sms * resident : 128;
#else
  return sms * resident;
#endif
}
