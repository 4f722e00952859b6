#include "@ROOT@/solutions/01_coalescing/copy.cu"
