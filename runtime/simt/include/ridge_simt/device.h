// The functions that the emulator's device headers call. All run inside a kernel, on the CUDA thread that calls them.
// Their callers are marked RIDGE_DEVICE, which inlines them, so that a report names the user's line.
#pragma once
#include <cstddef>
#include <cstdint>

#define RIDGE_DEVICE inline __attribute__((always_inline))
// Outside of kernels' accounting: for work functions, which touch other lanes' arguments.
#ifdef RIDGE_UNCOUNTED  // the judge's reading of a preprocessed source: simt/rewrite/policy/policy.hpp
#elif defined(__clang__)
#define RIDGE_UNCOUNTED __attribute__((no_sanitize("thread", "coverage"), disable_sanitizer_instrumentation))
#else
#define RIDGE_UNCOUNTED __attribute__((no_sanitize("thread"), no_sanitize_coverage))
#endif

namespace ridge_simt {

// The operations that the lanes of a warp do together, and the type of collective()'s `argument` for each. The library
// does them itself, so that no function of the caller runs outside of the kernel's accounting.
enum class Operation : unsigned {
  meet,         // nothing
  multiply,     // MatrixOperands (matrix.h)
  load_matrix,  // LoadMatrix (ptx.h)
  vote,         // VoteLane (warp.h); + Vote
  wgmma = 24,   // WgmmaCall (hopper/wgmma.h)
  store_matrix, // StoreMatrix (hopper/wgmma.h)
  shuffle = 32  // ShuffleLane<T> (warp.h); + sizeof(T)
};
constexpr Operation operator+(Operation o, unsigned n) { return static_cast<Operation>(static_cast<unsigned>(o) + n); }

// A warp operation. Every lane named in `mask` that has not returned must call it with the same mask and operation; then
// it is done once and all of them go on. `name` is for reports ("__shfl_down_sync"). `argument` is a local variable of
// the lane. Misuse (own lane not in the mask, a named lane that waits elsewhere) is a fault at the caller's line.
void collective(const char* name, unsigned mask, Operation operation, void* argument);

// __activemask(): the lanes that are at this call in the same iteration of its loops. Each has its own answer.
unsigned converged();

// Faults at the calling line from inside a work function (blamed on `lane`) or from a lane itself (lane < 0).
// `error` is a cudaError_t.
void misuse(int lane, const char* kind, const char* detail, int error);
// Whether a kernel runs this, for functions of both sides that ask for __CUDA_ARCH__.
bool kernel_runs();
RIDGE_DEVICE constexpr bool on_device() { return !__builtin_is_constant_evaluated() && kernel_runs(); }
// Inline PTX of a library's header that the emulator does not have: a fault where it is executed.
void missing_ptx();

unsigned lane_id();         // 0 to 31
unsigned linear_thread();   // in the block, x fastest
unsigned live_lanes();      // mask of the lanes of this warp that exist and have not returned

// __syncthreads_count and its kin: the number of the block's threads that gave a non-zero predicate.
int barrier_count(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE());
int barrier_and(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE());
int barrier_or(int predicate, const char* file = __builtin_FILE(), int line = __builtin_LINE());
// Barriers tell places apart by file and line: pass on those of your own caller, through default arguments.
void barrier(const char* file, int line);
// All blocks of a cooperative launch.
void grid_barrier();
bool is_cooperative();

// Announces a read-modify-write of `bytes` bytes at p: checks bounds and alignment, counts it. The caller does the
// operation itself, right afterwards, with host atomics in library code. The result is a ticket for atomic_used().
unsigned atomic_access(const volatile void* p, unsigned bytes, std::uintptr_t pc);
// Says that the atomic's old value is used (a GPU's ATOM; RED otherwise). const: the compiler drops the call where
// nobody uses the value.
// The ticket changes with every atomic, so calls do not fold into one.
__attribute__((const)) std::uint64_t atomic_used(std::uint64_t old, unsigned ticket);

// __threadfence (scope 1), __threadfence_block (0), __threadfence_system (2); kRelease: a fence and the signal behind it.
constexpr int kRelease = 3;
void fence(int scope);

// Makes visible to this thread what other threads released before. Waits at a barrier in memory call it last.
void acquire();

// Lets other threads run: __nanosleep, polling.
void pause();
bool is_global(const void* p);
bool is_shared(const void* p);
// PTX's addresses of shared memory: bytes from its beginning. Of a pointer that does not point there: a fault.
unsigned shared_offset(const void* p);
void* shared_pointer(unsigned offset);

// Cycles of this thread: a deterministic count of what it has executed.
long long clock();
unsigned sm_id();

// Counts `flops` operations of the matrix units (type: "fp16", "bf16", "tf32", "int8", ...), once a warp.
void count_matrix(const char* type, unsigned long long flops);
// A phase of a barrier in memory ended.
void count_memory_barrier();

// One load or store of `bytes` (1 to 16) by this lane, counted as a request of the warp at the caller's line: for
// header functions that move data themselves. `part` tells apart several accesses of one call.
void device_access(const volatile void* p, unsigned bytes, bool store, unsigned part);

// cuda_pipeline.h: a copy counts at the caller's line when it is started, and arrives in the wait.
void pipeline_copy(void* to, const void* from, unsigned bytes, unsigned zeros);
void pipeline_commit();
void pipeline_wait(unsigned left);

// A barrier in memory (cuda::barrier, __mbarrier): one word of phase, threads expected, and threads still to come.
// Its phases are counted beside block barriers; a GPU's mbarrier instructions are not among its loads and stores.
using BarrierWord = unsigned long long;
constexpr unsigned kMostThreadsOfBarrier = (1u << 20) - 1;
void barrier_init(BarrierWord* barrier, unsigned expected);
// `count` threads arrive, of which `drop` will not come again. The phase; `last`: it is complete, and the caller opens the next.
unsigned barrier_arrive(BarrierWord* barrier, unsigned count, unsigned drop, bool* last);
// `bytes` of bulk copies are announced besides. The phase in which these threads arrived.
unsigned barrier_arrive_bytes(BarrierWord* barrier, unsigned count, unsigned bytes);
void barrier_open(BarrierWord* barrier);
bool barrier_passed(const BarrierWord* barrier, unsigned phase);  // that phase is over
void barrier_wait(const BarrierWord* barrier, unsigned phase);
unsigned barrier_phase(const BarrierWord* barrier);
unsigned barrier_pending(const BarrierWord* barrier);

}  // namespace ridge_simt
