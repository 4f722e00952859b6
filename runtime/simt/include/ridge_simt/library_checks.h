// Included before all else in what is judged. A distribution's compiler, or a wrapper around it, may switch on checks inside
// the C and C++ libraries; in kernels these would be calls and branches that another machine does not count.
#pragma once
#undef _FORTIFY_SOURCE
#undef _GLIBCXX_ASSERTIONS
