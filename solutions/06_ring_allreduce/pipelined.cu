// Lab 06, task `pipelined`: the ring in bf16, with the additions hidden behind the transfers.
//
// A chunk is cut into slices: while one is added, the next travels. Transfers stay in `stream`, additions have a stream
// of their own. Run: ./ridge check 06 --task pipelined
#include "ring.hpp"

// TASK(pipelined)
#include <algorithm>

namespace {

// in, received, out: n values; out may be in. out = in + received, rounded to the nearest.
__global__ void add_kernel(const __nv_bfloat16* in, const __nv_bfloat16* received, __nv_bfloat16* out, std::size_t n) {
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __float2bfloat16(__bfloat162float(in[i]) + __bfloat162float(received[i]));
}

struct Part {
  std::size_t first, count;
};

// Part c of those that n elements from `first` make when each has `size`; the last ones may be short or empty.
Part part_of(std::size_t first, std::size_t n, std::size_t size, int c) {
  const std::size_t skipped = std::min(static_cast<std::size_t>(c) * size, n);
  return {first + skipped, std::min(size, n - skipped)};
}

std::size_t ceil_div(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

struct Lane {
  cudaStream_t sums;
  cudaEvent_t received, reduced[kMostSlices];
  Lane() {
    cudaStreamCreateWithFlags(&sums, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&received, cudaEventDisableTiming);
    for (cudaEvent_t& e : reduced) cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  }
};

}  // namespace

void pipelined(const __nv_bfloat16* in, __nv_bfloat16* out, std::size_t n, int slices, void* workspace, std::size_t,
               ncclComm_t comm, cudaStream_t stream) {
  int r = 0, p = 1;
  ncclCommUserRank(comm, &r);
  ncclCommCount(comm, &p);
  if (p == 1) {
    if (in != out) cudaMemcpyAsync(out, in, n * sizeof(__nv_bfloat16), cudaMemcpyDeviceToDevice, stream);
    return;
  }
  static thread_local Lane lane;                            // one for each rank, also where ranks are threads
  auto* received = static_cast<__nv_bfloat16*>(workspace);  // each slice at its own place
  const int right = (r + 1) % p, left = (r + p - 1) % p;
  const std::size_t size = ceil_div(n, static_cast<std::size_t>(p));  // of a chunk
  const std::size_t slice_size = ceil_div(size, static_cast<std::size_t>(slices));
  auto chunk = [=](int c) { return part_of(0, n, size, (c + p) % p); };
  auto slice = [=](int c, int i) { return part_of(chunk(c).first, chunk(c).count, slice_size, i); };
  auto exchange = [=](const __nv_bfloat16* from, Part sent, __nv_bfloat16* to, Part got) {
    ncclGroupStart();
    if (sent.count > 0) ncclSend(from + sent.first, sent.count, ncclBfloat16, right, comm, stream);
    if (got.count > 0) ncclRecv(to + got.first, got.count, ncclBfloat16, left, comm, stream);
    ncclGroupEnd();
  };

  // Reduce-scatter. The slices follow each other through all steps: the first one's sum is needed in the next step,
  // when the others have travelled.
  for (int s = 0; s + 1 < p; ++s)
    for (int i = 0; i < slices; ++i) {
      const Part got = slice(r - s - 1, i);
      if (s > 0) cudaStreamWaitEvent(stream, lane.reduced[i]);  // what is sent now was reduced in the last step
      exchange(s == 0 ? in : out, slice(r - s, i), received, got);
      cudaEventRecord(lane.received, stream);
      cudaStreamWaitEvent(lane.sums, lane.received);
      if (got.count > 0)
        add_kernel<<<static_cast<unsigned>(ceil_div(got.count, 256)), 256, 0, lane.sums>>>(
            in + got.first, received + got.first, out + got.first, got.count);
      cudaEventRecord(lane.reduced[i], lane.sums);
    }
  // Events of one stream come in order: the last slice's says that all sums are made.
  cudaStreamWaitEvent(stream, lane.reduced[slices - 1]);
  // All-gather: nothing to add, so nothing to cut.
  for (int s = 0; s + 1 < p; ++s) exchange(out, chunk(r + 1 - s), out, chunk(r - s));
}
// END(pipelined)
