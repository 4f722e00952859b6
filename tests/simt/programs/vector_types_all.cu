// Vector types: sizes, initialisation, unions, shared arrays, members after a load, structs that contain vectors.
#include "check.hpp"

static_assert(sizeof(char2) == 2 && sizeof(uchar4) == 4 && alignof(uchar4) == 4 && sizeof(short4) == 8);
static_assert(sizeof(float3) == 12 && alignof(float3) == 4 && alignof(float4) == 16 && alignof(int2) == 8);
static_assert(sizeof(double2) == 16 && alignof(double2) == 16 && sizeof(longlong2) == 16 && sizeof(double3) == 24);

constexpr float4 kConstant = {1, 2, 3, 4};
static_assert(kConstant.z == 3);

struct Particle {
  float4 position;
  float4 velocity;
  int2 id;
};
union Pack {
  uint4 words;
  unsigned char bytes[16];
};

__global__ void move(Particle* p, uchar4* colour, float* sums) {
  __shared__ float4 tile[32];
  int i = threadIdx.x;
  Particle own = p[i];
  own.position.x += own.velocity.x;
  own.position.w = own.velocity.y + own.velocity.z;
  own.id = make_int2(own.id.y, own.id.x);
  p[i] = own;
  tile[i] = own.position;
  __syncthreads();
  float4 other = tile[31 - i];
  sums[i] = other.x + other.y + other.z + other.w;
  uchar4 c = colour[i];
  c.x = 255 - c.x;
  colour[i] = c;
  Pack pack;
  pack.words = make_uint4(0x01020304u, 5, 6, 7);
  sums[i] += pack.bytes[0] + pack.bytes[4];
  reinterpret_cast<float2*>(sums + 32)[i] = make_float2(1.0f * i, -1.0f * i);
}

int main() {
  Particle* p;
  uchar4* colour;
  float* sums;
  cudaMallocManaged(&p, 32 * sizeof *p);
  cudaMallocManaged(&colour, 32 * sizeof *colour);
  cudaMallocManaged(&sums, 96 * sizeof *sums);
  for (int i = 0; i < 32; ++i) {
    p[i].position = make_float4(i, 1, 2, 0);
    p[i].velocity = {0.5f, 1, 1, 0};
    p[i].id = {i, -i};
    colour[i] = make_uchar4(i, 2, 3, 4);
  }
  move<<<1, 32>>>(p, colour, sums);
  expect_error(cudaDeviceSynchronize(), cudaSuccess, "the kernel");
  for (int i = 0; i < 32; ++i) {
    expect(p[i].position.x == i + 0.5f && p[i].position.y == 1 && p[i].position.w == 2, "members of a loaded struct");
    expect(p[i].id.x == -i && p[i].id.y == i, "int2");
    expect(sums[i] == 31 - i + 0.5f + 5 + 9, "shared float4, and a union");
    expect(colour[i].x == 255 - i && colour[i].w == 4, "uchar4");
    expect(sums[32 + 2 * i] == i && sums[33 + 2 * i] == -i, "float2 store by reinterpret_cast");
  }
  float4 zero{}, one = {1.0f};
  expect(zero.x == 0 && zero.w == 0 && one.x == 1 && one.y == 0, "initialisation");
  dim3 d(3);
  expect(d.x == 3 && d.y == 1 && d.z == 1, "dim3");
  std::puts("ok");
}
