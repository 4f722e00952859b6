// With the policies: CUDA's Thrust brings them with every algorithm. They need a header that is still open when this is its first
// line (pair.h): such a header asks for the plain file by RIDGE_THRUST_PLAIN, and for the policies at its end.
#include_next <thrust/detail/config.h>
#if !defined(RIDGE_THRUST_PLAIN) && !defined(RIDGE_THRUST_POLICIES)
#define RIDGE_THRUST_POLICIES
#include <thrust/execution_policy.h>
#endif
