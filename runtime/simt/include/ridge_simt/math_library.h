// The library's functions that ridge_simt/math.h calls (src/kernel/math.cpp).
#pragma once
#include "bits.h"

namespace ridge_simt {

// op: + - * / f(ma) s(quare root), rounded in this mode.
RIDGE_CONST float directed(char op, float a, float b, float c, Round mode);
RIDGE_CONST double directed(char op, double a, double b, double c, Round mode);
RIDGE_CONST float round_to_float(double v, Round mode);
RIDGE_CONST float round_to_float(long long v, Round mode);
RIDGE_CONST float round_to_float(unsigned long long v, Round mode);
RIDGE_CONST double round_to_double(long long v, Round mode);
RIDGE_CONST double round_to_double(unsigned long long v, Round mode);
RIDGE_CONST double normal_inverse(double p);
RIDGE_CONST double erf_inverse(double y);
RIDGE_CONST double sin_pi(double x);
RIDGE_CONST double cos_pi(double x);
RIDGE_CONST double erfc_scaled(double x);

}  // namespace ridge_simt
