#include "inline_ptx.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "lexer.hpp"

namespace ridge::simt {

namespace {

// Between these characters, where they are outside of literals, parentheses and braces.
std::vector<std::string> split(std::string_view s, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool literal = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    const char c = s[i];
    if (c == '"' && (i == 0 || s[i - 1] != '\\')) literal = !literal;
    if (!literal) depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
    if (c == at && !literal && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

bool blank(std::string_view s) { return std::all_of(s.begin(), s.end(), is_space); }

// Literals' contents without spaces, \n and \t, joined. None where there is anything else: a macro may be more text.
std::optional<std::string> template_of(std::string_view s) {
  std::string text;
  bool literal = false;
  for (std::size_t i = 0; i < s.size(); ++i) {
    if (s[i] == '"')
      literal = !literal;
    else if (literal && s[i] == '\\' && i + 1 < s.size() && (s[i + 1] == 'n' || s[i + 1] == 't'))
      ++i;
    else if (std::isspace(static_cast<unsigned char>(s[i])) != 0)
      continue;
    else if (literal && s[i] != '\\')
      text += s[i];
    else
      return {};
  }
  return text;
}

// "l"(expression) -> (expression)
std::string expression_of(const std::string& operand) {
  const std::size_t open = operand.find('('), close = operand.rfind(')');
  return open == std::string::npos || close == std::string::npos ? "" : operand.substr(open, close - open + 1);
}

// One operand of an instruction: a register, several in braces, an address in brackets, or a number.
struct Operand {
  char kind = 'r';                       // r, {, [, n
  std::vector<std::string> expressions;  // the operands' expressions
};

struct PtxInstruction {
  std::vector<std::string> words;  // "red.global.add.u64" in four
  std::vector<Operand> operands;
};

bool is_number(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

std::optional<Operand> operand_of(std::string text, const std::vector<std::string>& given) {
  Operand o;
  if (is_number(text)) return Operand{'n', {std::move(text)}};
  if (!text.empty() && (text[0] == '{' || text[0] == '[')) {
    if (text.size() < 3) return {};
    o.kind = text[0];
    text = text.substr(1, text.size() - 2);
  }
  for (const std::string& one : split(text, ',')) {
    if (one.size() < 2 || one[0] != '%' || !is_number(std::string_view(one).substr(1)) || one.size() > 4) return {};
    const auto i = static_cast<std::size_t>(std::stoi(one.substr(1)));
    if (i >= given.size()) return {};
    o.expressions.push_back(given[i]);
  }
  return o;
}

std::optional<PtxInstruction> instruction_of(std::string_view text) {
  const std::vector<std::string> sections = split(text, ':');
  const auto literals = template_of(sections[0]);
  if (!literals) return {};
  std::string code = *literals;
  if (!code.empty() && code.back() == ';') code.pop_back();
  if (code.find(';') != std::string::npos) return {};
  std::vector<std::string> given;
  for (std::size_t section = 1; section < std::min<std::size_t>(sections.size(), 3); ++section) {
    if (blank(sections[section])) continue;
    for (const std::string& operand : split(sections[section], ',')) {
      given.push_back(expression_of(operand));
      if (given.back().empty()) return {};
    }
  }
  const std::size_t first = std::min(code.find_first_of("%[{"), code.size());
  // "cp.async.wait_group2": a number without anything before it follows its name.
  std::size_t name = first;
  while (name > 0 && std::isdigit(static_cast<unsigned char>(code[name - 1])) != 0 && first == code.size()) --name;
  PtxInstruction out{split(code.substr(0, name), '.'), {}};
  if (name == code.size()) return out;
  for (std::string& one : split(code.substr(name), ',')) {
    auto operand = operand_of(std::move(one), given);
    if (!operand) return {};
    out.operands.push_back(std::move(*operand));
  }
  return out;
}

std::string kinds(const PtxInstruction& i) {
  std::string s;
  for (const Operand& o : i.operands) s += o.kind;
  return s;
}

std::string joined(const std::vector<std::string>& words, std::size_t from, std::size_t to) {
  std::string s;
  for (std::size_t i = from; i < std::min(to, words.size()); ++i) s += (s.empty() ? "" : ".") + words[i];
  return s;
}

std::string call(const std::string& function, const PtxInstruction& i) {
  std::string s = "::ridge_simt::" + function + "(";
  for (const Operand& o : i.operands)
    for (const std::string& e : o.expressions) s += (s.back() == '(' ? "" : ", ") + e;
  return s + ")";
}

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

}  // namespace

std::string ptx_as_call(std::string_view operands) {
  const auto i = instruction_of(operands);
  if (!i || i->words.empty()) return {};
  const std::string& name = i->words[0];
  if (name == "red") return reduction(*i);
  if (name == "mma") return matrix_product(*i);
  if (name == "ldmatrix") return load_matrix(*i);
  if (name == "cp" && i->words.size() > 2 && i->words[1] == "async") return async_copy(*i);
  const std::string whole = joined(i->words, 0, i->words.size());
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> arithmetic = {
      {{"ex2.approx.f32", "ptx_ex2"},
       {"ex2.approx.ftz.f32", "ptx_ex2"},
       {"rcp.approx.f32", "ptx_rcp"},
       {"rcp.approx.ftz.f32", "ptx_rcp"},
       {"cvt.rn.bf16x2.f32", "ptx_pair<true>"},
       {"cvt.rn.f16x2.f32", "ptx_pair<false>"}}};
  const std::string_view* function = find(arithmetic, whole);
  if (function == nullptr || kinds(*i) != (name == "cvt" ? "rrr" : "rr")) return {};
  return call(std::string(*function), *i);
}

}  // namespace ridge::simt
