// The pass over the compiler's assembly: flow graphs and their loops, instruction mixes, red zones, shared memory; and
// the records as a linked program sees them.
#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "simt/rewrite/assembly/assembly.hpp"
#include "simt/rewrite/assembly/flow_order.hpp"
#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::simt;
using namespace ridge::test;

namespace {

// A record as the text has it: numbers of other records, -1 for none.
struct Record {
  std::string function;
  int loop = -1, outer = -1, position = 0, depth = 0, entry = 0, instructions = 0, fp32 = 0, fp64 = 0, special = 0;
  int waits = 0;
};

int record_number(const std::string& text) { return text == "0" ? -1 : std::stoi(text.substr(9)); }

std::vector<Record> records(const std::string& text) {
  std::vector<Record> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind(".Lridge_r", 0) != 0) continue;
    REQUIRE(record_number(line) == static_cast<int>(found.size()));
    Record r;
    std::string word, loop, outer;
    char comma = 0;
    lines >> word >> r.function >> word >> loop >> word >> outer >> word >> r.position >> word >> r.depth >> comma >>
        r.entry >> comma >> r.instructions >> comma >> r.fp32 >> comma >> r.fp64 >> comma >> r.special;
    int registers = 0;
    lines >> word >> word >> word >> word >> word >> registers >> comma >> r.waits;
    r.loop = record_number(loop);
    r.outer = record_number(outer);
    found.push_back(r);
  }
  return found;
}

// A function of these lines, "T" being a call of the coverage hook.
std::string function(const std::string& body, const std::string& call = "\tcallq\t__sanitizer_cov_trace_pc@PLT") {
  std::string text = "\t.text\n\t.globl\tf\n\t.type\tf, @function\nf:\n";
  std::istringstream lines(body);
  for (std::string line; std::getline(lines, line);) text += (line == "T" ? call : line) + "\n";
  return text + "\t.size\tf, .-f\n";
}

std::vector<Record> flow(const std::string& body) { return records(annotate_assembly(function(body)).text); }

struct Place {
  int loop, outer, position, depth;
};

void check_places(const std::vector<Record>& found, const std::vector<Place>& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    INFO("record " << i);
    CHECK(found[i].loop == wanted[i].loop);
    CHECK(found[i].outer == wanted[i].outer);
    CHECK(found[i].position == wanted[i].position);
    CHECK(found[i].depth == wanted[i].depth);
    CHECK(found[i].entry == (i == 0 ? 1 : 0));
  }
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("hooks of basic blocks get a record") {
  for (const char* call : {"\tcallq\t__sanitizer_cov_trace_pc@PLT", "\tcall\t__sanitizer_cov_trace_pc",
                           "\tcall\t*__sanitizer_cov_trace_pc@GOTPCREL(%rip)"}) {
    std::string text = annotate_assembly(function("T\n\tret", call)).text;
    INFO(text);
    CHECK(contains(text, "f:\n.Lridge_b0:\n\tleaq\t.Lridge_r0(%rip), %rdi\n\tcall\t__ridge_block@PLT\n\tret\n"));
    CHECK(contains(text, "\t.section\tridge_blocks,\"aw\",@progbits\n"));
    CHECK(records(text).at(0).function == "f");
    CHECK(!contains(text, "trace_pc"));
  }
  std::string tail = annotate_assembly(function("\tjmp\t__sanitizer_cov_trace_pc@PLT")).text;
  CHECK(contains(tail, "%rdi\n\tjmp\t__ridge_block@PLT\n"));
  CHECK(records(tail).size() == 1);
}

TEST_CASE("branches without loops") {
  // if (a) 1 else 2; 3
  check_places(flow("T\n\tje\t.LBB0_2\nT\n\tjmp\t.LBB0_3\n.LBB0_2:\nT\n.LBB0_3:\nT\n\tretq"),
               {{-1, -1, 0, 0}, {-1, -1, 2, 0}, {-1, -1, 1, 0}, {-1, -1, 3, 0}});
  // Two exits; __assert_fail does not come back, so the code behind it has another way in.
  check_places(flow("T\n\tje\t.L2\nT\n\tcall\t__assert_fail@PLT\n.L2:\nT\n\tret"),
               {{-1, -1, 0, 0}, {-1, -1, 2, 0}, {-1, -1, 1, 0}});
}

TEST_CASE("nested loops, with continue and break") {
  // 0; for (1) { for (2) { if (3) continue; if (4) break; 5 } 6 } 7
  auto found = flow(R"(T
.L1:
T
.L2:
T
	testl %eax, %eax
	jne .L2
T
	jne .L6
T
	jmp .L2
.L6:
T
	cmpl %eax, %ebx
	jne .L1
T
	ret)");
  check_places(
      found,
      {{-1, -1, 0, 0}, {1, -1, 1, 1}, {2, 1, 2, 2}, {2, -1, 3, 2}, {2, -1, 4, 2}, {1, -1, 5, 1}, {-1, -1, 6, 0}});
}

TEST_CASE("a loop that jumps to its test, and a block that loops to itself") {
  // GCC: jmp test; body; test: if (...) goto body
  check_places(flow("T\n\tjmp\t.L3\n.L2:\nT\n.L3:\nT\n\tjne\t.L2\nT\n\tret"),
               {{-1, -1, 0, 0}, {2, -1, 2, 1}, {2, -1, 1, 1}, {-1, -1, 3, 0}});
  check_places(flow("T\n.L2:\nT\n\tjne\t.L2\nT\n\tret"), {{-1, -1, 0, 0}, {1, -1, 1, 1}, {-1, -1, 2, 0}});
}

TEST_CASE("irreducible control flow has loops too") {
  // 0 enters the cycle of 1 and 2 at either.
  auto found = flow("T\n\tje\t.L2\n.L1:\nT\n.L2:\nT\n\tjne\t.L1\nT\n\tret");
  REQUIRE(found.size() == 4);
  CHECK(found[1].loop == found[2].loop);
  CHECK((found[1].loop == 1 || found[1].loop == 2));
  CHECK(found[1].depth == 1);
  CHECK(found[3].depth == 0);
  CHECK(found[3].position == 3);
}

TEST_CASE("blocks without a hook join the flow between their neighbours") {
  // Comparisons of a switch, and a prologue.
  auto found = flow(R"(	pushq %rbx
	movl %edi, %ebx
T
	cmpl $2, %ebx
	jg .L4
	cmpl $1, %ebx
	je .L5
	jmp .L6
.L4:
	cmpl $3, %ebx
	je .L5
	jmp .L6
.L5:
T
.L6:
T
	popq %rbx
	ret)");
  check_places(found, {{-1, -1, 0, 0}, {-1, -1, 1, 0}, {-1, -1, 2, 0}});
}

TEST_CASE("an indirect jump goes to the labels of its table") {
  std::string text = function("T\n.L9:\n\tjmp\t*(%rax)\n.L1:\nT\n\tjmp\t.L9\n.L2:\nT\n\tret") +
                     "\t.section\t.rodata\n\t.quad\t.L1\n\t.quad\t.L2\n";
  check_places(records(annotate_assembly(text).text), {{-1, -1, 0, 0}, {1, -1, 1, 1}, {-1, -1, 2, 0}});
  // Without a table it leaves the function.
  check_places(flow("T\n\tjmp\t*%rax\n.L1:\nT\n\tret"), {{-1, -1, 1, 0}, {-1, -1, 0, 0}});
}

TEST_CASE("the weak topological order of deep and of long graphs") {
  // n loops in one another, then a chain of a hundred thousand.
  constexpr int kDeep = 300, kLong = 100000;
  FlowGraph graph;
  graph.entries = {0};
  for (int i = 0; i < kDeep + kLong; ++i) {
    graph.successors.push_back({i + 1});
    if (i >= kDeep && i < 2 * kDeep) graph.successors.back().push_back(2 * kDeep - 1 - i);
  }
  graph.successors.back().clear();
  auto places = weak_topological_order(graph);
  CHECK(places[kDeep - 1].depth == kDeep);
  CHECK(places[kDeep - 1].outer == kDeep - 2);
  CHECK(places[2 * kDeep].depth == 0);
  CHECK(places.back().position == kDeep + kLong - 1);
}

TEST_CASE("the mix leaves instrumentation and stack traffic out") {
  auto found = flow(R"(	pushq %rbx
	subq $56, %rsp
	movq 64(%rsp), %rdi
	callq __tsan_func_entry@PLT
T
	leaq (%rbx,%rbp,4), %rdi
	movq %rdi, 32(%rsp)                  # 8-byte Spill
	callq __tsan_read4@PLT
	movss (%rbx,%rbp,4), %xmm0            # xmm0 = mem[0],zero,zero,zero
	mulss %xmm0, %xmm0
	addss 12(%rsp), %xmm0                 # 4-byte Folded Reload
	addps %xmm1, %xmm2
	vfmadd231ss %xmm1, %xmm2, %xmm3
	subsd %xmm1, %xmm2
	divss %xmm0, %xmm1
	sqrtsd %xmm0, %xmm0
	callq fmaf@PLT
	callq expf@PLT
	movq %fs:0, %rax
	leaq (%rax,%rbp,4), %rdi
	addq $tile@TPOFF, %rdi
	callq __tsan_write4@PLT
	movss %xmm0, %fs:tile@TPOFF(,%rbp,4)
	addq $56, %rsp
	popq %rbx
	retq)");
  REQUIRE(found.size() == 1);
  CHECK(found[0].instructions == 11);
  CHECK(found[0].fp32 == 1 + 1 + 4 + 2 + 2);
  CHECK(found[0].fp64 == 1);
  CHECK(found[0].special == 3);
}

TEST_CASE("what a branch jumps over may keep the value that was there") {
  // x = in[i]; if (!inside) x = 0; tile[i] = x, of which the compiler traces no block but the first.
  const std::string load = "T\n\tmovss (%rdi,%rax,4), %xmm0\n\tcmpl %ecx, %eax\n\tjl .L1\n";
  const std::string use = ".L1:\n\tmovss %xmm0, %fs:tile@TPOFF(,%rax,4)\n\tretq";
  CHECK(flow(load + "\txorps %xmm0, %xmm0\n" + use)[0].waits == 1);
  // Without the branch it is always 0.
  CHECK(flow("T\n\tmovss (%rdi,%rax,4), %xmm0\n\txorps %xmm0, %xmm0\n" + use)[0].waits == 0);
}

TEST_CASE("copies that the compiler left as calls are counted") {
  std::string text = annotate_assembly(function("\tcall\tmemcpy@PLT\n\tjmp\tmemset\n\tcall\tmemcpy_async")).text;
  CHECK(contains(text, "\tcall\t__tsan_memcpy@PLT\n\tjmp\t__tsan_memset\n"));
  CHECK(contains(text, "\tcall\tmemcpy_async\n"));
}

TEST_CASE("calls of functions that write through a pointer become watched ones, others are checked or left") {
  std::string text =
      annotate_assembly(function("\tcall\tsincosf@PLT\n\tcall\tprintf\n\tcall\tsinf@PLT\n\tcall\tqsort")).text;
  CHECK(contains(text, "\tcall\t__ridge_sincosf@PLT\n\tcall\t__ridge_printf\n\tcall\tsinf@PLT\n"));
  CHECK(contains(text, "\tmovq\tqsort@GOTPCREL(%rip), %r11\n\tcall\t__ridge_check_call@PLT\n\tcall\tqsort\n"));
  CHECK_FALSE(contains(text, "sinf@GOTPCREL"));
}

TEST_CASE("variables have unused bytes behind them") {
  const std::string
      clang = "\t.type\ta,@object    # @a\n\t.bss\n\t.globl\ta\n\t.p2align\t4\na:\n\t.zero\t64\n\t.size\ta, 64\n",
      gcc = "\t.data\n\t.type\tb, @object\n\t.size\tb, 4\nb:\n\t.long\t7\n";
  std::string text = annotate_assembly(clang + gcc + "\t.text\n").text;
  CHECK(contains(text, "a:\n\t.zero\t64\n\t.size\ta, 64\n\t.zero\t256\n\t.section\tridge_data,\"aw\",@progbits\n"));
  CHECK(contains(text, "b:\n\t.long\t7\n\t.zero\t256\n\t.text\n"));
  // The last one of a file.
  CHECK(contains(annotate_assembly(gcc).text, "\t.long\t7\n\t.zero\t256\n"));
  // In a function's COMDAT group, unique to the program.
  CHECK(contains(annotate_assembly("\t.section\t.tbss.t,\"awTG\",@nobits,t,comdat\n\t.type\tt, @gnu_unique_object\n"
                                   "\t.size\tt, 8\nt:\n\t.zero\t8\n\t.text\n")
                     .text,
                 "\t.zero\t8\n\t.zero\t256\n\t.text\n"));
  // What the linker would place.
  std::string common = annotate_assembly("\t.local\tc\n\t.comm\tc,40,32\n").text;
  CHECK(contains(common, "\t.balign\t32\n"));
  CHECK(contains(common, "\t.size\tc, 40\nc:\n\t.zero\t296\n"));
  // Constants and tables of the compiler's stay as they are.
  for (const char* section : {".rodata", ".data.rel.ro,\"aw\",@progbits", ".init_array,\"aw\""}) {
    std::string constant = std::string("\t.section\t") + section + "\n\t.type\tk, @object\nk:\n\t.quad\t1\n\t.text\n";
    CHECK(annotate_assembly(constant).text == constant);
  }
}

TEST_CASE("text for other processors stays as it is") {
  const std::string text = "\t.type\tf, %function\nf:\n\tbl\t__sanitizer_cov_trace_pc\n\tret\n\t.size\tf, .-f\n";
  CHECK(annotate_assembly(text).text == text);
}

TEST_CASE("shared memory of a function and of those that it calls") {
  auto array = [](const std::string& name, int bytes) {
    return "\t.section\t.tbss,\"awT\",@nobits\n\t.type\t" + name + ", @object\n\t.size\t" + name + ", " +
           std::to_string(bytes) + "\n" + name + ":\n\t.zero\t" + std::to_string(bytes) + "\n";
  };
  const std::string helper =
      "\t.text\n\t.type\tg, @function\ng:\n\tmovl\t%eax, %fs:two@tpoff+4(,%rbx,4)\n"
      "\tmovl\t%eax, %fs:elsewhere@tpoff\n\tret\n\t.size\tg, .-g\n";
  const std::string code = "\t.file 1 \"dir\" \"a.cu\"\n" +
                           function("\t.loc 1 7 3\n\tleaq\tone@TPOFF(%rax), %rdi\n\tcall\tg\n\tret") + helper;
  AnnotatedAssembly fits = annotate_assembly(code + array("one", 40000) + array("two", 9152));
  CHECK(contains(fits.text,
                 "\t.section\tridge_shared,\"aw\",@progbits\n\t.p2align\t3\n"
                 "\t.quad\tf, 40000\n\t.quad\tf, 9152\n"));
  CHECK(contains(fits.text, "\t.quad\tg, 9152\n"));
  CHECK(!contains(fits.text, "elsewhere,"));
  CHECK(fits.excesses.empty());
  AnnotatedAssembly number = annotate_assembly(function("\taddq\t$one@TPOFF, %rdi\n\tret") + array("one", 40000));
  CHECK(contains(number.text, "\t.quad\tf, 40000\n"));
  AnnotatedAssembly large = annotate_assembly(code + array("one", 40000) + array("two", 9153));
  REQUIRE(large.excesses.size() == 1);
  CHECK(large.excesses[0].function == "f");
  CHECK(large.excesses[0].file == "a.cu");
  CHECK(large.excesses[0].line == 7);
  CHECK(large.excesses[0].bytes == 49153);
  // Only the function that is too large, not its callers.
  AnnotatedAssembly inner = annotate_assembly(code + array("one", 4) + array("two", 60000));
  REQUIRE(inner.excesses.size() == 1);
  CHECK(inner.excesses[0].function == "g");
}

TEST_CASE("constants add up") {
  auto constant = [](const std::string& name, const std::string& bytes) {
    return "\t.section\tridge_constant,\"aw\",@progbits\n\t.type\t" + name + ", @object\n\t.size\t" + name + ", " +
           bytes + "\n" + name + ":\n\t.zero\t" + bytes + "\n";
  };
  CHECK(annotate_assembly(constant("a", "40000") + constant("b", "25537")).constant_bytes == kConstantMax + 1);
  CHECK(annotate_assembly("\t.data\n\t.type\ta, @object\n\t.size\ta, 8\na:\n\t.zero\t8\n").constant_bytes == 0);
}

TEST_CASE("a frame takes registers, and what they cannot hold is local memory") {
  auto local = [](const std::string& bytes) {
    const std::string body = "\tsubq\t$" + bytes + ", %rsp\nT\n\tmovss\t16(%rsp), %xmm0\n\taddss\t20(%rsp), %xmm0\n" +
                             "\tmovups\t%xmm0, 32(%rsp)\n\taddq\t$" + bytes + ", %rsp\n\tret";
    const std::string text = annotate_assembly(function(body), {.checked = true}).text;
    // The share; registers and waits for loads; loads and stores.
    auto line = [&](std::size_t at) { return text.substr(at, text.find('\n', at) - at); };
    const std::size_t last = text.rfind("\t.long\t"), middle = text.rfind("\t.value\t", last),
                      first = text.rfind("\t.long\t", middle);
    return line(first + 7) + "; " + line(middle + 8) + "; " + line(last + 7);
  };
  // 984 bytes are live: 12 + 984 / 5 registers.
  CHECK(local("1000") == "0; 208, 0; 0, 0");
  CHECK(local("56") == "0; 20, 0; 0, 0");
  // 2432 bytes are live, all that no instruction names among them: half of two loads and of four words stored.
  CHECK(local("2448") == "128; 255, 0; 256, 512");
  CHECK(local("1228") == "0; 254, 0; 0, 0");
}

TEST_CASE("records of a template's function go where its code goes") {
  std::string text =
      function("T\n\tmovl\t%eax, %fs:t@tpoff\n\tret") +
      "\t.section\t.tbss.t,\"awTG\",@nobits,t,comdat\n\t.type\tt, @object\n\t.size\tt, 8\nt:\n\t.zero\t8\n";
  text.replace(0, 6, "\t.section\t.text.f,\"axG\",@progbits,f,comdat\n");
  std::string out = annotate_assembly(text).text;
  CHECK(contains(out, "\t.section\tridge_blocks,\"awG\",@progbits,f,comdat\n"));
  CHECK(contains(out, "\t.section\tridge_shared,\"awG\",@progbits,f,comdat\n"));
}

TEST_CASE("hostile text neither throws nor takes long") {
  for (const char* line : {"\"",
                           "f:",
                           ".type f,@function",
                           ".section",
                           ".section ,",
                           ".popsection",
                           ".comm",
                           ".size f",
                           "call",
                           "jmp",
                           "jmp *",
                           "je",
                           ".loc",
                           ".file 1 \"",
                           ".local x\n.comm x",
                           "mov @tpoff",
                           "#APP",
                           "lock",
                           "rep",
                           ".section .text,\"axG\",@progbits\nf:"}) {
    INFO(line);
    annotate_assembly(line);
    annotate_assembly(function(line));
    annotate_assembly(function("T\n" + std::string(line) + "\nT"));
  }
  std::string ladder;
  for (int i = 0; i < 20000; ++i) ladder += "T\n\tje\t.L" + std::to_string(i / 2) + "\n.L" + std::to_string(i) + ":\n";
  CHECK(flow(ladder).size() == 20000);
}

TEST_CASE("a linked program finds its records, once for each function") {
  const char* compiler = GENERATE("clang++", "g++");
  INFO(compiler);
  Folder scratch;
  // Both files instantiate the kernel.
  write_file(scratch / "k.cuh", R"(
template <class T> __global__ void nest(T* x, int n) {
  __shared__ T tile[32];
  __shared__ double other;
  tile[threadIdx.x] = 1;
  if (n == 77) other = 1;
  for (int i = 0; i < n; ++i) {
    if (x[i] > 5) continue;
    for (int j = 0; j < i; ++j) {
      if (x[j] > 7) break;
      x[i] = x[i] * 2 + tile[j];
    }
  }
}
)");
  write_file(scratch / "b.cu", "#include \"k.cuh\"\nvoid other() { nest<float><<<1, 1>>>((float*)nullptr, 0); }\n");
  write_file(scratch / "a.cu", R"(#include "k.cuh"
#include "simt/src/device/block_record.hpp"
using namespace ridge::simt;
extern "C" const BlockRecord __start_ridge_blocks[], __stop_ridge_blocks[];
extern "C" const SharedRecord __start_ridge_shared[], __stop_ridge_shared[];
void other();
int main() {
  nest<float><<<1, 32>>>((float*)nullptr, 0);
  other();
  const BlockRecord* heads[2] = {};
  int found = 0, entries = 0, flops = 0;
  for (const BlockRecord* r = __start_ridge_blocks; r != __stop_ridge_blocks; ++r) {
    if (r->function != (std::uint64_t)&nest<float>) continue;
    if (r->loop == r && found++ < 2) heads[r->depth == 2] = r;
    entries += r->entry;
    flops += r->fp32;
    if (r->loop != nullptr && r->depth != r->loop->depth) return printf("depth\n"), 1;
  }
  unsigned long long shared = 0;
  for (const SharedRecord* r = __start_ridge_shared; r != __stop_ridge_shared; ++r)
    if (r->function == (std::uint64_t)&nest<float>) shared += r->bytes;
  if (found != 2 || !heads[0] || !heads[1]) return printf("%d loops\n", found), 1;
  if (heads[1]->outer != heads[0] || heads[0]->outer != nullptr) return printf("nesting\n"), 1;
  if (heads[0]->depth != 1 || heads[1]->position <= heads[0]->position) return printf("order\n"), 1;
  if (entries != 1 || flops != 2 || shared != 136) return printf("%d entries, %d flops, %llu bytes\n", entries, flops, shared), 1;
  printf("ok\n");
}
)");
  Run built = run({ridge_program(), "cc", "-I" + repository() + "/runtime", scratch / "a.cu", scratch / "b.cu", "-o",
                   scratch / "program"},
                  {{"RIDGE_ROOT", repository()}, {"RIDGE_CXX", compiler}}, 60);
  INFO(built.out + built.err);
  REQUIRE(built.code == 0);
  CHECK(run({scratch / "program"}, {}, 20).out == "ok\n");
}
