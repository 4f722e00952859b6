#include "ptx_instruction.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <utility>

#include "simt/rewrite/text/lexer.hpp"

namespace ridge::simt {

namespace {

std::vector<std::string> split(std::string_view s, char at) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (std::size_t i = 0; i < s.size();) {
    const Piece p = piece_at(s, i);
    if (p.is == Piece::Is::literal) {
      parts.back() += s.substr(p.begin, p.end - p.begin);
      i = p.end;
      continue;
    }
    for (; i < p.end; ++i) {
      const char c = s[i];
      depth += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
      if (c == at && depth == 0)
        parts.emplace_back();
      else
        parts.back() += c;
    }
  }
  return parts;
}

bool blank(std::string_view s) { return std::all_of(s.begin(), s.end(), is_space); }

// "l"(expression) -> (expression)
std::string expression_of(const std::string& operand) {
  const std::size_t open = operand.find('('), close = operand.rfind(')');
  return open == std::string::npos || close == std::string::npos ? "" : operand.substr(open, close - open + 1);
}

bool is_number(std::string_view s) {
  return !s.empty() && std::all_of(s.begin(), s.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

// 12, -1, 0x1f, 0x1fU
bool is_constant(std::string_view s) {
  if (s.substr(0, 1) == "-") s.remove_prefix(1);
  if (s.size() > 2 && (s.ends_with('U') || s.ends_with('u'))) s.remove_suffix(1);
  if (s.substr(0, 2) != "0x") return is_number(s);
  return s.size() > 2 && s.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

std::string special_register(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 41> known = {{
      {"laneid", "::ridge_simt::lane_id()"},
      {"lanemask_lt", "((1u << ::ridge_simt::lane_id()) - 1)"},
      {"lanemask_le", "((2u << ::ridge_simt::lane_id()) - 1)"},
      {"lanemask_eq", "(1u << ::ridge_simt::lane_id())"},
      {"lanemask_gt", "~((2u << ::ridge_simt::lane_id()) - 1)"},
      {"lanemask_ge", "~((1u << ::ridge_simt::lane_id()) - 1)"},
      {"warpid", "(::ridge_simt::linear_thread() / 32)"},
      {"nwarpid", "64u"},
      {"smid", "::ridge_simt::sm_id()"},
      {"gridid", "0u"},
      {"clock", "(unsigned)::ridge_simt::clock()"},
      {"clock64", "::ridge_simt::clock()"},
      {"globaltimer", "::ridge_simt::clock()"},
      {"globaltimer_lo", "(unsigned)::ridge_simt::clock()"},
      {"tid.x", "threadIdx.x"},
      {"tid.y", "threadIdx.y"},
      {"tid.z", "threadIdx.z"},
      {"ntid.x", "blockDim.x"},
      {"ntid.y", "blockDim.y"},
      {"ntid.z", "blockDim.z"},
      {"ctaid.x", "blockIdx.x"},
      {"ctaid.y", "blockIdx.y"},
      {"ctaid.z", "blockIdx.z"},
      {"nctaid.x", "gridDim.x"},
      {"nctaid.y", "gridDim.y"},
      {"nctaid.z", "gridDim.z"},
      {"cluster_ctarank", "::ridge_simt::cluster_rank()"},
      {"cluster_nctarank", "::ridge_simt::cluster_size()"},
      {"cluster_ctaid.x", "::ridge_simt::cluster_block().x"},
      {"cluster_nctaid.x", "::ridge_simt::cluster_dim().x"},
      {"clusterid.x", "::ridge_simt::cluster_index().x"},
      {"nclusterid.x", "(gridDim.x / ::ridge_simt::cluster_dim().x)"},
      {"cluster_ctaid.y", "::ridge_simt::cluster_block().y"},
      {"cluster_nctaid.y", "::ridge_simt::cluster_dim().y"},
      {"clusterid.y", "::ridge_simt::cluster_index().y"},
      {"nclusterid.y", "(gridDim.y / ::ridge_simt::cluster_dim().y)"},
      {"cluster_ctaid.z", "::ridge_simt::cluster_block().z"},
      {"cluster_nctaid.z", "::ridge_simt::cluster_dim().z"},
      {"clusterid.z", "::ridge_simt::cluster_index().z"},
      {"nclusterid.z", "(gridDim.z / ::ridge_simt::cluster_dim().z)"},
      {"is_explicit_cluster", "(::ridge_simt::cluster_size() != 1)"},
  }};
  for (const auto& [word, expression] : known)
    if (word == name) return std::string(expression);
  return {};
}

// %3, a declared register, one of these and a number of bytes
std::string register_of(std::string_view text, const std::vector<std::string>& given, const PtxNames& names) {
  if (const std::size_t plus = text.find('+'); plus != std::string_view::npos) {
    const std::string base = register_of(text.substr(0, plus), given, names);
    if (base.empty() || !is_constant(text.substr(plus + 1))) return {};
    return "::ridge_simt::ptx_plus(" + base + ", " + std::string(text.substr(plus + 1)) + ")";
  }
  if (text.starts_with('!')) {
    const std::string base = register_of(text.substr(1), given, names);
    return base.empty() ? base : "!" + base;
  }
  if (const auto declared = names.find(text); declared != names.end()) return declared->second;
  if (text.size() < 2 || text[0] != '%' || !is_number(text.substr(1)) || text.size() > 4) return {};
  const auto i = static_cast<std::size_t>(std::stoi(std::string(text.substr(1))));
  return i < given.size() ? given[i] : std::string();
}

// 0f3F800000
bool is_float(std::string_view s) {
  return s.size() == 10 && (s.starts_with("0f") || s.starts_with("0F")) &&
         s.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

}  // namespace

std::optional<std::string> ptx_template(std::string_view s) {
  std::string text;
  for (std::size_t i = 0; i < s.size();) {
    const Piece p = piece_at(s, i);
    i = p.end;
    if (p.is == Piece::Is::space) continue;
    if (p.is != Piece::Is::literal || s[p.quote] != '"' || p.quote - p.begin != (p.raw ? 1 : 0)) return {};
    const std::string contents = contents_of(s, p);
    for (std::size_t k = 0; k < contents.size(); ++k) {
      if (p.raw || contents[k] != '\\')
        text += contents[k];
      else if (k + 1 < contents.size() && std::string_view("ntr").find(contents[k + 1]) != std::string_view::npos)
        text += contents[++k] == 'n' ? '\n' : ' ';
    }
  }
  return text;
}

std::vector<std::string> ptx_split(std::string_view s, char at) { return split(s, at); }

std::optional<PtxOperand> ptx_operand(std::string text, const std::vector<std::string>& given, const PtxNames& names) {
  PtxOperand o;
  if (text == "_") return PtxOperand{'_', {"::ridge_simt::PtxNothing()"}};
  if (is_float(text)) return PtxOperand{'n', {"__builtin_bit_cast(float, 0x" + text.substr(2) + "u)"}};
  if (const std::size_t bar = text.find('|'); bar != std::string::npos && text[0] != '[' && text[0] != '{') {
    o.kind = '|';
    for (const std::string& one : {text.substr(0, bar), text.substr(bar + 1)}) {
      const auto half = ptx_operand(one, given, names);
      if (!half || (half->kind != 'r' && half->kind != '_')) return {};
      o.expressions.push_back(half->expressions[0]);
    }
    return o;
  }
  if (is_constant(text)) return PtxOperand{'n', {std::move(text)}};
  // "%laneid", written "%%laneid" where the statement has operands
  const std::string_view name = std::string_view(text).substr(std::min(text.find_first_not_of('%'), text.size()));
  if (const std::string special = special_register(name); !special.empty() && name.size() < text.size())
    return PtxOperand{'s', {special}};
  if (!text.empty() && (text[0] == '{' || text[0] == '[')) {
    if (text.size() < 3) return {};
    o.kind = text[0];
    text = text.substr(1, text.size() - 2);
  }
  std::vector<std::string> parts = split(text, ',');
  if (o.kind == '[' && parts.size() == 2 && parts[1].size() > 2 && parts[1][0] == '{') {
    o.kind = 't';
    const std::string coordinates = parts[1].substr(1, parts[1].size() - 2);
    parts.pop_back();
    for (std::string& one : split(coordinates, ',')) parts.push_back(std::move(one));
  }
  for (const std::string& one : parts) {
    std::string expression = o.kind != 'r' && is_constant(one) ? one : register_of(one, given, names);
    if (expression.empty()) return {};
    o.expressions.push_back(std::move(expression));
  }
  return o;
}

std::optional<std::vector<std::string>> ptx_given(const std::vector<std::string>& sections) {
  std::vector<std::string> given;
  for (std::size_t section = 1; section < std::min<std::size_t>(sections.size(), 3); ++section) {
    if (blank(sections[section])) continue;
    for (const std::string& operand : split(sections[section], ',')) {
      given.push_back(expression_of(operand));
      if (given.back().empty()) return {};
    }
  }
  return given;
}

std::optional<PtxText> ptx_text(std::string_view operands) {
  const std::vector<std::string> sections = split(operands, ':');
  const auto literals = ptx_template(sections[0]);
  if (!literals) return {};
  PtxText out;
  std::remove_copy_if(literals->begin(), literals->end(), std::back_inserter(out.code), is_space);
  if (!out.code.empty() && out.code.back() == ';') out.code.pop_back();
  auto given = ptx_given(sections);
  if (!given) return {};
  out.given = std::move(*given);
  return out;
}

std::optional<PtxInstruction> ptx_instruction(std::string code, const std::vector<std::string>& given,
                                              const PtxNames& names) {
  if (code.size() > 2 && code.front() == '{' && code.back() == '}') {
    code = code.substr(1, code.size() - 2);
    if (code.back() == ';') code.pop_back();
  }
  if (code.find(';') != std::string::npos) return {};
  const std::size_t first = std::min(code.find_first_of("%[{"), code.size());
  // "cp.async.wait_group2": a number without anything before it follows its name.
  std::size_t name = first;
  while (name > 0 && std::isdigit(static_cast<unsigned char>(code[name - 1])) != 0 && first == code.size()) --name;
  PtxInstruction out{split(code.substr(0, name), '.'), {}};
  if (name == code.size()) return out;
  for (std::string& one : split(code.substr(name), ',')) {
    auto operand = ptx_operand(std::move(one), given, names);
    if (!operand) return {};
    out.operands.push_back(std::move(*operand));
  }
  return out;
}

std::optional<GuardedInstruction> guarded_instruction(const PtxText& text) {
  std::string_view code = text.code;
  if (code.size() < 2 || code.front() != '{' || code.back() != '}') return {};
  code = code.substr(1, code.size() - 2);
  std::vector<std::string> parts = split(code, ';');
  if (!parts.empty() && parts.back().empty()) parts.pop_back();
  constexpr std::string_view kRegister = ".reg.pred";
  if (parts.size() != 3 || parts[0].rfind(kRegister, 0) != 0) return {};
  const std::string name = parts[0].substr(kRegister.size());
  if (name.empty() || parts[2].rfind("@" + name, 0) != 0) return {};
  for (const char* test : {"setp.ne.b32", "setp.ne.s32", "setp.ne.u32"}) {
    const std::string head = test + name + ",%";
    if (parts[1].rfind(head, 0) != 0 || !parts[1].ends_with(",0")) continue;
    const std::string number = parts[1].substr(head.size(), parts[1].size() - head.size() - 2);
    if (!is_number(number) || number.size() > 3 || std::stoul(number) >= text.given.size()) return {};
    auto instruction = ptx_instruction(parts[2].substr(name.size() + 1), text.given);
    if (!instruction || instruction->words.empty()) return {};
    return GuardedInstruction{text.given[std::stoul(number)], std::move(*instruction)};
  }
  return {};
}

std::string kinds(const PtxInstruction& i) {
  std::string s;
  for (const PtxOperand& o : i.operands) s += o.kind;
  return s;
}

std::string joined(const std::vector<std::string>& words, std::size_t from, std::size_t to) {
  std::string s;
  for (std::size_t i = from; i < std::min(to, words.size()); ++i) s += (s.empty() ? "" : ".") + words[i];
  return s;
}

std::string call(const std::string& function, const PtxInstruction& i) {
  std::string s = "::ridge_simt::" + function + "(";
  for (const PtxOperand& o : i.operands)
    for (const std::string& e : o.expressions) s += (s.back() == '(' ? "" : ", ") + e;
  return s + ")";
}

}  // namespace ridge::simt
