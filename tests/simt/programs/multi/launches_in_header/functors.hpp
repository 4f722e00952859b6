#pragma once

struct Scale {
  float factor;
  __host__ __device__ float operator()(float x) const { return factor * x; }
};

struct Clamp {
  float low, high;
  __host__ __device__ float operator()(float x) const { return x < low ? low : (x > high ? high : x); }
};
