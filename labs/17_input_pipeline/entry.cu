// Unpacks a call record of the judge for lab 17.
#include "direct_call.hpp"
#include "lab/call.hpp"
#include "prefetch_call.hpp"
#include "shards_call.hpp"
#include "stripes_call.hpp"

bool ridge_entry(const ridge_call& c) {
  if (c.is("shards"))
    call_shards(c);
  else if (c.is("prefetch"))
    call_prefetch(c);
  else if (c.is("stripes"))
    call_stripes(c);
  else if (c.is("direct"))
    call_direct(c);
  else
    return false;
  return true;
}
