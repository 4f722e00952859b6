// ridge cc is an nvcc for the emulator. It takes nvcc's options, so that a project's build commands work unchanged.
#include "app/cli/command.hpp"
#include "app/nvcc/driver.hpp"

namespace ridge {

namespace {

constexpr const char* kHelp = R"(ridge cc: compiles CUDA C++ for the SIMT emulator, as nvcc does for a GPU

  ridge cc axpy.cu -o axpy && ./axpy             build and run
  RIDGE_COUNTERS=1 ./axpy                        the same, with the counters of every kernel
  ridge cc ring.cu -o ring -lnccl && RIDGE_DEVICES=4 ./ring   on four devices
  ridge cc -Iinclude main.cu kernels.cu -o prog  several files
  ridge cc -c kernels.cu -o kernels.o            compile only
  ridge cc --plain bench.cu -o bench             no counters and no checks, faster

Files: .cu, .cpp, .cc, .c, .o, .a, .so. CUDA headers of your own (.cuh, .h) may lie anywhere on the include path.

  -o FILE               the program (a.out), or with -c the object
  -c, -dc, -odir        compile only
  -rdc=true             kernels may launch kernels; so does -dc
  -M -MM -MD -MMD -MF -MT -MP   the files that were read, for make
  -E                    the text after preprocessing
  @FILE, -optf FILE     more arguments, from a file
  -lib, -shared         a library of the objects, for later calls; programs take in what they use of it
  -run, -run-args       runs the program that was made
  -x cu                 all files are CUDA C++
  -I -D -U -std -g -W   as in nvcc (C++17 unless -std is given); so is -f, for the C++ compiler
  -Xcompiler OPTIONS    for the C++ compiler, separated by commas
  -L -l -Xlinker        for the linker; -lnccl is the emulator's own; so is -lcublas, as kernels
  --plain               no instrumentation, -O2
  -O...                 with --plain only: counts are taken at one pinned level
  -v, -dryrun           what nvcc says of itself, as CMake reads it; -v names what is ignored

nvcc's other options are known: those that concern a GPU's code (-arch, -gencode, -lineinfo, --use_fast_math, ...)
are ignored, and those that ask for it (-ltoir, ...) are refused; -cubin, -fatbin and -ptx make a module for the
emulator's cuModuleLoad, as nvrtc does while a program runs (-lcuda, -lnvrtc).
A link with the name nvcc to `ridge` is this command. RIDGE_CXX names the C++ compiler.
CMake: CUDACXX=build/toolkit/bin/nvcc cmake ...
Exit codes: 2 usage, 3 the machine failed, 4 the program did not build.
)";

}  // namespace

void add_cc(Commands& ridge) {
  CLI::App* command = ridge.add("cc", "Compile CUDA C++ for the SIMT emulator: ridge cc a.cu -o prog");
  command->prefix_command();
  command->set_help_flag();  // the command has a help of its own
  ridge.set_action(command, [command] { return nvcc::drive(command->remaining(), kHelp); });
}

}  // namespace ridge
