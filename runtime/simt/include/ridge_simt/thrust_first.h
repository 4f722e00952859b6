// Read before files that use Thrust (grader/compile/compile.cpp): what CUDA's system of Thrust brings with each of its headers, in
// an order in which the headers of its system for the host find each other.
#pragma once
#include <thrust/execution_policy.h>
// The policies first.
#include <thrust/copy.h>
#include <thrust/extrema.h>
#include <thrust/functional.h>
#include <thrust/iterator/constant_iterator.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>
#include <thrust/tuple.h>
