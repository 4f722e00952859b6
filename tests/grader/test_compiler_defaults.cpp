// Compilers as distributions set them up: a submission counts the same with the options that Ubuntu, Fedora, RHEL, Arch,
// openSUSE, NixOS and Gentoo add to GCC and Clang, as defaults or for their packages. A wrapper adds them here, in front
// of ridge's own options, as a default stands, or behind them, where they win. A compiler that is broken is told as such.
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <sstream>

#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge::test;
namespace fs = std::filesystem;

namespace {

struct Set {
  const char* of;
  const char* flags;
  bool both = true;  // behind ridge's options, too: what is not overridden must not spoil the counts
};

// wiki.ubuntu.com/ToolChain/CompilerFlags, dpkg-buildflags, redhat-rpm-config's buildflags.md, makepkg.conf, the package
// rpm-config-SUSE, nixpkgs' cc-wrapper, Gentoo's Hardened/Toolchain, GCC's -fhardened.
const std::vector<Set>& sets() {
  static const std::vector<Set> all = {
      {"Ubuntu 24.04's GCC",
       "-fcf-protection=full -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=3 -Wformat "
       "-Wformat-security -fPIE -pie -Wl,-z,relro -Wl,-z,now -Wl,--as-needed"},
      {"Ubuntu 24.04's packages",
       "-g -O2 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -flto=auto -ffat-lto-objects "
       "-fstack-protector-strong -fstack-clash-protection -Wformat -Werror=format-security -fcf-protection "
       "-D_FORTIFY_SOURCE=3 -Wl,-Bsymbolic-functions -Wl,-z,relro -Wl,-z,now",
       false},
      {"Fedora's and RHEL's packages",
       "-O2 -flto=auto -ffat-lto-objects -fexceptions -g -grecord-gcc-switches -pipe -Wall -Werror=format-security "
       "-Wp,-U_FORTIFY_SOURCE,-D_FORTIFY_SOURCE=3 -Wp,-D_GLIBCXX_ASSERTIONS -fstack-protector-strong -m64 "
       "-march=x86-64-v3 -fasynchronous-unwind-tables -fstack-clash-protection -fcf-protection "
       "-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -Wl,-z,relro -Wl,--as-needed -Wl,-z,now "
       "-Wl,--build-id=sha1",
       false},
      {"Fedora's and RHEL's GCC, which makes no position-independent programs", "-fno-pie -no-pie"},
      {"Arch's packages",
       "-march=x86-64 -mtune=generic -O2 -pipe -fno-plt -fexceptions -Wp,-D_FORTIFY_SOURCE=3 -Wformat "
       "-Werror=format-security -fstack-clash-protection -fcf-protection -fno-omit-frame-pointer "
       "-mno-omit-leaf-frame-pointer -Wp,-D_GLIBCXX_ASSERTIONS -Wl,-O1 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro "
       "-Wl,-z,now"},
      {"openSUSE's packages",
       "-O2 -Wall -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -funwind-tables "
       "-fasynchronous-unwind-tables -fstack-clash-protection -Werror=return-type -g"},
      {"NixOS's compilers",
       "-fPIC -Wformat -Wformat-security -Werror=format-security -fstack-protector-strong --param=ssp-buffer-size=4 "
       "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fno-strict-overflow -fzero-call-used-regs=used-gpr "
       "-fstack-clash-protection"},
      {"Gentoo's hardened compilers",
       "-fstack-protector-strong -fstack-clash-protection -fcf-protection -D_FORTIFY_SOURCE=3 -D_GLIBCXX_ASSERTIONS "
       "-ftrivial-auto-var-init=zero -fPIE -pie -Wl,-z,relro -Wl,-z,now"},
      {"GCC 14's -fhardened", "-fhardened"},
  };
  return all;
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

// Flags that change code or sections, and what assemblers and linkers may be told.
const std::vector<std::string>& single_flags() {
  static const std::vector<std::string> all = {"-fcf-protection=full",
                                               "-fcf-protection=branch",
                                               "-fstack-protector-strong",
                                               "-fstack-protector-all",
                                               "-fstack-clash-protection",
                                               "-D_FORTIFY_SOURCE=3",
                                               "-Wp,-D_GLIBCXX_ASSERTIONS",
                                               "-ftrivial-auto-var-init=zero",
                                               "-fno-omit-frame-pointer",
                                               "-fno-plt",
                                               "-fPIC",
                                               "-fno-strict-overflow",
                                               "-fzero-call-used-regs=used-gpr",
                                               "-frecord-gcc-switches",
                                               "-gdwarf-5",
                                               "-Wa,-mx86-used-note=yes",
                                               "-Wa,--generate-missing-build-notes=yes",
                                               "-Wl,-z,pack-relative-relocs"};
  return all;
}

// Shared and local memory, a large frame, a switch, a copy, an assertion and a print; the answer is plain.
constexpr const char* kCopy = R"(#include "coalescing.hpp"
#include <cassert>
#include <cstdio>
#include <cstring>
struct Pair { float value; int place; };
__device__ __attribute__((noinline)) float chosen(int which, const float* from) {
  switch (which) {
    case 0: return from[0];
    case 1: return from[1] + from[2];
    case 2: return from[3] * from[4];
    case 3: return -from[5];
    case 4: return from[6] - 1;
    case 5: return from[7] * 3;
    default: return 0;
  }
}
__global__ void copy_kernel(const float* in, float* out, std::size_t n) {
  __shared__ float tile[256];
  const std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  float local[8], large[1500];
  for (int k = 0; k < 8; ++k) local[k] = static_cast<float>(k + 1);
  for (int k = 0; k < 1500; k += 500) large[k] = local[k % 8];
  assert(blockDim.x == 256);
  if (i < n) tile[threadIdx.x] = in[i];
  __syncthreads();
  if (i >= n) return;
  Pair pair = {tile[threadIdx.x], static_cast<int>(i)}, other;
  std::memcpy(&other, &pair, sizeof pair);
  if (chosen(static_cast<int>(threadIdx.x % 8), local) > 1e6f + large[threadIdx.x % 3 * 500]) printf("%d\n", other.place);
  out[i] = other.value;
}
void copy(const float* in, float* out, std::size_t n, void*, std::size_t, cudaStream_t stream) {
  copy_kernel<<<static_cast<unsigned>((n + 255) / 256), 256, 0, stream>>>(in, out, n);
}
)";

// A compiler with options that can be changed, in a folder that the sandbox shows. The wrapper stays the same file, so that ridge keeps the objects of the
// lab's other sources; copy.cu is another one each time.
class Wrapped {
 public:
  explicit Wrapped(const std::string& compiler) : compiler_(compiler) {
    fs::copy(repository() + "/solutions/01_coalescing", home_ / "submission");
    fs::create_directories(home_ / "toolchain/bin");
    chmod(home_.path.c_str(), 0755);  // root's compilers run as another user
    set("", "");
    write_file(wrapper(), "#!/bin/sh\nhere=" + (home_ / "toolchain/bin") + "\nexec " + compiler +
                              " $(cat $here/before) \"$@\" $(cat $here/after)\n");
    chmod(wrapper().c_str(), 0755);
  }

  Graded check(const std::string& before, const std::string& after) {
    set(before, after);
    write_file(home_ / "submission/copy.cu", kCopy + ("// " + std::to_string(++count_) + "\n"));
    auto env = environment(home_);
    env["RIDGE_CACHE"] = home_ / "cache";
    env["RIDGE_CXX"] = wrapper();
    const std::string file = home_ / "result.json";
    fs::remove(file);
    Graded g{run({ridge_program(), "check", "01", "--backend", "cpu", "--task", "copy", "--submission",
                  home_ / "submission", "--json", file},
                 env, 60),
             nullptr};
    if (fs::exists(file)) g.result = json::parse(read_file(file));
    return g;
  }

  // The flags that the compiler takes; the others are named in `unknown`.
  std::string known(const std::string& flags, std::string& unknown) {
    if (takes(words(flags))) return flags;
    std::string taken;
    for (const std::string& flag : words(flags)) (takes({flag}) ? taken : unknown) += flag + " ";
    return taken;
  }

  // `copy_kernel`'s counters. `code`: also those of the processor's own instructions.
  static json counters(const Graded& g, bool code) {
    json all = json::array();
    if (!g.task("copy").is_object()) return all;
    for (const json& kernel : g.task("copy")["kernels"]) {
      json counts = kernel["counters"];
      if (!code)
        for (const char* name :
             {"ridge__warp_instructions.sum", "ridge__lane_instructions.sum", "ridge__warp_basic_blocks.sum",
              "ridge__lane_basic_blocks.sum", "ridge__requests_local_op_ld.sum", "ridge__requests_local_op_st.sum",
              "ridge__longest_thread_instructions.max", "ridge__load_waits.sum"})
          counts.erase(name);
      all.push_back(counts);
    }
    return all;
  }

 private:
  std::string wrapper() const { return home_ / "toolchain/bin/cxx"; }
  void set(const std::string& before, const std::string& after) {
    write_file(home_ / "toolchain/bin/before", before);
    write_file(home_ / "toolchain/bin/after", after);
  }
  bool takes(std::vector<std::string> flags) {
    write_file(home_ / "empty.cpp", "int main() {}\n");
    flags.insert(flags.begin(), compiler_);
    flags.insert(flags.end(), {"-O1", home_ / "empty.cpp", "-o", home_ / "empty"});
    return run(flags).code == 0;
  }

  Folder home_;
  std::string compiler_;
  int count_ = 0;
};

struct Told {
  std::vector<std::string> problems, unknown;
  int compared = 0;
};

// `all`: each set and each flag alone; otherwise Ubuntu's compiler and all flags at once.
Told compare(Wrapped& wrapped, bool all) {
  Told told;
  const Graded plain = wrapped.check("", "");
  auto expect = [&](const std::string& what, const Graded& g, bool code) {
    ++told.compared;
    // Its large frame is local memory, which costs points: exit code 1.
    if (g.run.code > 1 || !g.task("copy").is_object() || g.task("copy").value("points", 0.0) < 5)
      told.problems.push_back(what + ": exit code " + std::to_string(g.run.code) + "\n" + g.run.out + g.run.err);
    else if (Wrapped::counters(g, code) != Wrapped::counters(plain, code))
      told.problems.push_back(what + ": " + Wrapped::counters(g, code).dump() + " without it " +
                              Wrapped::counters(plain, code).dump());
  };
  expect("plain", plain, true);
  if (told.problems.empty() && Wrapped::counters(plain, true).empty()) told.problems.push_back("no counters");
  if (!told.problems.empty()) return told;
  for (const Set& s : sets()) {
    if (!all && &s != &sets().front()) break;
    std::string unknown;
    const std::string flags = wrapped.known(s.flags, unknown);
    if (!unknown.empty()) told.unknown.push_back(std::string(s.of) + ": " + unknown);
    if (flags.empty()) continue;
    expect(std::string(s.of) + ", before", wrapped.check(flags, ""), true);
    if (s.both) expect(std::string(s.of) + ", behind", wrapped.check("", flags), false);
  }
  std::string together;
  for (const std::string& flag : single_flags()) {
    std::string unknown;
    if (wrapped.known(flag, unknown).empty()) continue;  // told with its set
    together += flag + " ";
    if (all) expect(flag, wrapped.check("", flag), false);
  }
  if (!all) expect("all flags", wrapped.check("", together), false);
  return told;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

void counts_stay(bool all) {
  // All wrappers are written before the first one runs: a process that starts meanwhile would hold one open, and nobody
  // can execute it then.
  std::vector<std::pair<std::string, std::unique_ptr<Wrapped>>> wrapped;
  for (const char* compiler : {"g++", "clang++"}) {
    if (run({"sh", "-c", std::string("command -v ") + compiler}).code == 0)
      wrapped.emplace_back(compiler, std::make_unique<Wrapped>(compiler));
    else
      WARN("not tested: no " << compiler);
  }
  REQUIRE_FALSE(wrapped.empty());
  std::vector<std::future<Told>> running;
  for (auto& [compiler, w] : wrapped) running.push_back(std::async(std::launch::async, compare, std::ref(*w), all));
  for (std::size_t i = 0; i < running.size(); ++i) {
    const std::string& compiler = wrapped[i].first;
    const Told told = running[i].get();
    for (const std::string& unknown : told.unknown) WARN(compiler << " does not know, of " << unknown);
    for (const std::string& problem : told.problems) {
      INFO(compiler << ", " << problem);
      CHECK(false);
    }
    if (all)
      CHECK(told.compared > 25);
    else
      CHECK(told.compared == 4);
  }
}

}  // namespace

TEST_CASE("a submission counts the same whatever Ubuntu adds to the compiler") { counts_stay(false); }

TEST_CASE("a submission counts the same whatever a distribution adds to the compiler", "[.slow]") { counts_stay(true); }

TEST_CASE("a compiler that is broken is never the submission's fault") {
  const char* compiler = GENERATE("g++", "clang++");
  if (run({"sh", "-c", std::string("command -v ") + compiler}).code != 0) return;
  struct Broken {
    const char *after, *told, *advice;
  };
  // In the order: no C++ library, no linker, what is no machine code, a complaint about everything.
  for (const Broken& b :
       {Broken{"-nostdinc++", "file not found|No such file", "install the C++ library"},
        Broken{"-fuse-ld=none_such", "none_such|linker", "RIDGE_CXX"}, Broken{"-flto=auto", "-flto", "RIDGE_CXX"},
        Broken{"-include /none/such.h", "/none/such.h", "RIDGE_CXX"},
        Broken{"-mcmodel=none_such", "none_such", "RIDGE_CXX"}}) {
    Wrapped wrapped(compiler);
    const Graded g = wrapped.check("", b.after);
    const std::string said = g.run.out + g.run.err;
    INFO(compiler << " " << b.after << "\n" << said);
    CHECK(g.run.code == 3);
    CHECK_FALSE(has(said, "the submission did not build"));
    CHECK_FALSE(has(said, "may not"));
    const std::string one = std::string(b.told).substr(0, std::string(b.told).find('|'));
    const std::string other = std::string(b.told).substr(std::min(one.size() + 1, std::string(b.told).size()));
    CHECK((has(said, one) || (!other.empty() && has(said, other))));
    CHECK(has(said, b.advice));
  }
  // No compiler at all, and one that is too old.
  Folder home;
  const std::string old = home / "old";
  write_file(old, "#!/bin/sh\necho 11.4.0\n");
  chmod(old.c_str(), 0755);
  for (const auto& [program, told] :
       {std::pair{"/bin/true", "does not say which version"}, std::pair{old.c_str(), "g++ 11.4.0 is too old"},
        std::pair{"/none/such", "RIDGE_CXX names /none/such"}}) {
    auto env = environment(home);
    env["RIDGE_CXX"] = program;
    const Run r = run(
        {ridge_program(), "check", "01", "--backend", "cpu", "--submission", repository() + "/solutions/01_coalescing"},
        env, 30);
    INFO(r.out + r.err);
    CHECK(r.code == 3);
    CHECK(has(r.out + r.err, told));
  }
}

TEST_CASE("a submission that is wrong is told so with any compiler") {
  const char* compiler = GENERATE("g++", "clang++");
  if (run({"sh", "-c", std::string("command -v ") + compiler}).code != 0) return;
  Folder home;
  for (const auto& [line, told] :
       {std::pair{"int x = missing;", "copy.cu:1:9: error:"}, std::pair{"#include <none_such.h>", "none_such.h"},
        std::pair{"__attribute__((section(\".note.gnu.property\"))) int x = 1;",
                  "copy.cu:1: error: the attribute 'section' is not allowed"}}) {
    fs::remove_all(home / "submission");
    fs::copy(repository() + "/solutions/01_coalescing", home / "submission");
    write_file(home / "submission/copy.cu", line + ("\n" + read_file(home / "submission/copy.cu")));
    auto env = environment(home);
    env["RIDGE_CXX"] = compiler;
    const Run r =
        run({ridge_program(), "check", "01", "--backend", "cpu", "--task", "copy", "--submission", home / "submission"},
            env, 60);
    INFO(compiler << "\n" << r.out + r.err);
    CHECK(r.code == 4);
    CHECK(has(r.out + r.err, told));
  }
}

// A shadow stack, which the C library would give to a program that asks for one, ends it at the first switch of fibers.
TEST_CASE("programs of the emulator ask for no shadow stack") {
  Folder home;
  const std::string flags = "-fcf-protection=full";
  Run built = run(
      {ridge_program(), "cc", "-Xcompiler", flags, repository() + "/tests/simt/programs/axpy.cu", "-o", home / "axpy"},
      environment(home), 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  CHECK(run({home / "axpy"}, {}, 20).code == 0);
  const fs::path lib = fs::path(ridge_program()).parent_path().parent_path() / "lib";
  for (const std::string& file :
       {home / "axpy", (lib / "ridge_worker_sealed.o").string(), (lib / "libridge_simt.a").string()})
    CHECK_FALSE(has(run({"readelf", "-nW", file}).out, "SHSTK"));
}
