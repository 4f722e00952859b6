#pragma once

struct Box {
  float low, high;
};

extern __constant__ Box box;
extern __device__ int bounces;
extern __device__ float energies[64];

__device__ float reflect(float x, float& v);
void set_box(float low, float high);
