// Context switch through Boost.Context, for processors other than x86-64.
#include "fiber/fiber.hpp"

#if !defined(__x86_64__) || defined(RIDGE_FIBER_BOOST)

#include <boost/context/detail/fcontext.hpp>

namespace ridge::simt {

namespace {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

// Handed to the fiber at its first switch, from fiber_create's frame.
struct Start {
  Fiber* creator;
  FiberEntry entry;
  void* argument;
};

void first_entry(transfer_t transfer) {
  Start start = *static_cast<Start*>(transfer.data);
  transfer_t resumed = jump_fcontext(transfer.fctx, nullptr);  // back to fiber_create until someone switches here
  static_cast<Fiber*>(resumed.data)->context = resumed.fctx;
  start.entry(start.argument);
}

}  // namespace

void fiber_create(Fiber& fiber, void* stack, std::size_t bytes, FiberEntry entry, void* argument) {
  Start start{&fiber, entry, argument};
  auto context = make_fcontext(static_cast<char*>(stack) + bytes, bytes, first_entry);
  fiber.context = jump_fcontext(context, &start).fctx;
}

void fiber_switch(Fiber& from, Fiber& to) {
  transfer_t resumed = jump_fcontext(to.context, &from);
  static_cast<Fiber*>(resumed.data)->context = resumed.fctx;
}

}  // namespace ridge::simt

#endif
