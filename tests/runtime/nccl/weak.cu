// A program that knows NCCL by weak references only.
#include <nccl.h>

#include <cstdio>
#pragma weak ncclAlltoAll
#pragma weak ncclCommWindowRegister

int main() {
  return std::puts(&ncclAlltoAll != nullptr && &ncclCommWindowRegister != nullptr ? "ok" : "not there") < 0;
}
