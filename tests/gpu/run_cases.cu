// Runs a lab's solution on all its cases, those that are measured at the sizes of `ridge check` (large sizes have kernels of their
// own) and not larger than a tool gets through, in this process and without the judge, on buffers of exactly the sizes asked for:
// what compute-sanitizer can look at. Linked with the lab's check.cpp, entry.cu and the solution.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "ceilings/profile.hpp"
#include "checks/check.hpp"
#include "lab/ask.hpp"
#include "lab/call.hpp"

// For the bounds of goals on the emulator, which nobody asks for here.
const ridge::Profile& ridge::default_profile() {
  static const Profile none;
  return none;
}

namespace {

using namespace ridge::lab;

void must(cudaError_t e, const char* what) {
  if (e == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(e));
  std::exit(2);
}

struct Memory {
  Place place;
  void* at = nullptr;
  Memory(Place p, std::size_t bytes) : place(p) {
    if (place == Place::device) must(cudaMalloc(&at, bytes), "cudaMalloc");
    if (place == Place::pinned) must(cudaMallocHost(&at, bytes), "cudaMallocHost");
    if (place == Place::pageable) at = std::malloc(bytes);
  }
  Memory(Memory&& m) noexcept : place(m.place), at(std::exchange(m.at, nullptr)) {}
  ~Memory() {
    if (place == Place::device) cudaFree(at);
    if (place == Place::pinned) cudaFreeHost(at);
    if (place == Place::pageable) std::free(at);
  }
};

// Of a measured case: tools slow kernels down a hundredfold.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
constexpr double kMostOperations = 2e10;

std::size_t bytes_of(const Shape& shape) {
  std::size_t sum = shape.workspace;
  for (std::size_t bytes : shape.in) sum += bytes;
  for (std::size_t bytes : shape.out) sum += bytes;
  return sum;
}

// The questions of the case that runs.
const TaskCheck* asked_check = nullptr;
const Case* asked_case = nullptr;
std::vector<Question> asked;

// False: the answer is wrong.
bool run(const TaskCheck& check, const Case& c, cudaStream_t stream) {
  const Shape shape = check.shape(c);
  std::vector<std::vector<std::byte>> in, out;
  std::vector<std::span<std::byte>> fill;
  for (std::size_t bytes : shape.in) fill.emplace_back(in.emplace_back(bytes));
  check.fill(c, 20261121, fill);

  ridge_call call{};
  std::snprintf(call.task, sizeof call.task, "%s", check.id().c_str());
  for (std::size_t i = 0; i < 8; ++i) call.size[i] = c.size[i];
  call.stream = stream;
  asked_check = &check, asked_case = &c, asked.clear();
  std::vector<Memory> memory;
  for (std::size_t i = 0; i < in.size(); ++i) {
    call.in[i] = memory.emplace_back(shape.in_place, in[i].size()).at;
    must(cudaMemcpy(const_cast<void*>(call.in[i]), in[i].data(), in[i].size(), cudaMemcpyDefault), "inputs");
  }
  for (std::size_t i = 0; i < shape.out.size(); ++i) {
    call.out[i] = memory.emplace_back(shape.out_place, shape.out[i]).at;
    out.emplace_back(shape.out[i], std::byte{0xFF});
    must(cudaMemcpy(call.out[i], out[i].data(), out[i].size(), cudaMemcpyDefault), "outputs");
  }
  if (shape.workspace != 0) call.workspace = memory.emplace_back(Place::device, shape.workspace).at;
  call.workspace_bytes = shape.workspace;

  if (!ridge_entry(call)) return false;
  must(cudaDeviceSynchronize(), c.name.c_str());
  for (std::size_t i = 0; i < out.size(); ++i)
    must(cudaMemcpy(out[i].data(), call.out[i], out[i].size(), cudaMemcpyDefault), "outputs");
  std::vector<std::span<const std::byte>> all_in(in.begin(), in.end()), all_out(out.begin(), out.end());
  const Verdict v = check.verify(c, all_in, all_out);
  if (!v.ok) std::fprintf(stderr, "%s, %s: %s\n", check.id().c_str(), c.name.c_str(), v.message.c_str());
  return v.ok;
}

}  // namespace

// As on the emulator: nothing is timed here.
extern "C" bool ridge_ask(const long long* question, double* answer) {
  if (asked.size() == asked_check->most_questions(*asked_case)) return false;
  std::copy_n(question, 8, asked.emplace_back().value.begin());
  const Answer told = asked_check->answer(*asked_case, asked);
  std::copy_n(told.value.begin(), 4, answer);
  return true;
}

// Arguments: the lab's name; perhaps one task.
int main(int argc, char** argv) {
  if (argc < 2) return 2;
  cudaStream_t stream;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  int cases = 0, wrong = 0;
  const Request request{Mode::check, Backend::cuda, std::uint64_t{1} << 30, 20261121};
  for (const auto& check : checks_of(argv[1])) {
    if (argc > 2 && check->id() != argv[2]) continue;
    for (const Case& c : check->cases(request)) {
      if (c.measured && bytes_of(check->shape(c)) > kMostBytes) {
        std::printf("%s, %s: left out, too large\n", check->id().c_str(), c.name.c_str());
        continue;
      }
      ++cases;
      wrong += run(*check, c, stream) ? 0 : 1;
    }
  }
  must(cudaStreamDestroy(stream), "a stream");
  std::printf("%d cases, %d wrong\n", cases, wrong);
  return cases == 0 || wrong != 0 ? 1 : 0;
}
