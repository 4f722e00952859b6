// cp.reduce.async.bulk: the elements of one piece of memory are added to those of another, or the like.
#pragma once
#include <cstddef>

#include "ridge_simt/hopper/bulk_copy.h"

namespace ridge::simt {

// Each element of `to` becomes what the operation makes of it and of that of `from`.
void reduce_bulk(void* to, const void* from, std::size_t bytes, ridge_simt::BulkReduction operation,
                 ridge_simt::BulkType type);
// The type of a tensor map's elements, by the driver's number.
ridge_simt::BulkType type_of_map(unsigned number);

}  // namespace ridge::simt
