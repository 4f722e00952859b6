#pragma once
constexpr int kFirst = 5;
void fill(int* v, int n);
