// A stack machine per thread: a large switch, unions, bit fields, enums, and a program in constant memory.
#include "sample.hpp"

enum class Op : unsigned char { push, input, add, sub, mul, dup, swap, less, jump_zero, jump, store, load, halt };

struct Instruction {
  Op op;
  signed char small;
  short target;
};

struct Status {
  unsigned steps : 20;
  unsigned depth : 6;
  unsigned overflow : 1;
  unsigned finished : 1;
};

union Word {
  float f;
  int i;
  unsigned u;
};

constexpr int kStack = 16, kProgram = 32;
__constant__ Instruction program[kProgram];

__host__ __device__ Word word(float f) {
  Word w;
  w.f = f;
  return w;
}

__host__ __device__ float execute(const Instruction* code, float input, Status& status) {
  Word stack[kStack];
  Word memory[4] = {};
  int top = 0;
  status = Status{0, 0, 0, 0};
  for (int pc = 0; pc >= 0 && pc < kProgram && status.steps < 10000; ++status.steps) {
    const Instruction now = code[pc++];
    switch (now.op) {
      case Op::push:
        stack[top++] = word(now.small);
        break;
      case Op::input:
        stack[top++] = word(input);
        break;
      case Op::add:
        --top;
        stack[top - 1].f += stack[top].f;
        break;
      case Op::sub:
        --top;
        stack[top - 1].f -= stack[top].f;
        break;
      case Op::mul:
        --top;
        stack[top - 1].f *= stack[top].f;
        break;
      case Op::dup:
        stack[top] = stack[top - 1];
        ++top;
        break;
      case Op::swap: {
        Word w = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = w;
        break;
      }
      case Op::less:
        --top;
        stack[top - 1].i = stack[top - 1].f < stack[top].f;
        break;
      case Op::jump_zero:
        if (stack[--top].i == 0) pc = now.target;
        break;
      case Op::jump:
        pc = now.target;
        break;
      case Op::store:
        memory[now.target & 3] = stack[--top];
        break;
      case Op::load:
        stack[top++] = memory[now.target & 3];
        break;
      case Op::halt:
        status.finished = 1;
        status.depth = top & 63;
        return stack[top - 1].f;
    }
    if (top >= kStack) {
      status.overflow = 1;
      return 0;
    }
  }
  return -1;
}

__global__ void run(const float* in, float* out, Status* status, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Status mine;
  out[i] = execute(program, in[i], mine);
  status[i] = mine;
}

int main() {
  // The sum of k * k for k = 1, 2, ... below the input: as many rounds as the input says.
  const Instruction code[kProgram] = {
      {Op::push, 0, 0},  {Op::store, 0, 0},                                            // sum = 0
      {Op::push, 1, 0},  {Op::store, 0, 1},                                            // k = 1
      {Op::load, 0, 1},  {Op::input, 0, 0}, {Op::less, 0, 0}, {Op::jump_zero, 0, 18},  // 4: while k < input
      {Op::load, 0, 1},  {Op::dup, 0, 0},   {Op::mul, 0, 0},  {Op::load, 0, 0},       {Op::add, 0, 0},
      {Op::store, 0, 0},  // sum += k * k
      {Op::load, 0, 1},  {Op::push, 1, 0},  {Op::add, 0, 0},  {Op::jump, 0, 19},      {Op::jump, 0, 21},  // 18: the end
      {Op::store, 0, 1}, {Op::jump, 0, 4},                                                                // 19: k += 1
      {Op::load, 0, 0},  {Op::push, 7, 0},  {Op::swap, 0, 0}, {Op::sub, 0, 0},        {Op::halt, 0, 0}};
  const int n = 301;
  Random random(20);
  std::vector<float> in(n), wanted(n);
  for (float& x : in) x = static_cast<float>(random.below(30)) + 0.5f;
  std::vector<Status> status(n);
  for (int i = 0; i < n; ++i) {
    wanted[i] = 7;
    for (int k = 1; k < in[i]; ++k) wanted[i] -= static_cast<float>(k * k);
  }
  CUDA_CHECK(cudaMemcpyToSymbol(program, code, sizeof code));
  float *d_in = to_device(in), *d_out = device_array<float>(n);
  Status* d_status = device_array<Status>(n);
  run<<<blocks_for(n, 64), 64>>>(d_in, d_out, d_status, n);
  CUDA_CHECK(cudaGetLastError());
  expect_equal(to_host(d_out, n), wanted, "results of the machine");
  status = to_host(d_status, n);
  for (int i = 0; i < n; ++i) {
    Status host;
    expect(execute(code, in[i], host) == wanted[i], "the machine on the host");
    expect(status[i].steps == host.steps && status[i].finished == 1 && status[i].depth == 1 && status[i].overflow == 0,
           "status in bit fields");
  }

  // A loop that only pushes stops at the stack's end.
  const Instruction endless[2] = {{Op::push, 1, 0}, {Op::jump, 0, 0}};
  CUDA_CHECK(cudaMemcpyToSymbol(program, endless, sizeof endless));
  run<<<1, 1>>>(d_in, d_out, d_status, n);
  CUDA_CHECK(cudaGetLastError());
  Status last = to_host(d_status, 1)[0];
  expect(last.overflow == 1 && last.finished == 0, "overflow of the stack");
  CUDA_CHECK(cudaFree(d_in));
  CUDA_CHECK(cudaFree(d_out));
  CUDA_CHECK(cudaFree(d_status));
  std::puts("ok");
}
