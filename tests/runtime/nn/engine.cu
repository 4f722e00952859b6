// Checks runtime/nn. One program, since it takes long to compile.
// Usage: engine kernels | gradients | options | learns [ORDER]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "kernels.cuh"
#include "model.cuh"

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "kernels") {
    kernels::test_kernels();
  } else if (what == "gradients") {
    model::test_gradients(true);
    model::test_gradients(false);
  } else if (what == "options") {
    model::test_options();
  } else if (what == "learns") {
    model::test_learns(argc > 2 ? std::atoi(argv[2]) : 1);
  } else {
    std::printf("usage: engine kernels | gradients | options | learns [ORDER]\n");
    return 2;
  }
  std::puts("ok");
}
