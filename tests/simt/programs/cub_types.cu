// CUB's keys as unsigned integers, and its caching allocator.
#include <cstdio>
#include <cstring>
#include <cub/cub.cuh>
#include <cub/util_allocator.cuh>
#include <random>
#include <vector>

// keys: (n) -> the number of neighbours whose order their bits do not have.
template <class T>
__global__ void compare(const T* keys, int n, int* wrong) {
  using Traits = cub::Traits<T>;
  using Bits = typename Traits::UnsignedBits;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 >= n) return;
  Bits a, b;
  memcpy(&a, &keys[i], sizeof a);
  memcpy(&b, &keys[i + 1], sizeof b);
  const Bits x = Traits::TwiddleIn(a), y = Traits::TwiddleIn(b);
  if ((keys[i] < keys[i + 1]) != (x < y) || Traits::TwiddleOut(x) != a) atomicAdd(wrong, 1);
}

static cub::CachingDeviceAllocator allocator(true);

template <class T>
static int check(std::vector<T> keys) {
  T* on_device = nullptr;
  int *wrong = nullptr, count = -1;
  allocator.DeviceAllocate((void**)&on_device, keys.size() * sizeof(T));
  allocator.DeviceAllocate((void**)&wrong, sizeof(int));
  cudaMemcpy(on_device, keys.data(), keys.size() * sizeof(T), cudaMemcpyHostToDevice);
  cudaMemset(wrong, 0, sizeof(int));
  compare<<<4, 256>>>(on_device, (int)keys.size(), wrong);
  cudaMemcpy(&count, wrong, sizeof(int), cudaMemcpyDeviceToHost);
  allocator.DeviceFree(on_device);
  allocator.DeviceFree(wrong);
  return count;
}

int main() {
  std::mt19937_64 random(3);
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<int> ints;
  std::vector<unsigned char> bytes;
  std::vector<short> shorts;
  for (int i = 0; i < 1000; ++i) {
    const auto bits = random();
    floats.push_back((float)(int)bits / 3);
    doubles.push_back((double)(long long)bits / 7);
    ints.push_back((int)bits), bytes.push_back((unsigned char)bits), shorts.push_back((short)bits);
  }
  const int wrong = check(floats) + check(doubles) + check(ints) + check(bytes) + check(shorts);
  // Runs of equal items, and their first ones.
  const std::vector<int> runs = {4, 4, 4, 1, 7, 7, 4, 2, 2, 2, 2};
  int *on_device = nullptr, *firsts = nullptr, *lengths = nullptr, *many = nullptr;
  CubDebugExit(cudaMalloc(&on_device, runs.size() * sizeof(int)));
  CubDebugExit(cudaMalloc(&firsts, runs.size() * sizeof(int)));
  CubDebugExit(cudaMalloc(&lengths, runs.size() * sizeof(int)));
  CubDebugExit(cudaMalloc(&many, sizeof(int)));
  CubDebugExit(cudaMemcpy(on_device, runs.data(), runs.size() * sizeof(int), cudaMemcpyHostToDevice));
  void* temp = nullptr;
  std::size_t bytes_needed = 0;
  for (int again = 0; again < 2; ++again) {
    CubDebugExit(
        cub::DeviceRunLengthEncode::Encode(temp, bytes_needed, on_device, firsts, lengths, many, (int)runs.size()));
    if (temp == nullptr) CubDebugExit(cudaMalloc(&temp, bytes_needed));
  }
  int got[2][5], length = 0;
  cudaMemcpy(&length, many, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpy(got[0], firsts, sizeof got[0], cudaMemcpyDeviceToHost);
  cudaMemcpy(got[1], lengths, sizeof got[1], cudaMemcpyDeviceToHost);
  const int want[2][5] = {{4, 1, 7, 4, 2}, {3, 1, 2, 1, 4}};
  if (length != 5 || memcmp(got, want, sizeof got) != 0) std::printf("runs: %d\n", length);
  for (void* p : {(void*)on_device, (void*)firsts, (void*)lengths, (void*)many, temp}) cudaFree(p);
  // What was given back comes again.
  void *first = nullptr, *second = nullptr;
  allocator.DeviceAllocate(&first, 4096);
  allocator.DeviceFree(first);
  allocator.DeviceAllocate(&second, 4096);
  const bool again = first == second;
  allocator.DeviceFree(second);
  const cudaError_t error = allocator.FreeAllCached();
  if (wrong != 0 || !again || error != cudaSuccess)
    std::printf("%d wrong, again %d, error %d\n", wrong, again, error);
  else
    std::printf("ok\n");
}
