// The sanitizer by itself: accesses of made-up threads to real memory.
#include <cstdint>
#include <thread>
#include <vector>

#include "src/device/memory.hpp"
#include "src/sanitize/findings.hpp"
#include "src/sanitize/sanitizer.hpp"
#include "support/catch.hpp"

using namespace ridge::simt;

namespace {

constexpr AccessKind kLoad = AccessKind::load, kStore = AccessKind::store, kAtomic = AccessKind::atomic;

// One block; program offsets stand for source lines.
class Block {
 public:
  explicit Block(std::uint64_t launch = 1, std::uint64_t block = 0, unsigned threads = 128) {
    const unsigned index[3] = {static_cast<unsigned>(block), 0, 0}, dim[3] = {threads, 1, 1};
    sanitizer.begin_block("kernel", launch, block, index, dim);
  }
  template <class T>
  void touch(AccessKind kind, unsigned thread, T* p, std::uint32_t pc, bool shared, bool is_volatile = false) {
    sanitizer.access({reinterpret_cast<std::uintptr_t>(p), sizeof(T), kind, is_volatile, pc, thread, shared});
  }
  // A store does what a kernel would do right after the hook.
  template <class T>
  void store(unsigned thread, T* p, T value, std::uint32_t pc, bool shared = true) {
    touch(kStore, thread, p, pc, shared);
    *p = value;
  }
  template <class T>
  void load(unsigned thread, T* p, std::uint32_t pc, bool shared = true) {
    touch(kLoad, thread, p, pc, shared);
  }
  template <class T>
  void atomic(unsigned thread, T* p, std::uint32_t pc, bool shared = true) {
    touch(kAtomic, thread, p, pc, shared);
    *p = static_cast<T>(*p + 1);
  }
  Sanitizer sanitizer;
};

// What was found since the last call: "race on shared memory 2 1" with the program offsets.
std::vector<std::string> found() {
  std::vector<std::string> list;
  for (const Finding& f : findings())
    list.push_back(f.kind + " " + std::to_string(f.at.pc) + (f.race ? " " + std::to_string(f.other.pc) : ""));
  clear_findings();
  return list;
}

using List = std::vector<std::string>;

template <class T>
T* device(std::size_t count, bool initialised = true) {
  auto* p = static_cast<T*>(DeviceMemory::instance().allocate(count * sizeof(T), MemoryKind::device));
  Sanitizer::allocated(reinterpret_cast<std::uintptr_t>(p), count * sizeof(T), initialised);
  return p;
}

struct On {
  On() {
    Sanitizer::enable(true);
    found();
  }
  ~On() { Sanitizer::enable(false); }
};

}  // namespace

TEST_CASE("a store and another thread's load need a barrier") {
  On on;
  int box[4] = {};
  Block b;
  b.store(0, &box[0], 5, 1);
  b.load(0, &box[0], 2);
  b.sanitizer.barrier();
  b.load(40, &box[0], 3);
  b.sanitizer.end_block();
  CHECK(found().empty());

  b.store(0, &box[1], 5, 1);
  b.load(40, &box[1], 2);
  b.sanitizer.end_block();
  CHECK(found() == List{"race on shared memory 2 1"});

  b.sanitizer.barrier();
  b.load(3, &box[1], 4);
  b.store(70, &box[1], 6, 5);
  b.sanitizer.end_block();
  CHECK(found() == List{"race on shared memory 5 4"});
}

TEST_CASE("lanes are ordered by meetings, and by chains of them") {
  On on;
  int box[4] = {};
  Block b;
  b.store(0, &box[0], 5, 1);
  b.sanitizer.warp_sync(0, 0x3);
  b.load(1, &box[0], 2);
  b.sanitizer.warp_sync(0, 0x6);
  b.load(2, &box[0], 3);
  b.sanitizer.end_block();
  CHECK(found().empty());

  b.load(3, &box[0], 4);  // was at neither
  CHECK(found() == List{"race on shared memory 4 1"});
  b.sanitizer.warp_sync(0, ~0u);
  b.load(3, &box[0], 6);
  CHECK(found().empty());
  b.load(33, &box[0], 7);  // another warp
  CHECK(found() == List{"race on shared memory 7 1"});
}

TEST_CASE("what a meeting of lanes orders is what came before it") {
  On on;
  int box = 0;
  Block b;
  b.sanitizer.warp_sync(0, ~0u);
  b.store(0, &box, 5, 1);
  b.load(1, &box, 2);
  CHECK(found() == List{"race on shared memory 2 1"});
}

TEST_CASE("stores of the same value are no race, and hide none") {
  On on;
  int box = 0;
  Block b;
  b.store(0, &box, 1, 1);
  b.store(40, &box, 1, 1);
  b.store(80, &box, 1, 1);
  b.sanitizer.end_block();
  CHECK(found().empty());
  b.store(90, &box, 2, 3);
  b.sanitizer.end_block();
  CHECK(found() == List{"race on shared memory 3 1"});
}

TEST_CASE("bytes of a word are told apart") {
  On on;
  alignas(4) char box[8] = {};
  Block b;
  for (unsigned t = 0; t < 8; ++t) b.store(t, &box[t], static_cast<char>(t + 1), 1);
  for (unsigned t = 0; t < 8; ++t) b.load(t, &box[t], 2);
  b.sanitizer.end_block();
  CHECK(found().empty());
  b.load(9, reinterpret_cast<int*>(box), 3);
  CHECK(found() == List{"race on shared memory 3 1"});
}

TEST_CASE("atomics exclude each other, not plain accesses; loops of atomicCAS begin with a load") {
  On on;
  int box = 0;
  Block b;
  b.store(0, &box, 0, 1);
  b.sanitizer.barrier();
  for (unsigned t = 0; t < 100; t += 9) b.atomic(t, &box, 2);
  for (unsigned t = 0; t < 100; t += 9) {
    b.load(t, &box, 3);
    b.atomic(t, &box, 4);
  }
  b.sanitizer.end_block();
  CHECK(found().empty());
  b.load(5, &box, 6);
  b.sanitizer.end_block();
  CHECK(found() == List{"race on shared memory 6 4"});
  b.store(7, &box, 70, 8);
  b.sanitizer.end_block();
  CHECK(found() == List{"race on shared memory 8 4"});
}

TEST_CASE("blocks are not ordered, launches and grid barriers are") {
  On on;
  int* p = device<int>(4);
  Block a(10, 0), b(10, 1);
  a.store(0, &p[0], 1, 1, false);
  b.load(0, &p[0], 2, false);
  b.sanitizer.end_block();
  CHECK(found() == List{"race between blocks 2 1"});

  Block c(11, 0);
  c.load(0, &p[0], 3, false);
  c.sanitizer.end_block();
  CHECK(found().empty());

  a.store(0, &p[1], 1, 1, false);
  for (Block* each : {&a, &b}) {
    each->sanitizer.barrier();
    each->sanitizer.grid_sync();
  }
  b.load(0, &p[1], 2, false);
  b.store(0, &p[1], 7, 2, false);
  b.sanitizer.end_block();
  CHECK(found().empty());
}

TEST_CASE("a fence orders a block's stores for blocks that look at an atomic or volatile afterwards") {
  On on;
  int* p = device<int>(4);
  const bool fenced = GENERATE(true, false), looks = GENERATE(true, false);
  const std::uint64_t launch = 20 + 2 * fenced + looks;
  Block a(launch, 0), b(launch, 1);
  a.store(0, &p[0], 1, 1, false);
  if (fenced) a.sanitizer.fence(0, 1);
  a.touch(kStore, 0, &p[1], 2, false, true);
  p[1] = 1;
  if (looks) b.touch(kLoad, 0, &p[1], 3, false, true);
  b.load(0, &p[0], 4, false);
  b.sanitizer.end_block();
  CHECK(found() == (fenced && looks ? List{} : List{"race between blocks 4 1"}));
}

TEST_CASE("races between blocks are found whichever block comes first, on several OS threads") {
  On on;
  int* p = device<int>(1 << 12);
  for (bool swap : {false, true}) {
    Block a(30 + swap, swap), b(30 + swap, !swap);
    std::thread other([&] {
      for (int i = 0; i < 1 << 12; ++i) b.load(5, &p[i], 2, false);
    });
    for (int i = 0; i < 1 << 12; ++i) a.store(4, &p[i], i + 1 + swap, 1, false);
    other.join();
    a.sanitizer.end_block();
    b.sanitizer.end_block();
    CHECK(found().size() == 1);
  }
}

TEST_CASE("reads of memory that was never written") {
  On on;
  float* p = device<float>(64, false);
  auto begin = reinterpret_cast<std::uintptr_t>(p);
  Block b(40, 0);
  Sanitizer::written(begin, 33);  // the ninth float in part
  for (unsigned t = 0; t < 9; ++t) b.load(t, &p[t], 1, false);
  b.sanitizer.end_block();
  CHECK(found().empty());
  b.load(9, &p[9], 2, false);
  b.sanitizer.end_block();
  CHECK(found() == List{"uninitialised global load of 4 bytes 2"});
  b.store(1, &p[10], 1.0f, 3, false);
  b.load(1, &p[10], 3, false);
  b.load(1, reinterpret_cast<double*>(&p[10]), 4, false);  // half of it is there
  b.sanitizer.end_block();
  CHECK(found().empty());

  int tile[4] = {-1, -1, -1, -1};  // as the runner fills it
  b.store(0, &tile[0], 1, 5);
  b.load(0, &tile[1], 6);
  b.sanitizer.end_block();
  CHECK(found() == List{"uninitialised shared load of 4 bytes 6"});
  tile[0] = -1;
  Block next(40, 1);
  next.load(0, &tile[0], 7);  // what the last block left
  next.sanitizer.end_block();
  CHECK(found() == List{"uninitialised shared load of 4 bytes 7"});
}

TEST_CASE("gaps in struct copies are padding, longer ones are not") {
  On on;
  int* p = device<int>(64, false);
  Block b(50, 0);
  b.store(0, &p[0], 1, 1, false);
  b.store(0, &p[2], 1, 1, false);
  for (int i = 0; i < 4; ++i) b.load(0, &p[i], 2, false);  // p[1] and p[3] are gaps of four bytes
  b.sanitizer.end_block();
  CHECK(found().empty());
  for (int i = 2; i < 6; ++i) b.load(0, &p[i], 3, false);
  b.sanitizer.end_block();
  CHECK(found() == List{"uninitialised global load of 4 bytes 3"});
}
