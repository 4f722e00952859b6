// expects: launch from a kernel at 5, cudaErrorInvalidValue
// link: -rdc=true
// A child with more threads in a block than there may be: no call of the host says so.
__global__ void child() {}
__global__ void parent() { child<<<1, 2048>>>(); }

int main() {
  parent<<<1, 1>>>();
  std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  return 1;
}
