// A C++ source of a program, which nvcc leaves to the C++ compiler: its float4 and max are its own.
typedef struct {
  float x, y, z, w;
} float4;
template <class T>
static T max(T a, T b) {
  return a > b ? a : b;
}

float largest_of(const float* p) {
  const float4 v = {p[0], p[1], p[2], p[3]};
  return max(max(v.x, v.y), max(v.z, v.w));
}
