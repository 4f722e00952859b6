void add(int* v, int n, int what);
void add_three_times(int* v, int n) {
  for (int k = 1; k <= 3; ++k) add(v, n, k);
}
