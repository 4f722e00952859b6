// The instructions of a file's lines: listings of three compilers, and what those of this machine make of a lab's files.
#include "grader/build/device_code.hpp"
#include "grader/build/device_listing.hpp"
#include "grader/graded.hpp"
#include "support/catch.hpp"

using namespace ridge;
using ridge::test::Folder;

namespace {

std::vector<std::string> of_line(const std::vector<DeviceInstruction>& all, int line) {
  std::vector<std::string> texts;
  for (const DeviceInstruction& i : all)
    if (i.line == line) texts.push_back(i.text);
  return texts;
}

bool any_has(const std::vector<std::string>& texts, const std::string& word) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const std::string& t) { return t.find(word) != std::string::npos; });
}

int line_of(const std::string& text, const std::string& word) {
  const std::size_t at = text.find(word);
  return at == std::string::npos ? 0 : 1 + static_cast<int>(std::count(text.begin(), text.begin() + at, '\n'));
}

fs::path copy_of(const Folder& home, const std::string& lab) {
  const fs::path dir = home / "submission";
  fs::remove_all(dir);
  fs::copy(test::repository() + "/solutions/" + lab, dir);
  return dir;
}

}  // namespace

TEST_CASE("PTX of nvcc: a header's inlined function belongs to the line that calls it") {
  const auto all = ptx_listing(R"ptx(
.version 9.0
.visible .entry _Z1kPf(
	.param .u64 _Z1kPf_param_0
)
{
	.reg .b32 	%r<4>;
	.loc	1 9 0
	ld.param.u64 	%rd1, [_Z1kPf_param_0];
	.loc	2 300 1, function_name $L__info_string0, inlined_at 1 12 5
	shfl.sync.bfly.b32 	%r1, %r2, 16, 31, -1;
$L__BB0_1:
	.loc	2 17 1
	bar.sync 	0;
	.loc	1 13 2
	@%p1 bra 	$L__BB0_1;
$L__tmp7:
	ret;

}
	.file	1 "/tmp/ridge-x/src/copy.cu"
	.file	2 "/usr/local/cuda/include/sm_30_intrinsics.hpp"
)ptx",
                               "copy.cu");
  CHECK(of_line(all, 9) == std::vector<std::string>{"ld.param.u64 \t%rd1, [_Z1kPf_param_0];"});
  CHECK(of_line(all, 12) ==
        std::vector<std::string>{"shfl.sync.bfly.b32 \t%r1, %r2, 16, 31, -1;", "$L__BB0_1:", "bar.sync \t0;"});
  CHECK(of_line(all, 13) == std::vector<std::string>{"@%p1 bra \t$L__BB0_1;", "ret;"});
  CHECK(all[0].kernel == "_Z1kPf");
  CHECK(ptx_listing("", "copy.cu").empty());
  CHECK(ptx_listing("{{{ .loc .file \"", "copy.cu").empty());
}

TEST_CASE("PTX of Clang: files have folder and name apart") {
  const auto all = ptx_listing(R"ptx(
.func  (.param .b32 func_retval0) _ZN2ns4helpEf(
	.param .b32 p
)
{
	.loc	1 4 0
	add.f32 	%f1, %f2, %f3;
	ret;
}
	.file	1 "/tmp/ridge-x" "src/reduce.cu"
	.file	2 "/usr/lib" "reduce.cu.h"
)ptx",
                               "reduce.cu");
  REQUIRE(all.size() == 2);
  CHECK(all[0].kernel == "_ZN2ns4helpEf");
  CHECK(all[0].line == 4);
}

TEST_CASE("SASS of nvdisasm") {
  const auto all = sass_listing(R"sass(
	.section	.text._Z1kPf,"ax",@progbits
.text._Z1kPf:
	//## File "/tmp/ridge-x/src/copy.cu", line 9
        /*0000*/                   LDC R1, c[0x0][0x28] ;                     /* 0x00000a00ff017b82 */
                                                                              /* 0x000fe20000000800 */
	//## File "/usr/include/sm_30_intrinsics.hpp", line 300 inlined at "/tmp/ridge-x/src/copy.cu", line 12
	//## File "/tmp/ridge-x/src/copy.cu", line 12
        /*0010*/              @!P0 SHFL.BFLY PT, R5, R4, 0x10, 0x1f ;
.L_x_0:
	//## File "/tmp/ridge-x/src/copy.cu", line 13
        /*0020*/                   BRA `(.L_x_0);
	//## File "/usr/include/other.h", line 9
        /*0030*/                   NOP;
)sass",
                                "copy.cu");
  CHECK(of_line(all, 9) == std::vector<std::string>{"LDC R1, c[0x0][0x28] ;"});
  CHECK(of_line(all, 12) == std::vector<std::string>{"@!P0 SHFL.BFLY PT, R5, R4, 0x10, 0x1f ;", ".L_x_0:"});
  CHECK(of_line(all, 13) == std::vector<std::string>{"BRA `(.L_x_0);"});
  CHECK(all.size() == 4);
  CHECK(all[0].kernel == "_Z1kPf");
}

TEST_CASE("a line's instructions by nvcc, and by Clang without a Toolkit") {
  const Lab lab = find_lab("01");
  Folder home;
  const fs::path dir = copy_of(home, lab.name);
  const int copies = line_of(file_text(dir / "copy.cu"), "reinterpret_cast<float4*>(out)[i]");
  for (const fs::path& nvcc : {find_nvcc(), fs::path()}) {
    const DeviceCode code = device_code(lab, dir, "copy.cu", nvcc);
    if (nvcc.empty() && code.compiler.empty()) continue;  // GCC alone
    INFO(code.compiler << ": " << code.problem);
    REQUIRE(code.problem.empty());
    const auto texts = of_line(code.instructions, copies);
    const bool sass = code.form == "SASS";
    CHECK(any_has(texts, sass ? "LDG.E.128" : nvcc.empty() ? "ld.global" : "ld.global.v4"));
    CHECK(any_has(texts, sass ? "STG.E.128" : nvcc.empty() ? "st.global" : "st.global.v4"));
    CHECK(of_line(code.instructions, 1).empty());
    if (nvcc.empty() && find_nvcc().empty()) break;
  }
}

TEST_CASE("shuffles, atomics and asynchronous copies by Clang") {
  for (const auto& [lab, file, word] : std::vector<std::array<const char*, 3>>{{"03", "reduce.cu", "shfl.sync.bfly"},
                                                                               {"03", "reduce.cu", "atom.inc.u32"},
                                                                               {"02", "sgemm_async.cu", "cp.async"},
                                                                               {"06", "ring.cu", "st.global"}}) {
    const Lab found = find_lab(lab);
    Folder home;
    const DeviceCode code = device_code(found, copy_of(home, found.name), file, {});
    if (code.compiler.empty()) return;
    INFO(file << ": " << code.problem);
    CHECK(code.problem.empty());
    CHECK(std::any_of(code.instructions.begin(), code.instructions.end(),
                      [&](const DeviceInstruction& i) { return i.text.find(word) != std::string::npos; }));
  }
}

TEST_CASE("a file that cannot be compiled says why, and shows nothing of the machine") {
  const Lab lab = find_lab("01");
  Folder home;
  const fs::path dir = copy_of(home, lab.name);
  const std::string right = file_text(dir / "copy.cu");
  for (const fs::path& nvcc : {find_nvcc(), fs::path()}) {
    test::write_file((dir / "copy.cu").string(), right + "\nint wrong = nothing_of_this_name;\n");
    DeviceCode code = device_code(lab, dir, "copy.cu", nvcc);
    CHECK(code.form.empty());
    CHECK(code.problem.find("nothing_of_this_name") != std::string::npos);
    const fs::path secret = fs::absolute(home / "secret");
    test::write_file(secret.string(), "a word of nobody's business\n");
    test::write_file((dir / "copy.cu").string(), "#include \"" + secret.string() + "\"\n" + right);
    code = device_code(lab, dir, "copy.cu", nvcc);
    CHECK_FALSE(code.problem.empty());
    CHECK(code.problem.find("business") == std::string::npos);
  }
  const Lab tensor = find_lab("04");
  const DeviceCode code = device_code(tensor, copy_of(home, tensor.name), "wmma_gemm.cu", {});
  CHECK(code.problem.find("nvcc") != std::string::npos);
}
