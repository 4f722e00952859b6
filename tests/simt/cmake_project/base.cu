// v: n numbers
__global__ void add_kernel(int* v, int n, int what) {
  if (threadIdx.x < n) v[threadIdx.x] += what;
}
void add(int* v, int n, int what) { add_kernel<<<1, 32>>>(v, n, what); }
