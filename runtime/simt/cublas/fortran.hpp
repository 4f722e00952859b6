// BLAS's Fortran functions, and four of LAPACK's, by their types' letters. Scalars, vectors and matrices are addresses
// of the type's numbers; behind the arguments come the lengths of the character arguments.
#pragma once
#include <cstddef>

using Text = const char*;
using Int = const int*;
using In = const void*;
using Len = std::size_t;

#define RIDGE_FORTRAN(x)                                                                        \
  void x##axpy_(Int, In, In, Int, void*, Int);                                                  \
  void x##scal_(Int, In, void*, Int);                                                           \
  void x##copy_(Int, In, Int, void*, Int);                                                      \
  void x##swap_(Int, void*, Int, void*, Int);                                                   \
  void x##rotg_(void*, void*, void*, void*);                                                    \
  void x##rot_(Int, void*, Int, void*, Int, In, In);                                            \
  int i##x##amax_(Int, In, Int);                                                                \
  void x##gemv_(Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len);                     \
  void x##gbmv_(Text, Int, Int, Int, Int, In, In, Int, In, Int, In, void*, Int, Len);           \
  void x##trmv_(Text, Text, Text, Int, In, Int, void*, Int, Len, Len, Len);                     \
  void x##trsv_(Text, Text, Text, Int, In, Int, void*, Int, Len, Len, Len);                     \
  void x##tbmv_(Text, Text, Text, Int, Int, In, Int, void*, Int, Len, Len, Len);                \
  void x##tbsv_(Text, Text, Text, Int, Int, In, Int, void*, Int, Len, Len, Len);                \
  void x##tpmv_(Text, Text, Text, Int, In, void*, Int, Len, Len, Len);                          \
  void x##tpsv_(Text, Text, Text, Int, In, void*, Int, Len, Len, Len);                          \
  void x##symv_(Text, Int, In, In, Int, In, Int, In, void*, Int, Len);                          \
  void x##syr_(Text, Int, In, In, Int, void*, Int, Len);                                        \
  void x##gemm_(Text, Text, Int, Int, Int, In, In, Int, In, Int, In, void*, Int, Len, Len);     \
  void x##symm_(Text, Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len, Len);          \
  void x##syrk_(Text, Text, Int, Int, In, In, Int, In, void*, Int, Len, Len);                   \
  void x##syr2k_(Text, Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len, Len);         \
  void x##trmm_(Text, Text, Text, Text, Int, Int, In, In, Int, void*, Int, Len, Len, Len, Len); \
  void x##trsm_(Text, Text, Text, Text, Int, Int, In, In, Int, void*, Int, Len, Len, Len, Len);

// b, p, e: sb, sp, sy or hb, hp, he.
#define RIDGE_FORTRAN_SELF_ADJOINT(x, b, p, e)                               \
  void x##b##mv_(Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len); \
  void x##p##mv_(Text, Int, In, In, In, Int, In, void*, Int, Len);           \
  void x##p##r_(Text, Int, In, In, Int, void*, Len);                         \
  void x##p##r2_(Text, Int, In, In, Int, In, Int, void*, Len);               \
  void x##e##r2_(Text, Int, In, In, Int, In, Int, void*, Int, Len);

#define RIDGE_FORTRAN_COMPLEX(x, r)                                                    \
  void x##r##scal_(Int, In, void*, Int);                                               \
  void x##r##rot_(Int, void*, Int, void*, Int, In, In);                                \
  void x##geru_(Int, Int, In, In, Int, In, Int, void*, Int);                           \
  void x##gerc_(Int, Int, In, In, Int, In, Int, void*, Int);                           \
  void x##hemv_(Text, Int, In, In, Int, In, Int, In, void*, Int, Len);                 \
  void x##her_(Text, Int, In, In, Int, void*, Int, Len);                               \
  void x##hemm_(Text, Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len, Len); \
  void x##herk_(Text, Text, Int, Int, In, In, Int, In, void*, Int, Len, Len);          \
  void x##her2k_(Text, Text, Int, Int, In, In, Int, In, Int, In, void*, Int, Len, Len);

extern "C" {
RIDGE_FORTRAN(s)
RIDGE_FORTRAN(d)
RIDGE_FORTRAN(c)  // crot_, csymv_, csyr_ and their like are LAPACK's
RIDGE_FORTRAN(z)
RIDGE_FORTRAN_SELF_ADJOINT(s, sb, sp, sy)
RIDGE_FORTRAN_SELF_ADJOINT(d, sb, sp, sy)
RIDGE_FORTRAN_SELF_ADJOINT(c, hb, hp, he)
RIDGE_FORTRAN_SELF_ADJOINT(z, hb, hp, he)
RIDGE_FORTRAN_COMPLEX(c, s)
RIDGE_FORTRAN_COMPLEX(z, d)
void srotm_(Int, void*, Int, void*, Int, In);
void drotm_(Int, void*, Int, void*, Int, In);
void srotmg_(void*, void*, void*, In, void*);
void drotmg_(void*, void*, void*, In, void*);
float scnrm2_(Int, In, Int);
double dznrm2_(Int, In, Int);
float scasum_(Int, In, Int);
double dzasum_(Int, In, Int);
}
#undef RIDGE_FORTRAN
#undef RIDGE_FORTRAN_SELF_ADJOINT
#undef RIDGE_FORTRAN_COMPLEX
