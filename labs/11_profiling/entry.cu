// Unpacks a call record of the judge for lab 11.
#include <cstdio>
#include <vector>

#include "lab/ask.hpp"
#include "lab/call.hpp"
#include "model.hpp"
#include "profile.hpp"
#include "profiling.hpp"
#include "search.hpp"

namespace {

// in[0]: (count) records on the host; out[0]: (count) answers on the device. Sizes: count.
template <class In, class Out, class Function>
void on_host(const ridge_call& c, Function function) {
  std::vector<Out> out(static_cast<std::size_t>(c.size[0]));
  function(static_cast<const In*>(c.in[0]), static_cast<int>(c.size[0]), out.data());
  cudaMemcpyAsync(c.out[0], out.data(), out.size() * sizeof(Out), cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);  // before `out` goes
}

// The judge has the times.
double measured(const Shape&, int config) {
  const long long question[8] = {config};
  double answer[4] = {-1};
  if (!ridge_ask(question, answer))
    std::fprintf(stderr, "autotune: a measurement was refused: %d are allowed\n", kMeasurements);
  return answer[0];
}

// out[0]: the configuration. Sizes: m, n, k.
void search(const ridge_call& c) {
  const Shape shape{static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2])};
  const int chosen = autotune(shape, Measure(shape, measured));
  cudaMemcpyAsync(c.out[0], &chosen, sizeof chosen, cudaMemcpyHostToDevice, c.stream);
  cudaStreamSynchronize(c.stream);
}

}  // namespace

// The product that the judge times on a GPU; baseline.cu sets it in the judge's own program.
bool (*product)(const ridge_call& call) = nullptr;

bool ridge_entry(const ridge_call& c) {
  const auto size = [&c](int i) { return static_cast<int>(c.size[i]); };
  if (c.is("predict")) {
    on_host<Launch, Prediction>(
        c, [](const Launch* in, int count, Prediction* out) { predict(in, count, Device{}, out); });
  } else if (c.is("occupancy")) {
    walk(static_cast<const int*>(c.in[0]), static_cast<const float*>(c.in[1]), static_cast<const int*>(c.in[2]),
         static_cast<float*>(c.out[0]), size(0), size(1), size(2), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("divergence")) {
    evaluate(static_cast<const int*>(c.in[0]), static_cast<const float*>(c.in[1]), static_cast<float*>(c.out[0]),
             size(0), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("diagnose")) {
    on_host<Profile, Diagnosis>(c, diagnose);
  } else if (c.is("autotune")) {
    search(c);
  } else if (c.is("product") && product != nullptr) {
    return product(c);
  } else {
    return false;
  }
  return true;
}
