// The arithmetic of reductions, element by element, in the type of the data, as NCCL's kernels do it: sums of fp16 and
// bf16 are rounded at every step.
#pragma once
#include <cstddef>

#include "nccl.h"

namespace ridge::collectives {

// Bytes of one element; 0: there is no such type.
std::size_t bytes_of(ncclDataType_t type);
const char* name_of(ncclDataType_t type);  // "ncclFloat32"

// A reduction is: before() on each rank's data, reduce() all together, after() on the result. into[i] = into[i] op
// from[i]. ncclAvg, as in NCCL: numbers of floating types are multiplied by 1 / ranks before, integers divided (towards
// zero) after.
void before(void* data, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int ranks);
void reduce(void* into, const void* from, std::size_t count, ncclDataType_t type, ncclRedOp_t op);
void after(void* data, std::size_t count, ncclDataType_t type, ncclRedOp_t op, int ranks);
// data[i] *= *scalar, of the same type: before() of the operators of ncclRedOpCreatePreMulSum.
void multiply(void* data, const void* scalar, std::size_t count, ncclDataType_t type);

}  // namespace ridge::collectives
