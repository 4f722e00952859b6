// cuFFT's plans by types of data.
#include <cstdio>

#include "cufft/plan.hpp"

using namespace ridge::simt::fft;

namespace {

// The transform whose input, output and arithmetic have these types. False: there is none here.
bool type_of(cudaDataType in, cudaDataType out, cudaDataType computed, cufftType& type) {
  const bool twice = computed == CUDA_C_64F;
  const cudaDataType real = twice ? CUDA_R_64F : CUDA_R_32F, both = twice ? CUDA_C_64F : CUDA_C_32F;
  if (computed != both) return false;
  if (in == both && out == both)
    type = twice ? CUFFT_Z2Z : CUFFT_C2C;
  else if (in == real && out == both)
    type = twice ? CUFFT_D2Z : CUFFT_R2C;
  else if (in == both && out == real)
    type = twice ? CUFFT_Z2D : CUFFT_C2R;
  else
    return false;
  return true;
}

// f(shape), where there is such a transform.
template <class F>
cufftResult with_shape(int rank, const long long* n, const long long* inembed, long long istride, long long idist,
                       cudaDataType in, const long long* onembed, long long ostride, long long odist, cudaDataType out,
                       long long batch, cudaDataType computed, F f) {
  Shape shape;
  cufftType type = CUFFT_C2C;
  if (!type_of(in, out, computed, type)) {
    std::fputs("ridge: refused: cuFFT: transforms are of float and double, not of half and bfloat16\n", stderr);
    return CUFFT_INVALID_TYPE;
  }
  if (!shape_of_many(shape, rank, n, inembed, istride, idist, onembed, ostride, odist, type, batch))
    return CUFFT_INVALID_VALUE;
  return f(shape);
}

}  // namespace

extern "C" {

cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                                long long int istride, long long int idist, cudaDataType in, long long int* onembed,
                                long long int ostride, long long int odist, cudaDataType out, long long int batch,
                                size_t* work_size, cudaDataType computed) {
  return with_shape(rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, computed,
                    [&](const Shape& shape) { return make(plan, shape, work_size); });
}
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n, long long int* inembed,
                               long long int istride, long long int idist, cudaDataType in, long long int* onembed,
                               long long int ostride, long long int odist, cudaDataType out, long long int batch,
                               size_t* work_size, cudaDataType computed) {
  if (const cufftResult r = cufftSetAutoAllocation(plan, 1); r != CUFFT_SUCCESS) return r;
  return with_shape(rank, n, inembed, istride, idist, in, onembed, ostride, odist, out, batch, computed,
                    [&](const Shape& shape) { return estimate(shape, work_size); });
}
cufftResult cufftXtExec(cufftHandle handle, void* in, void* out, int direction) {
  Shape shape;
  {
    std::lock_guard lock(plans_mutex());
    const Plan* plan = find(handle);
    if (plan == nullptr || !plan->made) return CUFFT_INVALID_PLAN;
    shape = plan->shape;
  }
  if (shape.real_in()) direction = CUFFT_FORWARD;
  if (shape.real_out()) direction = CUFFT_INVERSE;
  return execute(handle, shape.type, in, out, direction);
}
cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy, size_t* work_size) {
  return cufftGetSize(plan, work_size);
}
cufftResult cufftXtSetWorkArea(cufftHandle plan, void**) { return cufftSetWorkArea(plan, nullptr); }
}
