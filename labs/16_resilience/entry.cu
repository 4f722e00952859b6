// Unpacks a call record of the judge for lab 16.
#include "async_save_call.hpp"
#include "elastic_call.hpp"
#include "interval_call.hpp"
#include "lab/call.hpp"
#include "reshard_call.hpp"
#include "resume_call.hpp"
#include "save_call.hpp"

bool ridge_entry(const ridge_call& c) {
  if (c.is("interval"))
    call_interval(c);
  else if (c.is("save"))
    call_save(c);
  else if (c.is("async_save"))
    call_async_save(c);
  else if (c.is("resume"))
    call_resume(c);
  else if (c.is("reshard"))
    call_reshard(c);
  else if (c.is("elastic"))
    call_elastic(c);
  else
    return false;
  return true;
}
