// The judge's defences, by name. All are always on in the product. The test program can switch single ones off
// (RIDGE_DEFENCES_OFF=name,name), which proves of each attack that exactly these stop it, and of each defence that it
// stops something.
#pragma once
#include <string>
#include <vector>

namespace ridge {

enum class Defence {
  // Building.
  source_files,       // plain source files of the lab only; the course's own are laid on top
  build_sandbox,      // the compiler sees the system and the submission, and nothing of the machine's users
  build_limits,       // time, memory, file size and output of the compiler
  assembly_policy,    // no inline assembly, no foreign sections, no data that runs (backend cpu)
  symbol_policy,      // no imports but those that a lab's code needs
  scrubbed_messages,  // messages without private paths, and at most 64 KiB of them
  // Running.
  worker_sandbox,     // namespaces: no network, no processes of others, a private file system
  system_calls,       // seccomp filter
  sealed_code,        // no memory becomes executable once a worker has started (cpu)
  landlock,           // files by right, beneath the file system that the sandbox shows
  worker_limits,      // processes, memory, file sizes, disk
  clean_environment,  // no variables, arguments or descriptors of the judge
  output_limit,       // of what the submission prints
  time_limit,
  strict_protocol,  // packets are checked in full, in sequence, one answer to a question
  // Measuring.
  fresh_inputs,  // new inputs at new addresses for every case and turn
  secret_seeds,  // seeds that nobody can know before (grade)
  random_order,  // of cases
  poisoned_outputs,
  every_output,      // outputs of all timed calls are verified: the first one's whole, blocks drawn later of the others
  own_inputs,        // the expected answer comes from the judge's copies of the inputs
  explicit_nan,      // NaN matches NaN only where the reference says so
  tolerance,         // from precision and reduction length
  norms,             // of the error over all elements
  judge_clock,       // no time comes from the submission
  unknown_count,     // of calls in a timed turn
  late_writes,       // outputs are sampled when the answer arrives, on the clock, and may not change afterwards
  roofline_floor,    // faster than the measured machine is not believed
  own_baseline,      // the baseline is timed alone first: beside the submission it may not be slower
  counted_copies,    // copies and fills count as traffic, and are no kernels
  all_ways,          // a goal counts every way of doing a thing: atomics, constants, local memory, barriers in memory
  summed_costs,      // costs are sums over the lab's bound, not means that harmless work dilutes
  plausible_counts,  // counts and times that nothing can have that does the work are not measured
  constant_limit,    // 64 KiB of __constant__ variables
  host_buffers,      // kernels may not touch page-locked buffers where the contract says so
  replay,            // counts and outputs come from a fresh process that never ran the submission's host code (cpu)
  decoy_inputs,      // where seeds are secret, host code runs with other inputs than those judged (cpu)
  host_access,       // host code that follows a pointer to device memory is stopped (cpu)
  kernel_entries,    // that process enters kernels only
  reordered_inputs,  // a second call gets the first one's values in another order (cpu)
  second_build,      // an answer is judged in a second build, too (grade, cpu)
  sanitizer,         // races, reads of unset memory and leaks are looked for (check, cpu)
  scrubbed_memory,   // buffers are wiped before they go back
  // Telling and keeping.
  quiet_secrets,  // feedback on secret cases holds no values
  signature,      // of a record
  count_          // number of defences
};

// "build-sandbox".
const char* name_of(Defence d);

#ifdef RIDGE_KNOWS_NO_DEFENCE
#error "this file was compiled once for both judges: run cmake again, which finds that it knows defences"
#endif

#ifdef RIDGE_DEFENCE_SWITCHES
bool on(Defence d);
#else
constexpr bool on(Defence) { return true; }
#endif

}  // namespace ridge
