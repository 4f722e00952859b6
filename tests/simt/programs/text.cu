// Bytes: searching a pattern with tiles and overlap, upper case by uchar4, run-length encoding, and counting words.
#include <string>

#include "sample.hpp"

__constant__ char pattern[16];

__global__ void search(const char* text, int n, int length, int* found, int* count) {
  extern __shared__ char tile[];
  const int base = blockIdx.x * blockDim.x;
  for (int i = threadIdx.x; i < static_cast<int>(blockDim.x) + length - 1; i += blockDim.x)
    tile[i] = base + i < n ? text[base + i] : '\0';
  __syncthreads();
  const int at = base + threadIdx.x;
  if (at + length > n) return;
  for (int k = 0; k < length; ++k)
    if (tile[threadIdx.x + k] != pattern[k]) return;
  found[atomicAdd(count, 1)] = at;
}

__device__ unsigned char upper(unsigned char c) { return c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c; }

__global__ void upper_case(char* text, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (4 * i + 3 < n) {
    uchar4* p = reinterpret_cast<uchar4*>(text) + i;
    uchar4 v = *p;
    *p = make_uchar4(upper(v.x), upper(v.y), upper(v.z), upper(v.w));
    return;
  }
  for (int k = 4 * i; k < n; ++k) text[k] = upper(text[k]);
}

__global__ void count_words(const char* text, int n, unsigned* words) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool starts = i < n && text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  int here = __syncthreads_count(starts);
  if (threadIdx.x == 0 && here > 0) atomicAdd(words, static_cast<unsigned>(here));
}

// One block: which positions begin a run, their ranks by a scan with a carry, and the starts of the runs.
__global__ void run_lengths(const char* text, int n, char* symbols, int* starts, int* runs) {
  __shared__ int s[128];
  int before = 0;
  for (int base = 0; base < n; base += 128) {
    const int t = threadIdx.x, i = base + t;
    const int head = i < n && (i == 0 || text[i] != text[i - 1]);
    s[t] = head;
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
      int left = t >= d ? s[t - d] : 0;
      __syncthreads();
      s[t] += left;
      __syncthreads();
    }
    if (head) {
      symbols[before + s[t] - 1] = text[i];
      starts[before + s[t] - 1] = i;
    }
    before += s[127];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    starts[before] = n;
    *runs = before;
  }
}

int main() {
  const int n = 3001;
  Random random(19);
  std::string text(n, ' ');
  for (char& c : text) c = "aab  bca"[random.below(8)];
  const std::string wanted_text = "aab";
  char* d_text = to_device(std::vector<char>(text.begin(), text.end()));
  int *d_found = device_array<int>(n), *d_count = device_array<int>(1), *d_starts = device_array<int>(n + 1);
  CUDA_CHECK(cudaMemcpyToSymbol(pattern, wanted_text.data(), wanted_text.size()));
  CUDA_CHECK(cudaMemset(d_count, 0, sizeof(int)));
  search<<<blocks_for(n, 96), 96, 96 + 2>>>(d_text, n, 3, d_found, d_count);
  CUDA_CHECK(cudaGetLastError());
  std::vector<char> hit(n), wanted_hit(n);
  for (int at : to_host(d_found, to_host(d_count, 1)[0])) hit[at] = 1;
  for (std::size_t at = text.find(wanted_text); at != std::string::npos; at = text.find(wanted_text, at + 1))
    wanted_hit[at] = 1;
  expect_equal(hit, wanted_hit, "places of the pattern");

  unsigned words = 0;
  for (int i = 0; i < n; ++i) words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  unsigned* d_words = device_array<unsigned>(1);
  CUDA_CHECK(cudaMemset(d_words, 0, sizeof(unsigned)));
  count_words<<<blocks_for(n, 96), 96>>>(d_text, n, d_words);
  CUDA_CHECK(cudaGetLastError());
  expect(to_host(d_words, 1)[0] == words, "number of words");

  char* d_symbols = device_array<char>(n);
  run_lengths<<<1, 128>>>(d_text, n, d_symbols, d_starts, d_count);
  CUDA_CHECK(cudaGetLastError());
  const int runs = to_host(d_count, 1)[0];
  std::vector<char> symbols = to_host(d_symbols, runs);
  std::vector<int> starts = to_host(d_starts, runs + 1);
  std::string again;
  for (int r = 0; r < runs; ++r) {
    expect(r == 0 || symbols[r] != symbols[r - 1], "neighbouring runs differ");
    again.append(starts[r + 1] - starts[r], symbols[r]);
  }
  expect(again == text, "runs give the text again");

  upper_case<<<blocks_for((n + 3) / 4, 64), 64>>>(d_text, n);
  CUDA_CHECK(cudaGetLastError());
  std::vector<char> shouted(text.begin(), text.end());
  for (char& c : shouted) c = c == ' ' ? c : static_cast<char>(c - 'a' + 'A');
  expect_equal(to_host(d_text, n), shouted, "upper case");
  CUDA_CHECK(cudaFree(d_text));
  CUDA_CHECK(cudaFree(d_found));
  CUDA_CHECK(cudaFree(d_count));
  CUDA_CHECK(cudaFree(d_starts));
  CUDA_CHECK(cudaFree(d_words));
  CUDA_CHECK(cudaFree(d_symbols));
  std::puts("ok");
}
