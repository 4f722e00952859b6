// cuSOLVER's functions with types as arguments (ridge_simt/cusolver_x.h).
#include <limits>

#include "cusolver/selected.hpp"
#include "cusolver/solve.hpp"

struct cusolverDnParams {};
struct cusolverDnIRSParams {
  cusolverPrecType_t precision = CUSOLVER_R_64F;
};
struct cusolverDnIRSInfos {};

using namespace ridge::simt::solver;
using Handle = cusolverDnHandle_t;
using Params = cusolverDnParams_t;
using Fill = cublasFillMode_t;
using Job = cusolverEigMode_t;
using Type = cudaDataType;

namespace {

template <class F>
cusolverStatus_t with_type(Type type, F f) {
  return ridge::simt::with_type(type, CUSOLVER_STATUS_NOT_SUPPORTED, f);
}
// The types of arrays that the address `of` stands for.
#define RIDGE_TYPES(of)                          \
  using T = std::remove_pointer_t<decltype(of)>; \
  using R = RealOf<T>;                           \
  static_assert(sizeof(R) <= sizeof(T))

bool fits(std::int64_t n) { return n >= 0 && n <= std::numeric_limits<int>::max(); }
int as_int(std::int64_t n) { return static_cast<int>(n); }

cusolverStatus_t sizes(Handle h, std::int64_t n, size_t* on_device, size_t* on_host) {
  if (h == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (on_device == nullptr || on_host == nullptr || !fits(n)) return CUSOLVER_STATUS_INVALID_VALUE;
  *on_device = 16;  // programs allocate it
  *on_host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

// LAPACK's vectors of eigenvalues, n x n, in the program's array: complex where its type is.
template <class R, class T>
void vectors_of(const std::vector<std::complex<R>>& values, const std::vector<T>& from, int n, Type type, void* to,
                int64_t ld) {
  const auto at = [&](int i, int j) {
    return from[static_cast<std::size_t>(j) * static_cast<std::size_t>(n) + static_cast<std::size_t>(i)];
  };
  if (std::is_same_v<T, R> && (type == CUDA_R_32F || type == CUDA_R_64F)) {
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) static_cast<R*>(to)[j * ld + i] = std::real(at(i, j));
    return wrote(static_cast<R*>(to), as_int(ld), n);
  }
  auto* out = static_cast<std::complex<R>*>(to);
  for (int j = 0; j < n; ++j) {
    const bool pair = std::is_same_v<T, R> && values[static_cast<std::size_t>(j)].imag() != 0 && j + 1 < n;
    for (int i = 0; i < n; ++i) {
      out[j * ld + i] = at(i, j);
      if (pair) {
        out[j * ld + i] = {std::real(at(i, j)), std::real(at(i, j + 1))};
        out[(j + 1) * ld + i] = std::conj(out[j * ld + i]);
      }
    }
    if (pair) ++j;
  }
  wrote(out, as_int(ld), n);
}

}  // namespace

#define RIDGE_NEEDS(good) \
  if (!(good)) return CUSOLVER_STATUS_INVALID_VALUE

extern "C" {

#define RIDGE_OBJECT(T, create, destroy)                         \
  cusolverStatus_t create(T##_t* object) {                       \
    if (object == nullptr) return CUSOLVER_STATUS_INVALID_VALUE; \
    *object = new T;                                             \
    return CUSOLVER_STATUS_SUCCESS;                              \
  }                                                              \
  cusolverStatus_t destroy(T##_t object) {                       \
    delete object;                                               \
    return CUSOLVER_STATUS_SUCCESS;                              \
  }
RIDGE_OBJECT(cusolverDnParams, cusolverDnCreateParams, cusolverDnDestroyParams)
RIDGE_OBJECT(cusolverDnIRSParams, cusolverDnIRSParamsCreate, cusolverDnIRSParamsDestroy)
RIDGE_OBJECT(cusolverDnIRSInfos, cusolverDnIRSInfosCreate, cusolverDnIRSInfosDestroy)
cusolverStatus_t cusolverDnSetAdvOptions(Params, cusolverDnFunction_t, cusolverAlgMode_t) {
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnXpotrf_bufferSize(Handle h, Params, Fill, int64_t n, Type, const void*, int64_t, Type,
                                             size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXpotrf(Handle h, Params, Fill f, int64_t n, Type type, void* a, int64_t lda, Type, void*,
                                  size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(n) && fits(lda));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return potrf(h, f, as_int(n), static_cast<T*>(a), as_int(lda), info);
  });
}
cusolverStatus_t cusolverDnXpotrs(Handle h, Params, Fill f, int64_t n, int64_t r, Type type, const void* a, int64_t lda,
                                  Type, void* b, int64_t ldb, int* info) {
  RIDGE_NEEDS(fits(n) && fits(r) && fits(lda) && fits(ldb));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return potrs(h, f, as_int(n), as_int(r), static_cast<const T*>(a), as_int(lda), static_cast<T*>(b), as_int(ldb),
                 info);
  });
}

cusolverStatus_t cusolverDnXgetrf_bufferSize(Handle h, Params, int64_t, int64_t n, Type, const void*, int64_t, Type,
                                             size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXgetrf(Handle h, Params, int64_t m, int64_t n, Type type, void* a, int64_t lda,
                                  int64_t* pivots, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(m) && fits(n) && fits(lda));
  std::vector<int> own(static_cast<std::size_t>(std::max<int64_t>(1, std::min(m, n))));
  const cusolverStatus_t status = with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return getrf(h, as_int(m), as_int(n), static_cast<T*>(a), as_int(lda), pivots == nullptr ? nullptr : own.data(),
                 info);
  });
  if (status == CUSOLVER_STATUS_SUCCESS && pivots != nullptr) {
    std::copy_n(own.begin(), std::min(m, n), pivots);
    wrote(pivots, std::min(m, n));
  }
  return status;
}
cusolverStatus_t cusolverDnXgetrs(Handle h, Params, cublasOperation_t op, int64_t n, int64_t r, Type type,
                                  const void* a, int64_t lda, const int64_t* pivots, Type, void* b, int64_t ldb,
                                  int* info) {
  RIDGE_NEEDS(fits(n) && fits(r) && fits(lda) && fits(ldb));
  RIDGE_SOLVE(h, true);  // the pivots are there
  std::vector<int> own;
  for (int64_t i = 0; pivots != nullptr && i < n; ++i) own.push_back(as_int(pivots[i]));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return getrs(h, op, as_int(n), as_int(r), static_cast<const T*>(a), as_int(lda),
                 pivots == nullptr ? nullptr : own.data(), static_cast<T*>(b), as_int(ldb), info);
  });
}

cusolverStatus_t cusolverDnXgeqrf_bufferSize(Handle h, Params, int64_t, int64_t n, Type, const void*, int64_t, Type,
                                             const void*, Type, size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXgeqrf(Handle h, Params, int64_t m, int64_t n, Type type, void* a, int64_t lda, Type,
                                  void* tau, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(m) && fits(n) && fits(lda));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return geqrf(h, as_int(m), as_int(n), static_cast<T*>(a), as_int(lda), static_cast<T*>(tau), info);
  });
}

cusolverStatus_t cusolverDnXsyevd_bufferSize(Handle h, Params, Job, Fill, int64_t n, Type, const void*, int64_t, Type,
                                             const void*, Type, size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXsyevd(Handle h, Params, Job job, Fill f, int64_t n, Type type, void* a, int64_t lda, Type,
                                  void* w, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(n) && fits(lda));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return evd(h, job, f, as_int(n), static_cast<T*>(a), as_int(lda), static_cast<R*>(w), info);
  });
}
cusolverStatus_t cusolverDnXsyevBatched_bufferSize(Handle h, Params, Job, Fill, int64_t n, Type, const void*, int64_t,
                                                   Type, const void*, Type, size_t* device, size_t* host, int64_t) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXsyevBatched(Handle h, Params, Job job, Fill f, int64_t n, Type type, void* a, int64_t lda,
                                        Type, void* w, Type, void*, size_t, void*, size_t, int* info, int64_t batch) {
  RIDGE_NEEDS(fits(n) && fits(lda));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return each(batch, [&](int64_t i) {
      return evd(h, job, f, as_int(n), static_cast<T*>(a) + i * lda * n, as_int(lda), static_cast<R*>(w) + i * n,
                 info + i);
    });
  });
}
cusolverStatus_t cusolverDnXsyevdx_bufferSize(Handle h, Params, Job, cusolverEigRange_t, Fill, int64_t n, Type,
                                              const void*, int64_t, void*, void*, int64_t, int64_t, int64_t*, Type,
                                              const void*, Type, size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXsyevdx(Handle h, Params, Job job, cusolverEigRange_t range, Fill f, int64_t n, Type type,
                                   void* a, int64_t lda, void* vl, void* vu, int64_t il, int64_t iu, int64_t* found,
                                   Type, void* w, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(n) && fits(lda) && found != nullptr);
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    const cusolverStatus_t status =
        evd(h, job, f, as_int(n), static_cast<T*>(a), as_int(lda), static_cast<R*>(w), info);
    if (status != CUSOLVER_STATUS_SUCCESS) return status;
    const auto bound = [](const void* p) { return p == nullptr ? R(0) : *static_cast<const R*>(p); };
    *found = select(range, job, as_int(n), static_cast<T*>(a), as_int(lda), static_cast<R*>(w), bound(vl), bound(vu),
                    il, iu);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverDnXgesvd_bufferSize(Handle h, Params, signed char, signed char, int64_t, int64_t n, Type,
                                             const void*, int64_t, Type, const void*, Type, const void*, int64_t, Type,
                                             const void*, int64_t, Type, size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXgesvd(Handle h, Params, signed char ju, signed char jv, int64_t m, int64_t n, Type type,
                                  void* a, int64_t lda, Type, void* s, Type, void* u, int64_t ldu, Type, void* vt,
                                  int64_t ldvt, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(m) && fits(n) && fits(lda) && fits(ldu) && fits(ldvt));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return svd(h, ju, jv, as_int(m), as_int(n), static_cast<T*>(a), as_int(lda), static_cast<R*>(s), static_cast<T*>(u),
               as_int(ldu), static_cast<T*>(vt), as_int(ldvt), info);
  });
}
cusolverStatus_t cusolverDnXgesvdp_bufferSize(Handle h, Params, Job, int, int64_t, int64_t n, Type, const void*,
                                              int64_t, Type, const void*, Type, const void*, int64_t, Type, const void*,
                                              int64_t, Type, size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXgesvdp(Handle h, Params, Job job, int econ, int64_t m, int64_t n, Type type, void* a,
                                   int64_t lda, Type, void* s, Type, void* u, int64_t ldu, Type, void* v, int64_t ldv,
                                   Type, void*, size_t, void*, size_t, int* info, double* error) {
  RIDGE_NEEDS(fits(m) && fits(n) && fits(lda) && fits(ldu) && fits(ldv));
  if (error != nullptr) *error = 0;
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return svd_with_v(h, job, econ != 0, as_int(m), as_int(n), static_cast<T*>(a), as_int(lda), static_cast<R*>(s),
                      static_cast<T*>(u), as_int(ldu), static_cast<T*>(v), as_int(ldv), info);
  });
}
cusolverStatus_t cusolverDnXgesvdr_bufferSize(Handle h, Params, signed char, signed char, int64_t, int64_t n, int64_t,
                                              int64_t, int64_t, Type, const void*, int64_t, Type, const void*, Type,
                                              const void*, int64_t, Type, const void*, int64_t, Type, size_t* device,
                                              size_t* host) {
  return sizes(h, n, device, host);
}
// The k largest: exact ones, where cuSOLVER's are of a random subspace.
cusolverStatus_t cusolverDnXgesvdr(Handle h, Params, signed char ju, signed char jv, int64_t m, int64_t n, int64_t k,
                                   int64_t, int64_t, Type type, void* a, int64_t lda, Type, void* s, Type, void* u,
                                   int64_t ldu, Type, void* v, int64_t ldv, Type, void*, size_t, void*, size_t,
                                   int* info) {
  RIDGE_NEEDS(fits(m) && fits(n) && fits(k) && fits(lda) && fits(ldu) && fits(ldv));
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    const bool vectors = ju != 'N' || jv != 'N';
    std::vector<T> other(static_cast<std::size_t>(std::max<int64_t>(1, std::max(m, n) * k)));
    return svd_of_rank(h, vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR, as_int(k), as_int(m),
                       as_int(n), static_cast<const T*>(a), as_int(lda), static_cast<R*>(s),
                       ju != 'N' ? static_cast<T*>(u) : other.data(), ju != 'N' ? as_int(ldu) : as_int(m),
                       jv != 'N' ? static_cast<T*>(v) : other.data(), jv != 'N' ? as_int(ldv) : as_int(n), info,
                       static_cast<double*>(nullptr));
  });
}

cusolverStatus_t cusolverDnXgeev_bufferSize(Handle h, Params, Job, Job, int64_t n, Type, const void*, int64_t, Type,
                                            const void*, Type, const void*, int64_t, Type, const void*, int64_t, Type,
                                            size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
// The values of a real matrix are complex numbers, or where w is real, n real parts and n imaginary ones. Its vectors
// are complex, or in a real array LAPACK's: of a conjugate pair, the real part and then the imaginary one.
cusolverStatus_t cusolverDnXgeev(Handle h, Params, Job jl, Job jr, int64_t n, Type type, void* a, int64_t lda,
                                 Type w_type, void* w, Type vl_type, void* vl, int64_t ldvl, Type vr_type, void* vr,
                                 int64_t ldvr, Type, void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(n) && fits(lda) && fits(ldvl) && fits(ldvr) && lda >= n);
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    RIDGE_SOLVE(h, info != nullptr);
    const int order = as_int(n), ld = std::max(1, order);
    const auto wanted = [](Job job) { return job == CUSOLVER_EIG_MODE_VECTOR; };
    const auto room = [&](Job job) {
      return wanted(job) ? static_cast<std::size_t>(ld) * static_cast<std::size_t>(ld) : 1;
    };
    std::vector<T> left(room(jl)), right(room(jr));
    std::vector<std::complex<R>> values(static_cast<std::size_t>(ld));
    std::vector<R> parts(static_cast<std::size_t>(2 * ld));
    with_work<T>([&](T* work, int l) {
      ridge::simt::lapack::geev(wanted(jl) ? "V" : "N", wanted(jr) ? "V" : "N", order, static_cast<T*>(a), as_int(lda),
                                values.data(), left.data(), ld, right.data(), ld, work, l, parts.data(), info);
    });
    wrote(info, 1);
    const bool real_values = w_type == CUDA_R_32F || w_type == CUDA_R_64F;
    for (int k = 0; k < order; ++k) {
      const std::complex<R> value = values[static_cast<std::size_t>(k)];
      if (real_values)
        static_cast<R*>(w)[k] = value.real(), static_cast<R*>(w)[order + k] = value.imag();
      else
        static_cast<std::complex<R>*>(w)[k] = value;
    }
    wrote(static_cast<R*>(w), 2 * n);
    if (wanted(jl)) vectors_of(values, left, order, vl_type, vl, ldvl);
    if (wanted(jr)) vectors_of(values, right, order, vr_type, vr, ldvr);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverDnXtrtri_bufferSize(Handle h, Fill, cublasDiagType_t, int64_t n, Type, void*, int64_t,
                                             size_t* device, size_t* host) {
  return sizes(h, n, device, host);
}
cusolverStatus_t cusolverDnXtrtri(Handle h, Fill f, cublasDiagType_t diag, int64_t n, Type type, void* a, int64_t lda,
                                  void*, size_t, void*, size_t, int* info) {
  RIDGE_NEEDS(fits(n) && fits(lda) && lda >= n);
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    RIDGE_SOLVE(h, info != nullptr);
    ridge::simt::lapack::trtri(uplo(f), diag == CUBLAS_DIAG_UNIT ? "U" : "N", as_int(n), static_cast<T*>(a),
                               as_int(lda), info);
    wrote(info, 1);
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params, cusolverPrecType_t main,
                                                        cusolverPrecType_t) {
  return cusolverDnIRSParamsSetSolverMainPrecision(params, main);
}
cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params, cusolverPrecType_t main) {
  RIDGE_NEEDS(params != nullptr);
  params->precision = main;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t, cusolverPrecType_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t, cusolverIRSRefinement_t) {
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnIRSParamsSetTol(cusolverDnIRSParams_t, double) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t, int) { return CUSOLVER_STATUS_SUCCESS; }
cusolverStatus_t cusolverDnIRSXgesv_bufferSize(Handle h, cusolverDnIRSParams_t, int n, int, size_t* bytes) {
  size_t host = 0;
  return sizes(h, n, bytes, &host);
}
cusolverStatus_t cusolverDnIRSXgesv(Handle h, cusolverDnIRSParams_t params, cusolverDnIRSInfos_t, int n, int r, void* a,
                                    int lda, void* b, int ldb, void* x, int ldx, void*, size_t, int* iterations,
                                    int* info) {
  RIDGE_NEEDS(params != nullptr);
  const Type type = params->precision == CUSOLVER_R_32F   ? CUDA_R_32F
                    : params->precision == CUSOLVER_C_32F ? CUDA_C_32F
                    : params->precision == CUSOLVER_C_64F ? CUDA_C_64F
                                                          : CUDA_R_64F;
  return with_type(type, [&](auto* of) {
    RIDGE_TYPES(of);
    return gesv(h, n, r, static_cast<T*>(a), lda, nullptr, static_cast<const T*>(b), ldb, static_cast<T*>(x), ldx,
                iterations, info);
  });
}
}
