#include "inline_ptx.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ptx_instruction.hpp"
#include "ptx_statements.hpp"

namespace ridge::simt {

namespace {

template <std::size_t n>
const std::string_view* find(const std::array<std::pair<std::string_view, std::string_view>, n>& in,
                             std::string_view key) {
  const auto* at = std::find_if(in.begin(), in.end(), [&](const auto& entry) { return entry.first == key; });
  return at == in.end() ? nullptr : &at->second;
}

// red{.scopes}.add.type [p], v
std::string reduction(const PtxInstruction& i) {
  constexpr std::array<std::string_view, 5> scopes = {"global", "relaxed", "cta", "gpu", "sys"};
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> types = {
      {{"u32", "unsigned"}, {"s32", "int"}, {"u64", "unsigned long long"}, {"f32", "float"}, {"f64", "double"}}};
  const auto& w = i.words;
  if (kinds(i) != "[r" || w.size() < 3 || w[w.size() - 2] != "add") return {};
  for (std::size_t at = 1; at + 2 < w.size(); ++at)
    if (std::find(scopes.begin(), scopes.end(), w[at]) == scopes.end()) return {};
  const std::string_view* type = find(types, w.back());
  return type == nullptr ? "" : call("red_add<" + std::string(*type) + ">", i);
}

// mma.sync.aligned.shape.row.col.d.a.b.c {d}, {a}, {b}, {c}
std::string matrix_product(const PtxInstruction& i) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> known = {{
      {"m16n8k16.row.col.f32.bf16.bf16.f32", "16, MatrixType::bf16, MatrixType::fp32"},
      {"m16n8k16.row.col.f32.f16.f16.f32", "16, MatrixType::fp16, MatrixType::fp32"},
      {"m16n8k16.row.col.f16.f16.f16.f16", "16, MatrixType::fp16, MatrixType::fp16"},
      {"m16n8k8.row.col.f32.bf16.bf16.f32", "8, MatrixType::bf16, MatrixType::fp32"},
      {"m16n8k8.row.col.f32.f16.f16.f32", "8, MatrixType::fp16, MatrixType::fp32"},
      {"m16n8k8.row.col.f16.f16.f16.f16", "8, MatrixType::fp16, MatrixType::fp16"},
      {"m16n8k8.row.col.f32.tf32.tf32.f32", "8, MatrixType::tf32, MatrixType::fp32"},
      {"m16n8k32.row.col.s32.s8.s8.s32", "32, MatrixType::s8, MatrixType::s32"},
  }};
  if (kinds(i) != "{{{{" || joined(i.words, 0, 3) != "mma.sync.aligned") return {};
  const std::string_view* found = find(known, joined(i.words, 3, i.words.size()));
  if (found == nullptr) return {};
  std::string arguments(*found);
  for (std::size_t at = 0; (at = arguments.find("MatrixType", at)) != std::string::npos; at += 24)
    arguments.insert(at, "::ridge_simt::");
  return call("ptx_mma<" + arguments + ">", i);
}

// ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {r, ...}, [p]
std::string load_matrix(const PtxInstruction& i) {
  const auto& w = i.words;
  if (w.size() < 7 || joined(w, 0, 4) != "ldmatrix.sync.aligned.m8n8" || kinds(i) != "{[") return {};
  const std::string rest = joined(w, 5, w.size());
  const bool transposed = rest == "trans.shared.b16" || rest == "trans.shared::cta.b16";
  if (!transposed && rest != "shared.b16" && rest != "shared::cta.b16") return {};
  if (w[4] != "x" + std::to_string(i.operands[0].expressions.size())) return {};
  return call(transposed ? "ptx_ldmatrix<true>" : "ptx_ldmatrix<false>", i);
}

// cp.async.{ca,cg}.shared.global{.L2::...} [to], [from], bytes{, bytes that are read}; cp.async.commit_group;
// cp.async.wait_group n
std::string async_copy(const PtxInstruction& i) {
  const std::string name = joined(i.words, 2, i.words.size());
  if (name == "commit_group" && i.operands.empty()) return "::ridge_simt::pipeline_commit()";
  if (name == "wait_all" && i.operands.empty()) return "::ridge_simt::ptx_wait_all()";
  if (name == "wait_group" && (kinds(i) == "n" || kinds(i) == "r")) return call("pipeline_wait", i);
  const std::string start = joined(i.words, 2, 5);
  const std::string form = kinds(i);
  if ((start == "ca.shared.global" || start == "cg.shared.global") && form.starts_with("[[") &&
      (form.size() == 3 || form.size() == 4) && form.find('{') == std::string::npos)
    return call("ptx_cp_async", i);
  return {};
}

std::string instruction_as_call(const PtxInstruction& given) {
  PtxInstruction i = given;
  const std::string& name = i.words[0];
  // The shape may come behind the number of matrices: ptxas takes other orders too.
  if ((name == "ldmatrix" || name == "stmatrix") && i.words.size() > 4)
    if (const auto shape = std::find(i.words.begin() + 3, i.words.end(), "m8n8"); shape != i.words.end())
      std::rotate(i.words.begin() + 3, shape, shape + 1);
  std::string call;
  if (name == "red") call = reduction(i);
  if (name == "mma") return matrix_product(i);
  if (name == "ldmatrix") return load_matrix(i);
  if (name == "cp" && i.words.size() > 2 && i.words[1] == "async")
    if (std::string copy = async_copy(i); !copy.empty()) return copy;
  const std::string whole = joined(i.words, 0, i.words.size());
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> own = {
      {{"ex2.approx.f32", "ptx_ex2"},
       {"ex2.approx.ftz.f32", "ptx_ex2"},
       {"rcp.approx.f32", "ptx_rcp"},
       {"rcp.approx.ftz.f32", "ptx_rcp"},
       {"cvt.rn.bf16x2.f32", "ptx_pair<true>"},
       {"cvt.rn.f16x2.f32", "ptx_pair<false>"}}};
  const std::string_view* function = find(own, whole);
  if (function != nullptr && kinds(i) == (name == "cvt" ? "rrr" : "rr"))
    return ridge::simt::call(std::string(*function), i);
  if (whole == "movmatrix.sync.aligned.m8n8.trans.b16" && kinds(i) == "rr")
    return ridge::simt::call("ptx_movmatrix", i);
  if (call.empty()) call = ptx_common(i);
  return call.empty() ? ptx_hopper(i) : call;
}

}  // namespace

std::string ptx_as_call(std::string_view operands) {
  if (const auto text = ptx_text(operands)) {
    if (const auto guarded = guarded_instruction(*text)) {
      const std::string call = instruction_as_call(guarded->instruction);
      if (!call.empty()) return "(" + guarded->condition + " ? (void)" + call + " : (void)0)";
    } else if (const auto i = ptx_instruction(text->code, text->given); i && !i->words.empty()) {
      if (std::string call = instruction_as_call(*i); !call.empty()) return call;
    }
  }
  return ptx_statements(operands, instruction_as_call);
}

bool ptx_is_empty(std::string_view operands) {
  const auto text = ptx_text(operands);
  return text && text->code.empty() && operands.find('"') != std::string_view::npos;
}

bool ptx_names_registers(std::string_view operands) {
  for (const char* constraint : {"\"+f\"", "\"+d\"", "\"+l\"", "\"+h\"", "\"f\"", "\"d\"", "\"l\"", "\"h\"", "\"=f\"",
                                 "\"=l\"", "\"=h\"", "\"=d\""})
    if (operands.find(constraint) != std::string_view::npos) return true;
  return false;
}

}  // namespace ridge::simt
