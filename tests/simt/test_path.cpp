// Paths of lanes: equal where two lanes are in the same iteration of the same loops, ordered as the program is.
#include "src/count/path.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

// entry; for (...) { head; inner: for (...) body; tail } ; end
struct Code {
  BlockRecord entry{}, head{}, inner{}, tail{}, end{};
  Code() {
    std::uint32_t position = 0;
    for (BlockRecord* b : {&entry, &head, &inner, &tail, &end}) {
      b->function = 100;
      b->position = position++;
    }
    entry.entry = 1;
    head.loop = &head;
    head.depth = 1;
    inner.loop = &inner;
    inner.outer = &head;
    inner.depth = 2;
    tail.loop = &head;
    tail.depth = 1;
  }
};

Path start(const Code& c) {
  Path p;
  p.reset();
  p.call(7);
  p.enter(&c.entry);
  return p;
}

Path after(const Code& c, std::initializer_list<const BlockRecord*> blocks) {
  Path p = start(c);
  for (const BlockRecord* b : blocks) p.enter(b);
  return p;
}

}  // namespace

TEST_CASE("iterations of loops tell accesses apart, whatever happened inside them") {
  Code c;
  // One lane does the inner loop twice, the other not at all: in the second round they are together again.
  Path a = after(c, {&c.head, &c.inner, &c.inner, &c.tail, &c.head});
  Path b = after(c, {&c.head, &c.tail, &c.head});
  CHECK(a.hash() == b.hash());
  a.enter(&c.inner);
  b.enter(&c.inner);
  CHECK(a.hash() == b.hash());
  b.enter(&c.inner);
  CHECK(a.hash() != b.hash());
  a.enter(&c.tail);
  b.enter(&c.tail);
  CHECK(a.hash() == b.hash());
  a.enter(&c.head);
  CHECK(a.hash() != b.hash());
  a.enter(&c.end);
  b.enter(&c.end);
  CHECK(a.hash() == b.hash());
}

TEST_CASE("calls from two places are two paths") {
  Code c;
  Path a = start(c), b = start(c);
  a.call(11);
  b.call(12);
  CHECK(a.hash() != b.hash());
  a.leave();
  b.leave();
  CHECK(a.hash() == b.hash());
}

TEST_CASE("a leaf function without a call of its own changes nothing") {
  Code c, other;
  other.head.function = 200;
  Path a = after(c, {&c.head}), b = a;
  b.enter(&other.head);
  b.enter(&other.head);
  CHECK(a.hash() == b.hash());
}

TEST_CASE("the order of the program") {
  Code c;
  Path entry = start(c);
  Path first = after(c, {&c.head});
  Path inner = after(c, {&c.head, &c.inner, &c.inner});
  Path second = after(c, {&c.head, &c.tail, &c.head});
  Path end = after(c, {&c.head, &c.tail, &c.end});
  const Path* order[] = {&entry, &first, &inner, &second, &end};
  for (int i = 0; i < 5; ++i)
    for (int k = 0; k < 5; ++k) {
      INFO(i << " before " << k);
      CHECK(order[i]->before(*order[k]) == (i < k));
    }
  // The kernel's own frame stays when it returns: a finished lane is behind all others.
  Path done = end;
  done.leave();
  CHECK(second.before(done));
  CHECK_FALSE(done.before(second));
}
