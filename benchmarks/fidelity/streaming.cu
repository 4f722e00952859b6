// One pass over arrays: coalesced, strided, misaligned, wide and narrow accesses, arrays of structures.
#include "harness.cuh"

__global__ void empty(int) {}

__global__ void copy(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_strided(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

__global__ void store_strided(const float* in, float* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i * stride] = in[i];
}

__global__ void copy_offset(const float* in, float* out, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i + offset];
}

__global__ void store_offset(const float* in, float* out, int n, int offset) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i + offset] = in[i];
}

__global__ void copy_float2(const float2* in, float2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_float4(const float4* in, float4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_float4_strided(const float4* in, float4* out, int n, int stride) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}

__global__ void copy_double(const double* in, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_double2(const double2* in, double2* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_bytes(const unsigned char* in, unsigned char* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_shorts(const short* in, short* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_uchar4(const uchar4* in, uchar4* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void copy_reversed(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[n - 1 - i];
}

// Neighbours share an element: `share` lanes read one address.
__global__ void copy_shared_element(const float* in, float* out, int n, int share) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i / share];
}

// Only some lanes of each warp are active.
__global__ void copy_some_lanes(const float* in, float* out, int n, int every) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && i % every == 0) out[i] = in[i];
}

__global__ void copy_grid_stride(const float* in, float* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = in[i];
}

// A thread handles 4 elements, a block's width apart.
__global__ void copy_four_each(const float* in, float* out, int n) {
  int base = blockIdx.x * blockDim.x * 4 + threadIdx.x;
  for (int k = 0; k < 4; ++k) {
    int i = base + k * blockDim.x;
    if (i < n) out[i] = in[i];
  }
}

// A thread handles 4 neighbours: each load has a stride of 4.
__global__ void copy_chunks(const float* in, float* out, int n) {
  int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  for (int k = 0; k < 4; ++k)
    if (first + k < n) out[first + k] = in[first + k];
}

__global__ void add2d(const float* a, const float* b, float* c, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) c[y * width + x] = a[y * width + x] + b[y * width + x];
}

struct Particle {
  float x, y, z, mass, vx, vy, vz, charge;
};

__global__ void aos_move(Particle* p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i].x += p[i].vx * dt;
  p[i].y += p[i].vy * dt;
  p[i].z += p[i].vz * dt;
}

// The same fields as eight arrays of n floats.
__global__ void soa_move(float* p, int n, float dt) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  p[i] += p[4 * n + i] * dt;
  p[n + i] += p[5 * n + i] * dt;
  p[2 * n + i] += p[6 * n + i] * dt;
}

__global__ void length3(const float3* v, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float3 a = v[i];
  out[i] = a.x * a.x + a.y * a.y + a.z * a.z;
}

struct Record {
  int word[16];  // 64 bytes, 4-byte alignment
};
__global__ void copy_records(const Record* in, Record* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

struct WideRecord {
  float4 part[4];  // 64 bytes, 16-byte alignment
};
__global__ void copy_wide_records(const WideRecord* in, WideRecord* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void fill(float* out, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value;
}

__global__ void fill_float4(float4* out, int n, float value) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = make_float4(value, value, value, value);
}

__global__ void axpy(const float* x, float* y, int n, float a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void axpy_double(const double* x, double* y, int n, double a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void triad(const float* b, const float* c, float* a, int n, float s) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + s * c[i];
}

// All threads read one address.
__global__ void scale_by(const float* factor, const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * factor[0];
}

// Much arithmetic for each element: 64 fused multiply-adds.
__global__ void polynomial(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i], y = 1.0f;
  for (int k = 0; k < 64; ++k) y = y * x + 0.5f;
  out[i] = y;
}

int main(int argc, char** argv) {
  Program program(argc, argv, [](const float* in, float* out, int n) { init_flush<<<1056, 256>>>(in, out, n); });
  const int kOdd = 100003, kSmall = 65536, kMany = 1 << 24;
  const std::size_t kFloats = std::size_t{1} << 26;
  std::vector<float> host = random_floats(kMany, 1);
  float* in = device_array<float>(kFloats);
  for (std::size_t at = 0; at < kFloats; at += kMany)
    must(cudaMemcpy(in + at, host.data(), kMany * sizeof(float), cudaMemcpyHostToDevice), "cudaMemcpy");
  float* out = device_array<float>(kFloats);
  auto clear = [&] { must(cudaMemset(out, 0, kSmall * sizeof(float)), "cudaMemset"); };
  auto spot = [&](std::size_t to, std::size_t from, const char* what) {
    expect(value_at(out, to) == host[from % kMany], what);
  };

  program.launch("empty", Kind::time, [&] { empty<<<1, 32>>>(0); });

  program.launch("copy", Kind::count, [&] { copy<<<blocks_for(kOdd, 256), 256>>>(in, out, kOdd); });
  spot(kOdd - 1, kOdd - 1, "copy");
  program.launch("copy", Kind::count, [&] { copy<<<blocks_for(kSmall, 96), 96>>>(in, out, kSmall); });
  program.launch("copy", Kind::count, [&] { copy<<<blocks_for(1000, 33), 33>>>(in, out, 1000); });
  program.launch("copy", Kind::time, [&] { copy<<<blocks_for(kMany, 256), 256>>>(in, out, kMany); });
  program.launch("copy", Kind::time, [&] { copy<<<blocks_for(2 * kMany, 1024), 1024>>>(in, out, 2 * kMany); });
  program.launch("copy", Kind::time, [&] { copy<<<blocks_for(kMany, 64), 64>>>(in, out, kMany); });

  for (int stride : {2, 3, 8, 32}) {
    program.launch("copy_strided", Kind::count,
                   [&] { copy_strided<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, stride); });
    spot(777, std::size_t(777) * stride, "copy_strided");
  }
  for (int stride : {2, 8, 32}) {
    int n = stride == 32 ? kMany / 8 : kMany / 4;
    program.launch("copy_strided", Kind::time, [&] { copy_strided<<<blocks_for(n, 256), 256>>>(in, out, n, stride); });
  }
  for (int stride : {2, 3, 8, 32}) {
    program.launch(
        "store_strided", Kind::count, [&] { store_strided<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, stride); },
        clear);
    spot(std::size_t(777) * stride, 777, "store_strided");
  }
  program.launch("store_strided", Kind::time,
                 [&] { store_strided<<<blocks_for(kMany / 4, 256), 256>>>(in, out, kMany / 4, 8); });

  for (int offset : {1, 3, 8}) {
    program.launch("copy_offset", Kind::count,
                   [&] { copy_offset<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, offset); });
    spot(500, 500 + offset, "copy_offset");
  }
  program.launch("copy_offset", Kind::time, [&] { copy_offset<<<blocks_for(kMany, 256), 256>>>(in, out, kMany, 1); });
  for (int offset : {1, 3}) {
    program.launch("store_offset", Kind::count,
                   [&] { store_offset<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, offset); });
    spot(500 + offset, 500, "store_offset");
  }

  auto* in2 = reinterpret_cast<float2*>(in);
  auto* out2 = reinterpret_cast<float2*>(out);
  program.launch(
      "copy_float2", Kind::count, [&] { copy_float2<<<blocks_for(kOdd, 128), 128>>>(in2, out2, kOdd); }, clear);
  spot(2 * kOdd - 1, 2 * kOdd - 1, "copy_float2");
  auto* in4 = reinterpret_cast<float4*>(in);
  auto* out4 = reinterpret_cast<float4*>(out);
  program.launch(
      "copy_float4", Kind::count, [&] { copy_float4<<<blocks_for(kOdd, 128), 128>>>(in4, out4, kOdd); }, clear);
  spot(4 * kOdd - 1, 4 * kOdd - 1, "copy_float4");
  program.launch("copy_float4", Kind::time,
                 [&] { copy_float4<<<blocks_for(2 * kMany / 4, 256), 256>>>(in4, out4, 2 * kMany / 4); });
  for (int stride : {2, 3})
    program.launch("copy_float4_strided", Kind::count,
                   [&] { copy_float4_strided<<<blocks_for(kSmall, 256), 256>>>(in4, out4, kSmall, stride); });
  auto* ind = reinterpret_cast<double*>(in);
  auto* outd = reinterpret_cast<double*>(out);
  program.launch(
      "copy_double", Kind::count, [&] { copy_double<<<blocks_for(kOdd, 256), 256>>>(ind, outd, kOdd); }, clear);
  spot(1001, 1001, "copy_double");
  auto* ind2 = reinterpret_cast<double2*>(in);
  auto* outd2 = reinterpret_cast<double2*>(out);
  program.launch(
      "copy_double2", Kind::count, [&] { copy_double2<<<blocks_for(kOdd, 256), 256>>>(ind2, outd2, kOdd); }, clear);
  spot(1001, 1001, "copy_double2");
  auto* inb = reinterpret_cast<unsigned char*>(in);
  auto* outb = reinterpret_cast<unsigned char*>(out);
  program.launch(
      "copy_bytes", Kind::count, [&] { copy_bytes<<<blocks_for(kOdd, 256), 256>>>(inb, outb, kOdd); }, clear);
  spot(1001, 1001, "copy_bytes");
  program.launch("copy_bytes", Kind::time,
                 [&] { copy_bytes<<<blocks_for(2 * kMany, 256), 256>>>(inb, outb, 2 * kMany); });
  auto* ins = reinterpret_cast<short*>(in);
  auto* outs = reinterpret_cast<short*>(out);
  program.launch(
      "copy_shorts", Kind::count, [&] { copy_shorts<<<blocks_for(kOdd, 256), 256>>>(ins, outs, kOdd); }, clear);
  spot(1001, 1001, "copy_shorts");
  auto* inu = reinterpret_cast<uchar4*>(in);
  auto* outu = reinterpret_cast<uchar4*>(out);
  program.launch(
      "copy_uchar4", Kind::count, [&] { copy_uchar4<<<blocks_for(kOdd, 256), 256>>>(inu, outu, kOdd); }, clear);
  spot(1001, 1001, "copy_uchar4");

  program.launch("copy_reversed", Kind::count, [&] { copy_reversed<<<blocks_for(kOdd, 256), 256>>>(in, out, kOdd); });
  spot(0, kOdd - 1, "copy_reversed");
  for (int share : {2, 5, 32}) {
    program.launch("copy_shared_element", Kind::count,
                   [&] { copy_shared_element<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, share); });
    spot(777, 777 / share, "copy_shared_element");
  }
  for (int every : {2, 7})
    program.launch("copy_some_lanes", Kind::count,
                   [&] { copy_some_lanes<<<blocks_for(kSmall, 256), 256>>>(in, out, kSmall, every); });
  program.launch(
      "copy_grid_stride", Kind::count, [&] { copy_grid_stride<<<48, 192>>>(in, out, kOdd); }, clear);
  spot(kOdd - 1, kOdd - 1, "copy_grid_stride");
  program.launch("copy_grid_stride", Kind::time, [&] { copy_grid_stride<<<1056, 256>>>(in, out, kMany); });
  program.launch("copy_grid_stride", Kind::time, [&] { copy_grid_stride<<<132, 128>>>(in, out, kMany); });
  program.launch(
      "copy_four_each", Kind::count, [&] { copy_four_each<<<blocks_for(kOdd, 1024), 256>>>(in, out, kOdd); }, clear);
  spot(kOdd - 1, kOdd - 1, "copy_four_each");
  program.launch(
      "copy_chunks", Kind::count, [&] { copy_chunks<<<blocks_for(kOdd, 1024), 256>>>(in, out, kOdd); }, clear);
  spot(kOdd - 1, kOdd - 1, "copy_chunks");
  program.launch("copy_chunks", Kind::time, [&] { copy_chunks<<<blocks_for(kMany, 1024), 256>>>(in, out, kMany); });

  for (dim3 block : {dim3(16, 16), dim3(8, 8), dim3(32, 8), dim3(5, 7)}) {
    const int width = 333, height = 211;
    program.launch("add2d", Kind::count, [&] {
      add2d<<<dim3(blocks_for(width, block.x), blocks_for(height, block.y)), block>>>(in, in + 131072, out, width,
                                                                                      height);
    });
    expect(value_at(out, width * height - 1) == host[width * height - 1] + host[131072 + width * height - 1], "add2d");
  }
  program.launch("add2d", Kind::time,
                 [&] { add2d<<<dim3(256, 256), dim3(16, 16)>>>(in, in + kMany, out, 4096, 4096); });

  const int kParticles = 50021;
  auto copy_back = [&] {
    must(cudaMemcpy(out, in, std::size_t{8} * kMany / 8 * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpy");
  };
  program.launch(
      "aos_move", Kind::count,
      [&] { aos_move<<<blocks_for(kParticles, 256), 256>>>(reinterpret_cast<Particle*>(out), kParticles, 0.5f); },
      copy_back);
  expect(near(value_at(out, 8), host[8] + 0.5f * host[12]), "aos_move");
  program.launch("aos_move", Kind::time, [&] {
    aos_move<<<blocks_for(kMany / 8, 256), 256>>>(reinterpret_cast<Particle*>(out), kMany / 8, 0.5f);
  });
  program.launch(
      "soa_move", Kind::count, [&] { soa_move<<<blocks_for(kParticles, 256), 256>>>(out, kParticles, 0.5f); },
      copy_back);
  expect(near(value_at(out, 1), host[1] + 0.5f * host[4 * kParticles + 1]), "soa_move");
  program.launch("soa_move", Kind::time, [&] { soa_move<<<blocks_for(kMany / 8, 256), 256>>>(out, kMany / 8, 0.5f); });
  program.launch("length3", Kind::count,
                 [&] { length3<<<blocks_for(kOdd, 256), 256>>>(reinterpret_cast<float3*>(in), out, kOdd); });
  program.launch(
      "copy_records", Kind::count,
      [&] {
        copy_records<<<blocks_for(10007, 128), 128>>>(reinterpret_cast<Record*>(in), reinterpret_cast<Record*>(out),
                                                      10007);
      },
      clear);
  spot(16 * 10007 - 1, 16 * 10007 - 1, "copy_records");
  program.launch(
      "copy_wide_records", Kind::count,
      [&] {
        copy_wide_records<<<blocks_for(10007, 128), 128>>>(reinterpret_cast<WideRecord*>(in),
                                                           reinterpret_cast<WideRecord*>(out), 10007);
      },
      clear);
  spot(16 * 10007 - 1, 16 * 10007 - 1, "copy_wide_records");
  program.launch("copy_records", Kind::time, [&] {
    copy_records<<<blocks_for(kMany / 16, 128), 128>>>(reinterpret_cast<Record*>(in), reinterpret_cast<Record*>(out),
                                                       kMany / 16);
  });

  program.launch("fill", Kind::count, [&] { fill<<<blocks_for(kOdd, 256), 256>>>(out, kOdd, 3.0f); });
  expect(value_at(out, kOdd - 1) == 3.0f, "fill");
  program.launch("fill", Kind::time, [&] { fill<<<blocks_for(2 * kMany, 256), 256>>>(out, 2 * kMany, 3.0f); });
  program.launch("fill_float4", Kind::count, [&] { fill_float4<<<blocks_for(25001, 256), 256>>>(out4, 25001, 5.0f); });
  expect(value_at(out, 4 * 25001 - 1) == 5.0f, "fill_float4");
  program.launch(
      "axpy", Kind::count, [&] { axpy<<<blocks_for(kOdd, 256), 256>>>(in, out, kOdd, 2.0f); }, clear);
  expect(near(value_at(out, 7), 2.0f * host[7]), "axpy");
  program.launch("axpy", Kind::time, [&] { axpy<<<blocks_for(kMany, 256), 256>>>(in, out, kMany, 2.0f); });
  program.launch("axpy_double", Kind::count,
                 [&] { axpy_double<<<blocks_for(kOdd, 256), 256>>>(ind, outd, kOdd, 2.0); });
  program.launch("triad", Kind::count,
                 [&] { triad<<<blocks_for(kOdd, 256), 256>>>(in, in + kSmall, out, kOdd, 2.0f); });
  expect(near(value_at(out, 7), host[7] + 2.0f * host[kSmall + 7]), "triad");
  program.launch("triad", Kind::time,
                 [&] { triad<<<blocks_for(kMany, 256), 256>>>(in, in + kMany, out, kMany, 2.0f); });
  program.launch("scale_by", Kind::count, [&] { scale_by<<<blocks_for(kOdd, 256), 256>>>(in + 5, in, out, kOdd); });
  expect(near(value_at(out, 9), host[9] * host[5]), "scale_by");
  program.launch("polynomial", Kind::count, [&] { polynomial<<<blocks_for(kOdd, 256), 256>>>(in, out, kOdd); });
  program.launch("polynomial", Kind::time,
                 [&] { polynomial<<<blocks_for(kMany / 4, 256), 256>>>(in, out, kMany / 4); });
  float x = host[3], y = 1.0f;
  for (int k = 0; k < 64; ++k) y = y * x + 0.5f;
  expect(near(value_at(out, 3), y, 1e-3), "polynomial");
}
