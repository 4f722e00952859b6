// cuda_runtime.h already has the contents of this header.
#pragma once
#include "cuda_runtime.h"
