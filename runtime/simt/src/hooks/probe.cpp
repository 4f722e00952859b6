#include "hooks/probe.hpp"

#include <pthread.h>

#include <memory>
#include <mutex>

#include "device/program.hpp"
#include "fiber/fiber.hpp"

namespace ridge::simt {

bool Probe::active = false;

namespace {

struct State {
  pthread_t thread;
  Fiber host, kernel;
  void (*run)(void*);
  void* closure;
  std::uint64_t found;
} state;

void start(void*) {
  state.run(state.closure);
  // A kernel without any basic block of its own: nothing to find.
  fiber_switch(state.kernel, state.host);
}

}  // namespace

void Probe::reached(std::uint64_t function) {
  if (!pthread_equal(pthread_self(), state.thread)) return;
  state.found = function;
  fiber_switch(state.kernel, state.host);
}

std::uintptr_t kernel_of(void (*run)(void*), void* closure) {
  if (!Program::instance().graph) return 0;
  constexpr std::size_t kStack = 64 * 1024;
  static std::mutex mutex;
  static const auto stack = std::make_unique_for_overwrite<char[]>(kStack);
  std::lock_guard lock(mutex);
  state.thread = pthread_self();
  state.run = run;
  state.closure = closure;
  state.found = 0;
  fiber_create(state.kernel, stack.get(), kStack, &start, nullptr);
  Probe::active = true;
  fiber_switch(state.host, state.kernel);
  Probe::active = false;
  return state.found;
}

KernelResources resources_of(std::uintptr_t kernel) { return Program::instance().resources(kernel); }

}  // namespace ridge::simt
