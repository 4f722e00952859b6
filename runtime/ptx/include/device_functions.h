// Device functions that Clang's headers name otherwise, or leave to the Toolkit: atomics by type, loads and stores with a
// cache's hint.
#pragma once
#define RIDGE_DEVICE static __device__ inline
RIDGE_DEVICE int atomicAdd(int* p, int v) { return __iAtomicAdd(p, v); }
RIDGE_DEVICE unsigned atomicAdd(unsigned* p, unsigned v) { return __uAtomicAdd(p, v); }
RIDGE_DEVICE unsigned long long atomicAdd(unsigned long long* p, unsigned long long v) { return __ullAtomicAdd(p, v); }
RIDGE_DEVICE float atomicAdd(float* p, float v) { return __fAtomicAdd(p, v); }
RIDGE_DEVICE double atomicAdd(double* p, double v) { return __dAtomicAdd(p, v); }
RIDGE_DEVICE int atomicSub(int* p, int v) { return __iAtomicAdd(p, -v); }
RIDGE_DEVICE unsigned atomicSub(unsigned* p, unsigned v) { return __uAtomicAdd(p, 0u - v); }
RIDGE_DEVICE unsigned atomicInc(unsigned* p, unsigned v) { return __uAtomicInc(p, v); }
RIDGE_DEVICE unsigned atomicDec(unsigned* p, unsigned v) { return __uAtomicDec(p, v); }
RIDGE_DEVICE int atomicExch(int* p, int v) { return __iAtomicExch(p, v); }
RIDGE_DEVICE unsigned atomicExch(unsigned* p, unsigned v) { return __uAtomicExch(p, v); }
RIDGE_DEVICE float atomicExch(float* p, float v) { return __fAtomicExch(p, v); }
RIDGE_DEVICE unsigned long long atomicExch(unsigned long long* p, unsigned long long v) { return __ullAtomicExch(p, v); }
RIDGE_DEVICE int atomicMin(int* p, int v) { return __iAtomicMin(p, v); }
RIDGE_DEVICE unsigned atomicMin(unsigned* p, unsigned v) { return __uAtomicMin(p, v); }
RIDGE_DEVICE int atomicMax(int* p, int v) { return __iAtomicMax(p, v); }
RIDGE_DEVICE unsigned atomicMax(unsigned* p, unsigned v) { return __uAtomicMax(p, v); }
RIDGE_DEVICE int atomicAnd(int* p, int v) { return __iAtomicAnd(p, v); }
RIDGE_DEVICE unsigned atomicAnd(unsigned* p, unsigned v) { return __uAtomicAnd(p, v); }
RIDGE_DEVICE int atomicOr(int* p, int v) { return __iAtomicOr(p, v); }
RIDGE_DEVICE unsigned atomicOr(unsigned* p, unsigned v) { return __uAtomicOr(p, v); }
RIDGE_DEVICE int atomicXor(int* p, int v) { return __iAtomicXor(p, v); }
RIDGE_DEVICE unsigned atomicXor(unsigned* p, unsigned v) { return __uAtomicXor(p, v); }
RIDGE_DEVICE int atomicCAS(int* p, int old, int v) { return __iAtomicCAS(p, old, v); }
RIDGE_DEVICE unsigned atomicCAS(unsigned* p, unsigned old, unsigned v) { return __uAtomicCAS(p, old, v); }
RIDGE_DEVICE unsigned long long atomicCAS(unsigned long long* p, unsigned long long old, unsigned long long v) {
  return __ullAtomicCAS(p, old, v);
}

RIDGE_DEVICE std::size_t __cvta_generic_to_shared(const void* p) { return __nv_cvta_generic_to_shared_impl(p); }
RIDGE_DEVICE std::size_t __cvta_generic_to_global(const void* p) { return __nv_cvta_generic_to_global_impl(p); }

#define RIDGE_HINT_32(hint, T, constraint, type)                                                          \
  RIDGE_DEVICE T __ld##hint(const T* p) {                                                                 \
    T v;                                                                                                  \
    asm volatile("ld.global." #hint "." type " %0, [%1];" : "=" constraint(v) : "l"(p));                  \
    return v;                                                                                             \
  }
#define RIDGE_STORE_32(hint, T, constraint, type)                                                         \
  RIDGE_DEVICE void __st##hint(T* p, T v) {                                                               \
    asm volatile("st.global." #hint "." type " [%0], %1;" : : "l"(p), constraint(v) : "memory");          \
  }
#define RIDGE_HINT_4(hint, T, constraint, type)                                                           \
  RIDGE_DEVICE T __ld##hint(const T* p) {                                                                 \
    T v;                                                                                                  \
    asm volatile("ld.global." #hint ".v4." type " {%0, %1, %2, %3}, [%4];"                                \
                 : "=" constraint(v.x), "=" constraint(v.y), "=" constraint(v.z), "=" constraint(v.w)      \
                 : "l"(p));                                                                               \
    return v;                                                                                             \
  }
#define RIDGE_STORE_4(hint, T, constraint, type)                                                          \
  RIDGE_DEVICE void __st##hint(T* p, T v) {                                                               \
    asm volatile("st.global." #hint ".v4." type " [%0], {%1, %2, %3, %4};"                                \
                 : : "l"(p), constraint(v.x), constraint(v.y), constraint(v.z), constraint(v.w) : "memory"); \
  }
#define RIDGE_LOADS(hint)                  \
  RIDGE_HINT_32(hint, float, "f", "f32")   \
  RIDGE_HINT_32(hint, int, "r", "s32")     \
  RIDGE_HINT_32(hint, unsigned, "r", "u32") \
  RIDGE_HINT_4(hint, float4, "f", "f32")   \
  RIDGE_HINT_4(hint, int4, "r", "s32")     \
  RIDGE_HINT_4(hint, uint4, "r", "u32")
#define RIDGE_STORES(hint)                  \
  RIDGE_STORE_32(hint, float, "f", "f32")   \
  RIDGE_STORE_32(hint, int, "r", "s32")     \
  RIDGE_STORE_32(hint, unsigned, "r", "u32") \
  RIDGE_STORE_4(hint, float4, "f", "f32")   \
  RIDGE_STORE_4(hint, int4, "r", "s32")     \
  RIDGE_STORE_4(hint, uint4, "r", "u32")
RIDGE_LOADS(ca)
RIDGE_LOADS(cg)
RIDGE_LOADS(cs)
RIDGE_LOADS(cv)
RIDGE_STORES(wb)
RIDGE_STORES(cg)
RIDGE_STORES(cs)
RIDGE_STORES(wt)
#undef RIDGE_HINT_32
#undef RIDGE_STORE_32
#undef RIDGE_HINT_4
#undef RIDGE_STORE_4
#undef RIDGE_LOADS
#undef RIDGE_STORES
#undef RIDGE_DEVICE
