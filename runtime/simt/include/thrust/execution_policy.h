// With thrust::cuda::par, which CUDA's own has too.
#pragma once
#include_next <thrust/execution_policy.h>
#include <thrust/system/cuda/execution_policy.h>
