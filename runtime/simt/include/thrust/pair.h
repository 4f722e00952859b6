// detail/config.h says why.
#pragma once
#define RIDGE_THRUST_PLAIN
#include_next <thrust/pair.h>
#undef RIDGE_THRUST_PLAIN
#include <thrust/detail/config.h>
