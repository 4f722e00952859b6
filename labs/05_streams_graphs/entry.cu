// Unpacks a call record of the judge for lab 05.
#include "lab/call.hpp"
#include "streams.hpp"

bool ridge_entry(const ridge_call& c) {
  const auto* in = static_cast<const float*>(c.in[0]);
  auto* out = static_cast<float*>(c.out[0]);
  if (c.is("upload")) {
    upload(in, out, static_cast<std::size_t>(c.size[0]), c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("pipeline")) {
    pipeline(in, out, static_cast<std::size_t>(c.size[0]), static_cast<int>(c.size[1]), c.workspace, c.workspace_bytes,
             c.stream);
  } else if (c.is("fork_join")) {
    fork_join(static_cast<const unsigned*>(c.in[0]), static_cast<unsigned*>(c.out[0]), static_cast<int>(c.size[0]),
              c.workspace, c.workspace_bytes, c.stream);
  } else if (c.is("decode")) {
    decode(in, static_cast<const float*>(c.in[1]), out, static_cast<int>(c.size[0]), static_cast<int>(c.size[1]),
           static_cast<int>(c.size[2]), c.workspace, c.workspace_bytes, c.stream);
  } else {
    return false;
  }
  return true;
}
