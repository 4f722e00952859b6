// With the policies: CUDA's Thrust brings them with every algorithm.
#pragma once
#include_next <thrust/detail/config.h>
#include <thrust/execution_policy.h>
