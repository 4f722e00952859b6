#include "stream/perform.hpp"

#include <chrono>
#include <cstring>

#include "device/device_profile.hpp"
#include "device/fault.hpp"
#include "device/memory.hpp"
#include "sanitize/sanitizer.hpp"

// Present where the program was compiled with counting: `--plain` leaves the hooks out.
extern "C" [[gnu::weak]] void __tsan_init();

namespace ridge::simt {

namespace {

char* row(const Box& box, std::size_t y, std::size_t z) { return box.data + z * box.slice + y * box.pitch; }

void copy_rows(const Work& w) {
  if (w.to.data == w.from.data) return;  // a prefetch
  const bool told = Sanitizer::enabled();
  for (std::size_t z = 0; z < w.extent.depth; ++z)
    for (std::size_t y = 0; y < w.extent.height; ++y) {
      std::memmove(row(w.to, y, z), row(w.from, y, z), w.extent.width);
      if (told) Sanitizer::written(reinterpret_cast<std::uintptr_t>(row(w.to, y, z)), w.extent.width);
    }
}

void fill_rows(const Work& w) {
  const bool told = Sanitizer::enabled();
  for (std::size_t z = 0; z < w.extent.depth; ++z)
    for (std::size_t y = 0; y < w.extent.height; ++y) {
      char* to = row(w.to, y, z);
      if (w.element_size == 1) {
        std::memset(to, static_cast<int>(w.value), w.extent.width);
      } else {  // the low bytes of a little-endian value
        for (std::size_t x = 0; x < w.extent.width; x += w.element_size) std::memcpy(to + x, &w.value, w.element_size);
      }
      if (told) Sanitizer::written(reinterpret_cast<std::uintptr_t>(to), w.extent.width);
    }
}

}  // namespace

bool perform_kernel(Operation& op) {
  Work& w = op.work;
  const DeviceProfile& profile = device_profile();
  set_launch(w.callers);
  const auto begin = std::chrono::steady_clock::now();
  const LaunchOutcome outcome = run_launch(w.config, w.run, w.closure.get(), w.closure_bytes);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  op.footprint = outcome.footprint;
  op.share = gpu_share(profile, w.config, outcome.resources);
  if (&__tsan_init == nullptr) {
    op.seconds = elapsed;  // a program without counters has only the host's clock
    return outcome.ok;
  }
  op.seconds = kernel_seconds(profile, w.config, outcome.resources, outcome.counters) +
               (op.in_graph ? profile.graph_node_latency : profile.kernel_latency);
  for (const LaunchOutcome::Child& child : outcome.children)  // one after another, which a GPU may do side by side
    op.seconds += kernel_seconds(profile, child.config, child.resources, child.counters) + profile.kernel_latency;
  set_link_shares(profile, outcome.counters, op.seconds, op.link_in, op.link_out);
  // Managed memory moves at the first kernel after its allocation, as if that touched all of it.
  op.seconds += static_cast<double>(DeviceMemory::instance().migrate_managed()) / profile.managed_migration;
  return outcome.ok;
}

void perform_copy(Operation& op) {
  copy_rows(op.work);
  op.seconds = copy_seconds(device_profile(), op.work.path, op.work.extent.bytes(), op.work.pageable);
  op.share = 1;
}

void perform_fill(Operation& op) {
  fill_rows(op.work);
  op.seconds = fill_seconds(device_profile(), op.work.extent.bytes());
  op.share = 1;
}

}  // namespace ridge::simt
