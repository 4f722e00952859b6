// Structs with padding, and members that nobody set, are copied as a whole.
#include "../programs/check.hpp"

struct Padded {
  char tag;
  double value;
  int count;  // four bytes of padding behind
};
struct Partial {
  float x, unused, z;
};

__global__ void copy(int* data, Padded* a, Partial* p) {
  __shared__ Padded s[32];
  __shared__ Partial q[32];
  unsigned t = threadIdx.x;
  a[t].tag = 'x';
  a[t].value = t;
  a[t].count = 2;
  p[t].x = 1;
  p[t].z = 2;
  s[t] = a[t];
  q[t] = p[t];
  __syncthreads();
  Padded b = s[31 - t];
  Partial r = q[31 - t];
  a[t] = b;
  p[t] = r;
  data[t] = static_cast<int>(b.value) * b.count + static_cast<int>(r.x + r.z);
}

int main() {
  int *data, host[32];
  cudaMalloc(&data, sizeof host);
  cudaMemset(data, 0, sizeof host);
  Padded* a;
  Partial* p;
  cudaMalloc(&a, 32 * sizeof(Padded));
  cudaMalloc(&p, 32 * sizeof(Partial));
  copy<<<1, 32>>>(data, a, p);
  cudaFree(a);
  cudaFree(p);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  expect(host[0] == 65 && host[31] == 3, "members of structs");
  cudaFree(data);
  std::puts("ok");
}
