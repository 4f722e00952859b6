// host: 7
// A table that nobody made, read by host code.
#include <cstdio>

int* table = nullptr;

int main() { std::printf("%d\n", table[3]); }
