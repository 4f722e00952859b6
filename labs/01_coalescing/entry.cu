// Unpacks a call record of the judge for lab 01.
#include "coalescing.hpp"
#include "lab/call.hpp"

bool ridge_entry(const ridge_call& c) {
  if (c.is("copy")) {
    copy(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]), static_cast<std::size_t>(c.size[0]),
         c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("aos_to_soa")) {
    aos_to_soa(static_cast<const Particle*>(c.in[0]), static_cast<float*>(c.out[0]),
               static_cast<std::size_t>(c.size[0]), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("transpose")) {
    transpose(static_cast<const float*>(c.in[0]), static_cast<float*>(c.out[0]), static_cast<int>(c.size[0]),
              static_cast<int>(c.size[1]), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("gather")) {
    gather(static_cast<const float*>(c.in[0]), static_cast<const int*>(c.in[1]), static_cast<float*>(c.out[0]),
           static_cast<int>(c.size[0]), static_cast<int>(c.size[1]), static_cast<int>(c.size[2]), c.workspace,
           c.workspace_bytes, c.stream);
  } else {
    return false;
  }
  return true;
}
