// Backward of fused_attention.cuh. With P = exp(S - log of the row's sum), S = scale q k^T:
//
//   dP = do v^T     dS = scale P (dP - delta), delta = the row's sum of P dP = the row's sum of do o
//   dq = dS k       dk = dS^T q       dv = P^T do
#pragma once
#include "nn/fused_attention.cuh"

namespace nn {

// The sum of do o over row `row` of a head, in four lanes that ask for the same one.
template <int hs, class T>
__device__ inline float row_delta(const HeadRows<const T>& d_o, const HeadRows<const T>& o, int row) {
  float sum = 0;
#pragma unroll
  for (int i = static_cast<int>(threadIdx.x) % 4 * 8; i < hs; i += 32) {
    const Pack<T, 8> x = load_pack<8>(d_o.data + row * d_o.stride + i), y = load_pack<8>(o.data + row * o.stride + i);
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += to_float(x.of[j]) * to_float(y.of[j]);
  }
  sum += __shfl_xor_sync(kWarp, sum, 1);
  return sum + __shfl_xor_sync(kWarp, sum, 2);
}

// dqkv: (B, T, 3, H, hs), of which this writes dq. d_o, o: (B, T, H, hs); logs, delta: (B, H, T), of which this writes
// delta. A block a tile of queries.
template <class T, int hs>
__global__ void __launch_bounds__(QueryTiles<hs>::kThreads)
    fused_attention_dq_kernel(const T* d_o, const T* qkv, const T* o, const float* logs, float* delta, T* dqkv,
                              int sequence, int H, float scale) {
  using Tiles = QueryTiles<hs>;
  constexpr int kM = Tiles::kFragments, kN = Tiles::kOther / 8, kHead = hs / 8;
  extern __shared__ __align__(128) unsigned char shared[];
  T *tile_q = reinterpret_cast<T*>(shared), *tile_do = tile_q + Tiles::kRows * hs;
  auto tile_k = [&](int stage) { return tile_q + (2 * Tiles::kRows + 2 * stage * Tiles::kOther) * hs; };
  const auto q = head_rows(qkv, 0, 3, sequence, H, hs), k = head_rows(qkv, 1, 3, sequence, H, hs),
             v = head_rows(qkv, 2, 3, sequence, H, hs), out = head_rows(d_o, 0, 1, sequence, H, hs),
             result = head_rows(o, 0, 1, sequence, H, hs);
  const int row0 = tile_of_block() * Tiles::kRows, lane = static_cast<int>(threadIdx.x) % 32;
  const int own = static_cast<int>(threadIdx.x) / 32 * 16 * kM;
  const int tiles = (min(row0 + Tiles::kRows, sequence) + Tiles::kOther - 1) / Tiles::kOther;
  auto load = [&](int tile) {
    if (tile < tiles) {
      T* to = tile_k(tile % 2);
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to, k.data, k.stride, tile * Tiles::kOther, sequence);
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to + Tiles::kOther * hs, v.data, v.stride, tile * Tiles::kOther,
                                                    sequence);
    }
    __pipeline_commit();
  };
  load_tile<Tiles::kRows, hs, Tiles::kThreads>(tile_q, q.data, q.stride, row0, sequence);
  load_tile<Tiles::kRows, hs, Tiles::kThreads>(tile_do, out.data, out.stride, row0, sequence);
  load(0);
  load(1);
  __pipeline_wait_prior(1);
  __syncthreads();
  Factor<kM, hs> kept_q, kept_do;
  if constexpr (Tiles::kKeep) load_factor<kM, hs>(kept_q, tile_q, own), load_factor<kM, hs>(kept_do, tile_do, own);

  const std::size_t head = (static_cast<std::size_t>(blockIdx.y) * H + blockIdx.x) * sequence;
  float log_of[kM][2], delta_of[kM][2], factor[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m)
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int row = row0 + own + 16 * m + 8 * half + lane / 4, inside = min(row, sequence - 1);
      log_of[m][half] = logs[head + inside], delta_of[m][half] = row_delta<hs>(out, result, inside);
      factor[m][half] = scale;
      if (lane % 4 == 0 && row < sequence) delta[head + row] = delta_of[m][half];
    }
  Accumulator<kM, kHead> dq = {};
  const float to_log2 = scale * kLog2E;
  for (int tile = 0; tile < tiles; ++tile) {
    const T *keys = tile_k(tile % 2), *values = keys + Tiles::kOther * hs;
    Accumulator<kM, kN> s = {}, dp = {};
    if constexpr (Tiles::kKeep) {
      multiply_rows<kM, kN, hs>(s, kept_q, keys);
      multiply_rows<kM, kN, hs>(dp, kept_do, values);
    } else {
      multiply_rows<kM, kN, hs>(s, tile_q, own, keys);
      multiply_rows<kM, kN, hs>(dp, tile_do, own, values);
    }
    if ((tile + 1) * Tiles::kOther > row0 + own + 1)
      mask<kM, kN>(s, row0 + own, tile * Tiles::kOther, -INFINITY, [](int row, int column) { return column <= row; });
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          s[m][n][i] = exp2_approx(s[m][n][i] * to_log2 - log_of[m][i / 2]) * (dp[m][n][i] - delta_of[m][i / 2]);
    multiply_columns<kM, kHead, kN>(dq, s, keys);
    __syncthreads();
    load(tile + 2);
    __pipeline_wait_prior(1);
    __syncthreads();
  }
  const auto to = head_rows(dqkv, 0, 3, sequence, H, hs);
  store_rows<kM, kHead>(dq, factor, to.data, to.stride, row0 + own, sequence);
}

// The other two thirds of dqkv. A block a tile of keys, which walks through the queries that see them; S and P stand on
// their sides here, a row a key, so that P^T and dS^T are factors as they are.
template <class T, int hs>
__global__ void __launch_bounds__(KeyTiles<hs>::kThreads)
    fused_attention_dkv_kernel(const T* d_o, const T* qkv, const float* logs, const float* delta, T* dqkv, int sequence,
                               int H, float scale) {
  using Tiles = KeyTiles<hs>;
  constexpr int kM = Tiles::kFragments, kN = Tiles::kOther / 8, kHead = hs / 8;
  extern __shared__ __align__(128) unsigned char shared[];
  T *tile_k = reinterpret_cast<T*>(shared), *tile_v = tile_k + Tiles::kRows * hs;
  auto tile_q = [&](int stage) { return tile_k + (2 * Tiles::kRows + 2 * stage * Tiles::kOther) * hs; };
  // The queries' logs and deltas of each stage.
  auto rows_of = [&](int stage) { return reinterpret_cast<float*>(tile_q(2)) + 2 * stage * Tiles::kOther; };
  const auto q = head_rows(qkv, 0, 3, sequence, H, hs), k = head_rows(qkv, 1, 3, sequence, H, hs),
             v = head_rows(qkv, 2, 3, sequence, H, hs), out = head_rows(d_o, 0, 1, sequence, H, hs);
  const std::size_t head = (static_cast<std::size_t>(blockIdx.y) * H + blockIdx.x) * sequence;
  // The first keys are seen by most queries: they begin first.
  const int row0 = static_cast<int>(blockIdx.z) * Tiles::kRows, lane = static_cast<int>(threadIdx.x) % 32;
  const int own = static_cast<int>(threadIdx.x) / 32 * 16 * kM;
  const int first = row0 / Tiles::kOther, tiles = (sequence + Tiles::kOther - 1) / Tiles::kOther;
  auto load = [&](int tile) {
    if (tile < tiles) {
      T* to = tile_q(tile % 2);
      const int query = tile * Tiles::kOther + static_cast<int>(threadIdx.x) % Tiles::kOther;
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to, q.data, q.stride, tile * Tiles::kOther, sequence);
      load_tile<Tiles::kOther, hs, Tiles::kThreads>(to + Tiles::kOther * hs, out.data, out.stride, tile * Tiles::kOther,
                                                    sequence);
      // Queries beyond the last have zeros everywhere, and add nothing.
      if (static_cast<int>(threadIdx.x) < 2 * Tiles::kOther)
        __pipeline_memcpy_async(
            rows_of(tile % 2) + threadIdx.x,
            (static_cast<int>(threadIdx.x) < Tiles::kOther ? logs : delta) + head + min(query, sequence - 1), 4,
            query < sequence ? 0 : 4);
    }
    __pipeline_commit();
  };
  load_tile<Tiles::kRows, hs, Tiles::kThreads>(tile_k, k.data, k.stride, row0, sequence);
  load_tile<Tiles::kRows, hs, Tiles::kThreads>(tile_v, v.data, v.stride, row0, sequence);
  load(first);
  load(first + 1);
  __pipeline_wait_prior(1);
  __syncthreads();
  Factor<kM, hs> kept_k, kept_v;
  if constexpr (Tiles::kKeep) load_factor<kM, hs>(kept_k, tile_k, own), load_factor<kM, hs>(kept_v, tile_v, own);

  Accumulator<kM, kHead> dk = {}, dv = {};
  const float to_log2 = scale * kLog2E;
  for (int tile = first; tile < tiles; ++tile) {
    const T *queries = tile_q(tile % 2), *outs = queries + Tiles::kOther * hs;
    const float *log_of = rows_of(tile % 2) + lane % 4 * 2, *delta_of = log_of + Tiles::kOther;
    Accumulator<kM, kN> p = {};
    if constexpr (Tiles::kKeep)
      multiply_rows<kM, kN, hs>(p, kept_k, queries);
    else
      multiply_rows<kM, kN, hs>(p, tile_k, own, queries);
    if (tile * Tiles::kOther < row0 + own + 16 * kM - 1)
      mask<kM, kN>(p, row0 + own, tile * Tiles::kOther, -INFINITY, [](int row, int column) { return row <= column; });
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) p[m][n][i] = exp2_approx(p[m][n][i] * to_log2 - log_of[8 * n + i % 2]);
    multiply_columns<kM, kHead, kN>(dv, p, outs);
    Accumulator<kM, kN> ds = {};
    if constexpr (Tiles::kKeep)
      multiply_rows<kM, kN, hs>(ds, kept_v, outs);
    else
      multiply_rows<kM, kN, hs>(ds, tile_v, own, outs);
#pragma unroll
    for (int m = 0; m < kM; ++m)
#pragma unroll
      for (int n = 0; n < kN; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) ds[m][n][i] = p[m][n][i] * (ds[m][n][i] - delta_of[8 * n + i % 2]);
    multiply_columns<kM, kHead, kN>(dk, ds, queries);
    __syncthreads();
    load(tile + 2);
    __pipeline_wait_prior(1);
    __syncthreads();
  }
  float of_k[kM][2], of_v[kM][2];
#pragma unroll
  for (int m = 0; m < kM; ++m) of_k[m][0] = of_k[m][1] = scale, of_v[m][0] = of_v[m][1] = 1;
  const auto to_k = head_rows(dqkv, 1, 3, sequence, H, hs), to_v = head_rows(dqkv, 2, 3, sequence, H, hs);
  store_rows<kM, kHead>(dk, of_k, to_k.data, to_k.stride, row0 + own, sequence);
  store_rows<kM, kHead>(dv, of_v, to_v.data, to_v.stride, row0 + own, sequence);
}

template <class T, int hs>
void launch_fused_attention_backward(const T* d_o, const T* qkv, const T* o, const float* logs, float* delta, T* dqkv,
                                     int B, int sequence, int H, cudaStream_t stream) {
  auto bytes = [](auto tiles, int floats) {
    using Tiles = decltype(tiles);
    return (2 * Tiles::kRows + 4 * Tiles::kOther) * hs * static_cast<int>(sizeof(T)) + floats * 4;
  };
  auto grid = [&](int rows) {
    return dim3(static_cast<unsigned>(H), static_cast<unsigned>(B),
                static_cast<unsigned>(blocks_for(static_cast<std::size_t>(sequence), rows)));
  };
  auto* dq = fused_attention_dq_kernel<T, hs>;
  auto* dkv = fused_attention_dkv_kernel<T, hs>;
  const int of_dq = bytes(QueryTiles<hs>{}, 0), of_dkv = bytes(KeyTiles<hs>{}, 4 * KeyTiles<hs>::kOther);
  check(cudaFuncSetAttribute(dq, cudaFuncAttributeMaxDynamicSharedMemorySize, of_dq), "shared memory for dq");
  check(cudaFuncSetAttribute(dkv, cudaFuncAttributeMaxDynamicSharedMemorySize, of_dkv), "shared memory for dk and dv");
  const float scale = 1 / std::sqrt(static_cast<float>(hs));
  dq<<<grid(QueryTiles<hs>::kRows), QueryTiles<hs>::kThreads, of_dq, stream>>>(d_o, qkv, o, logs, delta, dqkv, sequence,
                                                                               H, scale);
  check_launch("fused_attention_dq_kernel");
  dkv<<<grid(KeyTiles<hs>::kRows), KeyTiles<hs>::kThreads, of_dkv, stream>>>(d_o, qkv, logs, delta, dqkv, sequence, H,
                                                                             scale);
  check_launch("fused_attention_dkv_kernel");
}

// d_o, o: (B, T, H, hs); qkv and logs as forward had and left them; dqkv: (B, T, 3, H, hs). delta: (B, H, T), scratch.
template <class T>
void fused_attention_backward(const T* d_o, const T* qkv, const T* o, const float* logs, T* dqkv, float* delta, int B,
                              int sequence, int H, int hs, cudaStream_t stream) {
  with_head_size<T>(hs, [&](auto size) {
    launch_fused_attention_backward<T, decltype(size)::value>(d_o, qkv, o, logs, delta, dqkv, B, sequence, H, stream);
  });
}

}  // namespace nn
