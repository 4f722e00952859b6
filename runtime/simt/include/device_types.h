// cuda_runtime.h already has the rest of this header.
#pragma once
enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#include "cuda_runtime.h"
