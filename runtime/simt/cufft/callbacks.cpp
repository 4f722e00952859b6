// Transforms whose elements come and go through functions of the program.
#include <algorithm>
#include <cstring>
#include <vector>

#include "cufft/plan.hpp"
#include "device/functions.hpp"

namespace ridge::simt::fft {

namespace {

// f(place) for each element of one side, in elements from the first one.
template <class F>
void each_element(const Shape& s, bool input, F f) {
  const Layout& layout = input ? s.in : s.out;
  const bool half = input ? s.real_out() : s.real_in();
  std::vector<int> n = s.n, at(s.n.size());
  if (half) n.back() = n.back() / 2 + 1;
  for (int batch = 0; batch < s.batch; ++batch) {
    std::fill(at.begin(), at.end(), 0);
    for (bool more = true; more;) {
      std::size_t place = 0;
      for (std::size_t d = 0; d < n.size(); ++d)
        place = place * (d == 0 ? 1 : static_cast<std::size_t>(layout.embed[d])) + static_cast<std::size_t>(at[d]);
      f(static_cast<std::size_t>(batch) * static_cast<std::size_t>(layout.distance) +
        place * static_cast<std::size_t>(layout.stride));
      more = false;
      for (std::size_t d = n.size(); d-- > 0 && !more;) {
        more = ++at[d] < n[d];
        if (!more) at[d] = 0;
      }
    }
  }
}

template <class T>
void load(const Shape& s, const Callback& callback, void* in, void* loaded, void* shared) {
  const auto function = reinterpret_cast<T (*)(void*, std::size_t, void*, void*)>(callback.function);
  each_element(s, true, [&](std::size_t i) { static_cast<T*>(loaded)[i] = function(in, i, callback.info, shared); });
}
template <class T>
void store(const Shape& s, const Callback& callback, const void* result, void* out, void* shared) {
  const auto function = reinterpret_cast<void (*)(void*, std::size_t, T, void*, void*)>(callback.function);
  each_element(s, false,
               [&](std::size_t i) { function(out, i, static_cast<const T*>(result)[i], callback.info, shared); });
}

const Callback* of(const Callbacks& all, int type) {
  const Callback& c = all[static_cast<std::size_t>(type)];
  return c.function == nullptr ? nullptr : &c;
}

std::size_t numbers(std::int64_t bytes) { return static_cast<std::size_t>(bytes) / sizeof(cufftDoubleComplex) + 1; }

}  // namespace

const Callback* load_callback(const Shape& s, const Callbacks& all) {
  const int single = s.real_in() ? CUFFT_CB_LD_REAL : CUFFT_CB_LD_COMPLEX;
  return of(all, single + (s.twice() ? 1 : 0));
}
const Callback* store_callback(const Shape& s, const Callbacks& all) {
  const int single = s.real_out() ? CUFFT_CB_ST_REAL : CUFFT_CB_ST_COMPLEX;
  return of(all, single + (s.twice() ? 1 : 0));
}

void run_with_callbacks(const Shape& s, const Transform& transform, const Callbacks& all, void* in, void* out) {
  const Callback *loads = load_callback(s, all), *stores = store_callback(s, all);
  const DeviceFunctions running;
  const std::size_t shared_bytes =
      std::max(loads == nullptr ? 0 : loads->shared_bytes, stores == nullptr ? 0 : stores->shared_bytes);
  // Aligned for every type; FFTW may overwrite its input.
  std::vector<cufftDoubleComplex> from(numbers(bytes(s, true))), to(stores == nullptr ? 0 : numbers(bytes(s, false))),
      shared(numbers(static_cast<std::int64_t>(shared_bytes)));
  std::memcpy(static_cast<void*>(from.data()), in, static_cast<std::size_t>(bytes(s, true)));
  if (loads != nullptr) {
    const auto run = s.real_in() ? (s.twice() ? load<double> : load<float>)
                                 : (s.twice() ? load<cufftDoubleComplex> : load<cufftComplex>);
    run(s, *loads, in, from.data(), shared.data());
  }
  transform.run(from.data(), stores == nullptr ? out : to.data());
  if (stores != nullptr) {
    const auto run = s.real_out() ? (s.twice() ? store<double> : store<float>)
                                  : (s.twice() ? store<cufftDoubleComplex> : store<cufftComplex>);
    run(s, *stores, to.data(), out, shared.data());
  }
}

}  // namespace ridge::simt::fft

using namespace ridge::simt::fft;

namespace {

template <class F>
cufftResult with_callback(cufftHandle handle, cufftXtCallbackType type, F f) {
  std::lock_guard lock(plans_mutex());
  Plan* plan = find(handle);
  if (plan == nullptr) return CUFFT_INVALID_PLAN;
  if (type < 0 || type >= CUFFT_CB_UNDEFINED) return CUFFT_INVALID_TYPE;
  return f(*plan, plan->callbacks[static_cast<std::size_t>(type)]);
}

}  // namespace

extern "C" {

cufftResult cufftXtSetCallback(cufftHandle handle, void** functions, cufftXtCallbackType type, void** infos) {
  return with_callback(handle, type, [&](const Plan& plan, Callback& callback) {
    if (!plan.made) return CUFFT_INVALID_PLAN;
    if (functions == nullptr || functions[0] == nullptr) return CUFFT_INVALID_VALUE;
    callback.function = functions[0];
    callback.info = infos == nullptr ? nullptr : infos[0];
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftXtClearCallback(cufftHandle handle, cufftXtCallbackType type) {
  return with_callback(handle, type, [](const Plan&, Callback& callback) {
    callback = {};
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftXtSetCallbackSharedSize(cufftHandle handle, cufftXtCallbackType type, size_t bytes) {
  return with_callback(handle, type, [&](const Plan&, Callback& callback) {
    if (bytes > 16384) return CUFFT_INVALID_VALUE;
    callback.shared_bytes = bytes;
    return CUFFT_SUCCESS;
  });
}
cufftResult cufftXtSetJITCallback(cufftHandle handle, const char* name, const void* code, size_t code_bytes,
                                  cufftXtCallbackType type, void** infos) {
  return with_callback(handle, type, [&](const Plan& plan, Callback& callback) {
    if (plan.made) return CUFFT_INVALID_PLAN;  // before it is made
    if (name == nullptr || code == nullptr) return CUFFT_INVALID_VALUE;
    void* function = ridge::simt::device_function("cuFFT", code, code_bytes, name);
    if (function == nullptr) return CUFFT_INVALID_VALUE;
    callback.function = function;
    callback.info = infos == nullptr ? nullptr : infos[0];
    return CUFFT_SUCCESS;
  });
}
}
