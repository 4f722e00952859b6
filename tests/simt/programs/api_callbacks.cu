// Host functions run in the order of their stream, once, and may not call CUDA.
#include <vector>

#include "check.hpp"

__global__ void append(int* list, int* count, int value) { list[(*count)++] = value; }

struct Note {
  std::vector<int>* log;
  int value;
  const int* seen;  // pinned memory that a copy before the call has filled
};

void CUDART_CB note(void* data) {
  Note* n = static_cast<Note*>(data);
  n->log->push_back(n->value + (n->seen != nullptr ? *n->seen : 0));
}
void CUDART_CB old_style(cudaStream_t, cudaError_t status, void* data) {
  Note* n = static_cast<Note*>(data);
  n->log->push_back(status == cudaSuccess ? n->value : -1);
}

int main() {
  int *list, *count, *seen;
  cudaMalloc(&list, 16 * sizeof(int));
  cudaMalloc(&count, sizeof(int));
  cudaMallocHost(&seen, sizeof(int));
  *seen = 0;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  std::vector<int> log;
  Note first{&log, 100, nullptr}, second{&log, 200, seen}, third{&log, 300, nullptr};

  cudaMemsetAsync(count, 0, sizeof(int), stream);
  expect_error(cudaLaunchHostFunc(stream, note, &first), cudaSuccess, "host function");
  append<<<1, 1, 0, stream>>>(list, count, 5);
  append<<<1, 1, 0, stream>>>(list, count, 6);
  cudaMemcpyAsync(seen, count, sizeof(int), cudaMemcpyDeviceToHost, stream);
  expect_error(cudaLaunchHostFunc(stream, note, &second), cudaSuccess, "host function");
  expect_error(cudaStreamAddCallback(stream, old_style, &third, 0), cudaSuccess, "callback");
  expect_error(cudaStreamSynchronize(stream), cudaSuccess, "synchronise");
  expect(log.size() == 3 && log[0] == 100 && log[1] == 202 && log[2] == 300, "host functions run in order");

  // A host function of one stream before a kernel of another.
  cudaStream_t other;
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t event;
  cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
  struct Change {
    int* to;
    int value;
  } change{seen, 42};
  cudaLaunchHostFunc(
      other, [](void* p) { *static_cast<Change*>(p)->to = static_cast<Change*>(p)->value; }, &change);
  cudaEventRecord(event, other);
  cudaStreamWaitEvent(stream, event, 0);
  cudaMemcpyAsync(list, seen, sizeof(int), cudaMemcpyHostToDevice, stream);
  int out = 0;
  cudaStreamSynchronize(stream);
  cudaMemcpy(&out, list, sizeof(int), cudaMemcpyDeviceToHost);
  expect(out == 42, "what a host function wrote is copied");

  expect_error(cudaLaunchHostFunc(stream, nullptr, nullptr), cudaErrorInvalidValue, "no function");
  expect_error(cudaStreamAddCallback(stream, old_style, &third, 1), cudaErrorInvalidValue, "flags must be 0");
  cudaGetLastError();
  for (int* p : {list, count}) cudaFree(p);
  cudaFreeHost(seen);
  cudaStreamDestroy(stream);
  cudaStreamDestroy(other);
  cudaEventDestroy(event);
  std::puts("ok");
}
