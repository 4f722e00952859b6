__device__ int doubled(int x) { return 2 * x; }
