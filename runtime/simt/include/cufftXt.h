// cuFFT's extended functions on the CPU: plans by types of data, several devices for one transform, functions of the program that load
// and store each element. Programs are linked with -lcufft, and with -lnvrtc where cufftXtSetJITCallback takes what NVRTC made.
#pragma once
#include "cufft.h"

typedef enum cufftXtSubFormat_t {
  CUFFT_XT_FORMAT_INPUT = 0x00,
  CUFFT_XT_FORMAT_OUTPUT = 0x01,
  CUFFT_XT_FORMAT_INPLACE = 0x02,
  CUFFT_XT_FORMAT_INPLACE_SHUFFLED = 0x03,
  CUFFT_XT_FORMAT_1D_INPUT_SHUFFLED = 0x04,
  CUFFT_XT_FORMAT_DISTRIBUTED_INPUT = 0x05,
  CUFFT_XT_FORMAT_DISTRIBUTED_OUTPUT = 0x06,
  CUFFT_FORMAT_UNDEFINED = 0x07
} cufftXtSubFormat;
typedef enum cufftXtCopyType_t {
  CUFFT_COPY_HOST_TO_DEVICE = 0x00,
  CUFFT_COPY_DEVICE_TO_HOST = 0x01,
  CUFFT_COPY_DEVICE_TO_DEVICE = 0x02,
  CUFFT_COPY_UNDEFINED = 0x03
} cufftXtCopyType;
typedef enum cufftXtQueryType_t { CUFFT_QUERY_1D_FACTORS = 0x00, CUFFT_QUERY_UNDEFINED = 0x01 } cufftXtQueryType;
typedef enum cufftXtWorkAreaPolicy_t {
  CUFFT_WORKAREA_MINIMAL = 0,
  CUFFT_WORKAREA_USER = 1,
  CUFFT_WORKAREA_PERFORMANCE = 2
} cufftXtWorkAreaPolicy;
typedef enum cufftXtCallbackType_t {
  CUFFT_CB_LD_COMPLEX = 0x0,
  CUFFT_CB_LD_COMPLEX_DOUBLE = 0x1,
  CUFFT_CB_LD_REAL = 0x2,
  CUFFT_CB_LD_REAL_DOUBLE = 0x3,
  CUFFT_CB_ST_COMPLEX = 0x4,
  CUFFT_CB_ST_COMPLEX_DOUBLE = 0x5,
  CUFFT_CB_ST_REAL = 0x6,
  CUFFT_CB_ST_REAL_DOUBLE = 0x7,
  CUFFT_CB_UNDEFINED = 0x8
} cufftXtCallbackType;

typedef cufftComplex (*cufftCallbackLoadC)(void* data, size_t offset, void* info, void* shared);
typedef cufftDoubleComplex (*cufftCallbackLoadZ)(void* data, size_t offset, void* info, void* shared);
typedef cufftReal (*cufftCallbackLoadR)(void* data, size_t offset, void* info, void* shared);
typedef cufftDoubleReal (*cufftCallbackLoadD)(void* data, size_t offset, void* info, void* shared);
typedef void (*cufftCallbackStoreC)(void* data, size_t offset, cufftComplex element, void* info, void* shared);
typedef void (*cufftCallbackStoreZ)(void* data, size_t offset, cufftDoubleComplex element, void* info, void* shared);
typedef void (*cufftCallbackStoreR)(void* data, size_t offset, cufftReal element, void* info, void* shared);
typedef void (*cufftCallbackStoreD)(void* data, size_t offset, cufftDoubleReal element, void* info, void* shared);
typedef cufftComplex (*cufftJITCallbackLoadC)(void* data, unsigned long long offset, void* info, void* shared);
typedef cufftDoubleComplex (*cufftJITCallbackLoadZ)(void* data, unsigned long long offset, void* info, void* shared);
typedef cufftReal (*cufftJITCallbackLoadR)(void* data, unsigned long long offset, void* info, void* shared);
typedef cufftDoubleReal (*cufftJITCallbackLoadD)(void* data, unsigned long long offset, void* info, void* shared);
typedef void (*cufftJITCallbackStoreC)(void* data, unsigned long long offset, cufftComplex element, void* info, void* shared);
typedef void (*cufftJITCallbackStoreZ)(void* data, unsigned long long offset, cufftDoubleComplex element, void* info, void* shared);
typedef void (*cufftJITCallbackStoreR)(void* data, unsigned long long offset, cufftReal element, void* info, void* shared);
typedef void (*cufftJITCallbackStoreD)(void* data, unsigned long long offset, cufftDoubleReal element, void* info, void* shared);

// Memory of several devices (cudalibxt.h).
#define MAX_CUDA_DESCRIPTOR_GPUS 64
typedef enum libFormat_t { LIB_FORMAT_CUFFT = 0x0, LIB_FORMAT_UNDEFINED = 0x1 } libFormat;
typedef struct cudaXtDesc_t {
  int version;
  int nGPUs;
  int GPUs[MAX_CUDA_DESCRIPTOR_GPUS];
  void* data[MAX_CUDA_DESCRIPTOR_GPUS];
  size_t size[MAX_CUDA_DESCRIPTOR_GPUS];  // bytes
  void* cudaXtState;
} cudaXtDesc;
typedef struct cudaLibXtDesc_t {
  int version;
  cudaXtDesc* descriptor;
  libFormat library;
  int subFormat;
  void* libDescriptor;
} cudaLibXtDesc;

RIDGE_BEGIN_C
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long int* n, long long int* inembed, long long int istride,
                                long long int idist, cudaDataType input_type, long long int* onembed, long long int ostride,
                                long long int odist, cudaDataType output_type, long long int batch, size_t* work_size,
                                cudaDataType execution_type);
cufftResult cufftXtGetSizeMany(cufftHandle plan, int rank, long long int* n, long long int* inembed, long long int istride,
                               long long int idist, cudaDataType input_type, long long int* onembed, long long int ostride,
                               long long int odist, cudaDataType output_type, long long int batch, size_t* work_size,
                               cudaDataType execution_type);
// Of real and complex numbers, `direction` is ignored.
cufftResult cufftXtExec(cufftHandle plan, void* in, void* out, int direction);
cufftResult cufftXtSetWorkAreaPolicy(cufftHandle plan, cufftXtWorkAreaPolicy policy, size_t* work_size);

// Several devices: named before the plan is made, which then runs with cufftXtExecDescriptor, in place. Data in natural order is
// divided along the first dimension (of batches: into whole transforms), and shuffled data along the second; a transform takes one and
// leaves the other. One dimension is not permuted. Copies to the host give natural order.
cufftResult cufftXtSetGPUs(cufftHandle plan, int count, int* devices);
cufftResult cufftXtMalloc(cufftHandle plan, cudaLibXtDesc** descriptor, cufftXtSubFormat format);
cufftResult cufftXtMemcpy(cufftHandle plan, void* to, void* from, cufftXtCopyType type);
cufftResult cufftXtFree(cudaLibXtDesc* descriptor);
cufftResult cufftXtSetWorkArea(cufftHandle plan, void** areas);
cufftResult cufftXtExecDescriptor(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction);
cufftResult cufftXtExecDescriptorC2C(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction);
cufftResult cufftXtExecDescriptorR2C(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out);
cufftResult cufftXtExecDescriptorC2R(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out);
cufftResult cufftXtExecDescriptorZ2Z(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out, int direction);
cufftResult cufftXtExecDescriptorD2Z(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out);
cufftResult cufftXtExecDescriptorZ2D(cufftHandle plan, cudaLibXtDesc* in, cudaLibXtDesc* out);

// Callbacks: device functions by their pointers, or by their names in what nvrtcGetLTOIR gave (before the plan is made).
cufftResult cufftXtSetCallback(cufftHandle plan, void** functions, cufftXtCallbackType type, void** infos);
cufftResult cufftXtClearCallback(cufftHandle plan, cufftXtCallbackType type);
cufftResult cufftXtSetCallbackSharedSize(cufftHandle plan, cufftXtCallbackType type, size_t bytes);
cufftResult cufftXtSetJITCallback(cufftHandle plan, const char* name, const void* code, size_t code_bytes,
                                  cufftXtCallbackType type, void** infos);
RIDGE_END_C
