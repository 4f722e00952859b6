// Functions that programs in C call, too; default arguments are C++'s alone.
#pragma once
#ifdef __cplusplus
#define RIDGE_BEGIN_C extern "C" {
#define RIDGE_END_C }
#define RIDGE_DEFAULT(value) = value
#define RIDGE_C_INLINE inline
#else
#define RIDGE_BEGIN_C
#define RIDGE_END_C
#define RIDGE_DEFAULT(value)
#define RIDGE_C_INLINE static inline
#endif
