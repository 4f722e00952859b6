// The list behind symbols.cpp. A name ends in * where anything may follow.
#pragma once
#include <string_view>

namespace ridge {

inline constexpr std::string_view kAllowedSymbols =
    // The C++ library.
    "_ZNSt* _ZSt* _ZNKSt* _ZNVSt* _ZNKRSt* _ZNOSt* _ZTVSt* _ZTVNSt* _ZTISt* _ZTINSt* _ZTSSt* _ZTSNSt* _ZTTSt* _ZTTNSt* "
    "_ZTI? _ZTIP* "
    "_ZTVN10__cxxabiv1* _ZTIN10__cxxabiv1* _ZN9__gnu_cxx* _ZNK9__gnu_cxx* _ZTIN9__gnu_cxx* _ZN10__cxxabiv1* _ZGVNSt* "
    "_ZNSi* _ZNSo* _ZNSs* _ZNSa* _ZNSd* _ZNKSs* _ZNKSi* _ZNKSo* _ZTISi _ZTISo _ZTVSi _ZTVSo _ZTHSt* _ZTWSt* "
    "_Zna* _Znw* _Zda* _Zdl* __cxa_* __gxx_personality_v0 __gcc_personality_v0 _Unwind_* __dynamic_cast __once_proxy "
    "__dso_handle __tls_get_addr _GLOBAL_OFFSET_TABLE_ __stack_chk_fail __libc_single_threaded __errno_location "
    // Helpers of the compilers.
    "__divti3 __udivti3 __modti3 __umodti3 __mulsc3 __muldc3 __divsc3 __divdc3 __powisf2 __powidf2 __popcountdi2 "
    "__extendhfsf2 __truncsfhf2 __truncdfhf2 __extendbfsf2 __truncsfbf2 __truncdfbf2 __gnu_h2f_ieee __gnu_f2h_ieee "
    "__cpu_model __fpclassify* __isnan* __isinf* __finite* __signbit* "
    // C: memory, text, printing, numbers, time.
    "memcpy memmove memset memcmp memchr memrchr strlen strnlen strcmp strncmp strcpy strncpy strcat strncat strchr "
    "strrchr strstr strtok strtok_r strspn strcspn strpbrk strdup strndup strcoll strxfrm strerror strerror_r bcmp "
    "strcasecmp strncasecmp stpcpy wmemcpy wmemset wmemcmp wmemchr wmemmove wcslen "
    "printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts putchar putc fputs fputc fwrite fflush "
    "perror stdin stdout stderr scanf sscanf fscanf getchar getc fgetc fgets ungetc feof ferror setvbuf setbuf "
    "__printf_chk __fprintf_chk __sprintf_chk __snprintf_chk __vprintf_chk __vfprintf_chk __vsnprintf_chk "
    "__vsprintf_chk __chk_fail __stpcpy_chk __fgets_chk __wmemcpy_chk __wmemset_chk __wmemmove_chk "
    "__memcpy_chk __memmove_chk __memset_chk __strcpy_chk __strncpy_chk __strcat_chk __strncat_chk __isoc99_* "
    "__isoc23_* malloc calloc realloc free aligned_alloc posix_memalign abort exit _Exit quick_exit atexit "
    "__assert_fail __assert qsort bsearch rand srand rand_r random srandom drand48 srand48 lrand48 abs labs llabs div "
    "ldiv lldiv atoi atol atoll atof strtol strtoll strtoul strtoull strtod strtof strtold isalpha isdigit isalnum "
    "isspace isupper islower ispunct isxdigit isprint toupper tolower __ctype_b_loc __ctype_tolower_loc "
    "__ctype_toupper_loc setlocale localeconv time clock clock_gettime gettimeofday difftime mktime localtime gmtime "
    "localtime_r gmtime_r strftime nanosleep clock_nanosleep usleep sched_yield "
    // Threads, as the C++ library uses them.
    "pthread_create pthread_join pthread_detach pthread_self pthread_equal pthread_once pthread_mutex_* pthread_cond_* "
    "pthread_rwlock_* pthread_getspecific pthread_setspecific pthread_key_create pthread_key_delete "
    "__pthread_key_create sem_init sem_wait sem_post sem_destroy sem_trywait sem_clockwait sem_timedwait "
    // CUDA and its emulator.
    "nvtxRangePushA nvtxRangePop nvtxNameCudaStreamA "
    "cuda* __cuda* __tsan_* __sanitizer_cov_* __ridge_block "
    "__ridge_check_call __ridge_check_access __ridge_enter __ridge_leave __ridge_printf __ridge_printf_chk "
    "__ridge_read4_member __ridge_read8_member __ridge_write4_member __ridge_write8_member "
    "__ridge_read4_aligned __ridge_read8_aligned __ridge_write4_aligned __ridge_write8_aligned "
    "__ridge_read_range_aligned __ridge_write_range_aligned __ridge_memcpy_aligned "
    "__ridge_sincos* __ridge_frexp* "
    "__ridge_modf* __ridge_remquo* "
    "_ZN5ridge4simt10tls_runnerE ridge_entry ";

// The functions of namespace ridge_simt that the emulator's headers call in code compiled with a submission. Each
// checks and counts the pointers that it takes, and calls no function of its caller.
inline constexpr std::string_view kEmulatorFunctions =
    "acquire add_kernel atomic16 atomic32 atomic64 atomic_access atomic_add_bits atomic_add_floats atomic_used "
    "barrier barrier_and barrier_arrive barrier_count barrier_init barrier_open barrier_or barrier_passed "
    "barrier_pending barrier_phase barrier_wait Bf16::* block_dim block_idx bulk_commit bulk_exchange bulk_load "
    "bulk_store bulk_tensor_load bulk_tensor_store bulk_wait clock cluster_arrive cluster_block cluster_dim "
    "cluster_index cluster_rank cluster_size cluster_wait collective converged copies_arrive copy_from_symbol "
    "copy_to_symbol cos_pi count_matrix device_access directed erf_inverse erfc_scaled fence Fp16::* grid_barrier "
    "grid_dim is_cooperative is_global is_shared lane_id launch linear_thread live_lanes map_shared "
    "map_shared_pointer max_potential_block_size mbarrier_arrive mbarrier_expect mbarrier_init mbarrier_invalidate "
    "mbarrier_pending mbarrier_test misuse move_matrix mrg_init mrg_skip named_barrier named_barrier_arrive "
    "narrow_fp8 normal_inverse pause pipeline_commit pipeline_copy pipeline_wait proxy_fence rank_of_pointer "
    "rank_of_shared round_to_double round_to_float set_registers shared_offset shared_pointer sin_pi sm_id "
    "symbol_address symbol_size thread_idx to_signed to_unsigned wgmma_commit wgmma_fence wgmma_wait widen_fp8 "
    "xorwow_init xorwow_skip ";

// Mathematics: each of these, and with f or l behind it.
inline constexpr std::string_view kMathSymbols =
    "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor "
    "fma fmax fmin fmod frexp hypot ilogb ldexp lgamma lgamma_r llrint llround log log10 log1p log2 logb lrint lround "
    "modf nan nearbyint nextafter nexttoward pow remainder remquo rint round roundeven scalbln scalbn sin sincos sinh "
    "sqrt tan tanh tgamma trunc j0 j1 jn y0 y1 yn norm3d rsqrt rcbrt sinpi cospi erfinv erfcinv normcdf ";

}  // namespace ridge
