// LAPACK's Fortran functions, by the type of their numbers: lapack::potrf(...) is spotrf_, dpotrf_, cpotrf_ or zpotrf_.
#pragma once
#include <complex>
#include <cstddef>

namespace ridge::simt::lapack {

using ComplexFloat = std::complex<float>;
using ComplexDouble = std::complex<double>;

// Behind the arguments come the lengths of the character arguments.
#define RIDGE_LAPACK(x, T, R, q, e)                                                                                    \
  extern "C" {                                                                                                         \
  void x##potrf_(const char*, const int*, T*, const int*, int*, std::size_t);                                          \
  void x##potrs_(const char*, const int*, const int*, const T*, const int*, T*, const int*, int*, std::size_t);        \
  void x##potri_(const char*, const int*, T*, const int*, int*, std::size_t);                                          \
  void x##getrf_(const int*, const int*, T*, const int*, int*, int*);                                                  \
  void x##getrs_(const char*, const int*, const int*, const T*, const int*, const int*, T*, const int*, int*,          \
                 std::size_t);                                                                                         \
  void x##geqrf_(const int*, const int*, T*, const int*, T*, T*, const int*, int*);                                    \
  void x##q##mqr_(const char*, const char*, const int*, const int*, const int*, const T*, const int*, const T*, T*,    \
                  const int*, T*, const int*, int*, std::size_t, std::size_t);                                         \
  void x##q##gqr_(const int*, const int*, const int*, T*, const int*, const T*, T*, const int*, int*);                 \
  }                                                                                                                    \
  inline void potrf(const char* u, int n, T* a, int lda, int* i) { x##potrf_(u, &n, a, &lda, i, 1); }                  \
  inline void potri(const char* u, int n, T* a, int lda, int* i) { x##potri_(u, &n, a, &lda, i, 1); }                  \
  inline void potrs(const char* u, int n, int r, const T* a, int lda, T* b, int ldb, int* i) {                         \
    x##potrs_(u, &n, &r, a, &lda, b, &ldb, i, 1);                                                                      \
  }                                                                                                                    \
  inline void getrf(int m, int n, T* a, int lda, int* p, int* i) { x##getrf_(&m, &n, a, &lda, p, i); }                 \
  inline void getrs(const char* t, int n, int r, const T* a, int lda, const int* p, T* b, int ldb, int* i) {           \
    x##getrs_(t, &n, &r, a, &lda, p, b, &ldb, i, 1);                                                                   \
  }                                                                                                                    \
  inline void geqrf(int m, int n, T* a, int lda, T* tau, T* w, int l, int* i) {                                        \
    x##geqrf_(&m, &n, a, &lda, tau, w, &l, i);                                                                         \
  }                                                                                                                    \
  inline void mqr(const char* s, const char* t, int m, int n, int k, const T* a, int lda, const T* tau, T* c, int ldc, \
                  T* w, int l, int* i) {                                                                               \
    x##q##mqr_(s, t, &m, &n, &k, a, &lda, tau, c, &ldc, w, &l, i, 1, 1);                                               \
  }                                                                                                                    \
  inline void gqr(int m, int n, int k, T* a, int lda, const T* tau, T* w, int l, int* i) {                             \
    x##q##gqr_(&m, &n, &k, a, &lda, tau, w, &l, i);                                                                    \
  }

RIDGE_LAPACK(s, float, float, or, sy)
RIDGE_LAPACK(d, double, double, or, sy)
RIDGE_LAPACK(c, ComplexFloat, float, un, he)
RIDGE_LAPACK(z, ComplexDouble, double, un, he)
#undef RIDGE_LAPACK

// Eigenvalues and singular values: those of complex numbers have a real workspace besides (`r`, `lr`).
#define RIDGE_LAPACK_REAL(x, T)                                                                                        \
  extern "C" {                                                                                                         \
  void x##syevd_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, int*, const int*, int*,     \
                 std::size_t, std::size_t);                                                                            \
  void x##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, T*, T*, const int*, T*, const int*, \
                 T*, const int*, int*, std::size_t, std::size_t);                                                      \
  }                                                                                                                    \
  inline void evd(const char* j, const char* u, int n, T* a, int lda, T* v, T* w, int l, T*, int, int* iw, int li,     \
                  int* i) {                                                                                            \
    x##syevd_(j, u, &n, a, &lda, v, w, &l, iw, &li, i, 1, 1);                                                          \
  }                                                                                                                    \
  inline void svd(const char* ju, const char* jv, int m, int n, T* a, int lda, T* s, T* u, int ldu, T* vt, int ldvt,   \
                  T* w, int l, T*, int* i) {                                                                           \
    x##gesvd_(ju, jv, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, &l, i, 1, 1);                                         \
  }                                                                                                                    \
  extern "C" void x##sygvd_(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, T*, T*,  \
                            const int*, int*, const int*, int*, std::size_t, std::size_t);                             \
  extern "C" void x##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, T*, const int*, T*,           \
                           const int*, T*, const int*, int*, std::size_t, std::size_t);                                \
  inline void gvd(int t, const char* j, const char* u, int n, T* a, int lda, T* b, int ldb, T* v, T* w, int l, T*,     \
                  int, int* iw, int li, int* i) {                                                                      \
    x##sygvd_(&t, j, u, &n, a, &lda, b, &ldb, v, w, &l, iw, &li, i, 1, 1);                                             \
  }
#define RIDGE_LAPACK_COMPLEX(x, T, R)                                                                                  \
  extern "C" {                                                                                                         \
  void x##heevd_(const char*, const char*, const int*, T*, const int*, R*, T*, const int*, R*, const int*, int*,       \
                 const int*, int*, std::size_t, std::size_t);                                                          \
  void x##gesvd_(const char*, const char*, const int*, const int*, T*, const int*, R*, T*, const int*, T*, const int*, \
                 T*, const int*, R*, int*, std::size_t, std::size_t);                                                  \
  }                                                                                                                    \
  inline void evd(const char* j, const char* u, int n, T* a, int lda, R* v, T* w, int l, R* r, int lr, int* iw,        \
                  int li, int* i) {                                                                                    \
    x##heevd_(j, u, &n, a, &lda, v, w, &l, r, &lr, iw, &li, i, 1, 1);                                                  \
  }                                                                                                                    \
  inline void svd(const char* ju, const char* jv, int m, int n, T* a, int lda, R* s, T* u, int ldu, T* vt, int ldvt,   \
                  T* w, int l, R* r, int* i) {                                                                         \
    x##gesvd_(ju, jv, &m, &n, a, &lda, s, u, &ldu, vt, &ldvt, w, &l, r, i, 1, 1);                                      \
  }                                                                                                                    \
  extern "C" void x##hegvd_(const int*, const char*, const char*, const int*, T*, const int*, T*, const int*, R*, T*,  \
                            const int*, R*, const int*, int*, const int*, int*, std::size_t, std::size_t);             \
  extern "C" void x##geev_(const char*, const char*, const int*, T*, const int*, T*, T*, const int*, T*, const int*,   \
                           T*, const int*, R*, int*, std::size_t, std::size_t);                                        \
  inline void gvd(int t, const char* j, const char* u, int n, T* a, int lda, T* b, int ldb, R* v, T* w, int l, R* r,   \
                  int lr, int* iw, int li, int* i) {                                                                   \
    x##hegvd_(&t, j, u, &n, a, &lda, b, &ldb, v, w, &l, r, &lr, iw, &li, i, 1, 1);                                     \
  }

RIDGE_LAPACK_REAL(s, float)
RIDGE_LAPACK_REAL(d, double)
RIDGE_LAPACK_COMPLEX(c, ComplexFloat, float)
RIDGE_LAPACK_COMPLEX(z, ComplexDouble, double)
#undef RIDGE_LAPACK_REAL
#undef RIDGE_LAPACK_COMPLEX

// Eigenvalues of any matrix, as complex numbers: LAPACK gives those of real matrices as two vectors.
#define RIDGE_LAPACK_GEEV_REAL(x, T)                                                                                 \
  inline void geev(const char* jl, const char* jr, int n, T* a, int lda, std::complex<T>* v, T* vl, int ldvl, T* vr, \
                   int ldvr, T* w, int l, T* parts, int* i) {                                                        \
    x##geev_(jl, jr, &n, a, &lda, parts, parts + n, vl, &ldvl, vr, &ldvr, w, &l, i, 1, 1);                           \
    for (int k = 0; l >= 0 && k < n; ++k) v[k] = {parts[k], parts[n + k]};                                           \
  }
#define RIDGE_LAPACK_GEEV_COMPLEX(x, T, R)                                                                             \
  inline void geev(const char* jl, const char* jr, int n, T* a, int lda, T* v, T* vl, int ldvl, T* vr, int ldvr, T* w, \
                   int l, R* parts, int* i) {                                                                          \
    x##geev_(jl, jr, &n, a, &lda, v, vl, &ldvl, vr, &ldvr, w, &l, parts, i, 1, 1);                                     \
  }
#define RIDGE_LAPACK_TRTRI(x, T)                                                                                   \
  extern "C" void x##trtri_(const char*, const char*, const int*, T*, const int*, int*, std::size_t, std::size_t); \
  inline void trtri(const char* u, const char* d, int n, T* a, int lda, int* i) {                                  \
    x##trtri_(u, d, &n, a, &lda, i, 1, 1);                                                                         \
  }
RIDGE_LAPACK_GEEV_REAL(s, float)
RIDGE_LAPACK_GEEV_REAL(d, double)
RIDGE_LAPACK_GEEV_COMPLEX(c, ComplexFloat, float)
RIDGE_LAPACK_GEEV_COMPLEX(z, ComplexDouble, double)
RIDGE_LAPACK_TRTRI(s, float)
RIDGE_LAPACK_TRTRI(d, double)
RIDGE_LAPACK_TRTRI(c, ComplexFloat)
RIDGE_LAPACK_TRTRI(z, ComplexDouble)
#undef RIDGE_LAPACK_GEEV_REAL
#undef RIDGE_LAPACK_GEEV_COMPLEX
#undef RIDGE_LAPACK_TRTRI

}  // namespace ridge::simt::lapack
