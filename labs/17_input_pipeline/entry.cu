// Unpacks a call record of the judge for lab 17.
#include "lab/call.hpp"
#include "prefetch_call.hpp"
#include "shards_call.hpp"

bool ridge_entry(const ridge_call& c) {
  if (c.is("shards"))
    call_shards(c);
  else if (c.is("prefetch"))
    call_prefetch(c);
  else
    return false;
  return true;
}
