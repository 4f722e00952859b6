#include "ptx_statements.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "simt/rewrite/text/lexer.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

// The template without comments and "%=".
std::optional<std::string> ptx_source(View s) {
  auto found = ptx_template(s);
  if (!found) return {};
  std::string& text = *found;
  for (std::size_t at = 0; (at = text.find("//", at)) != std::string::npos;)
    text.erase(at, std::min(text.find('\n', at), text.size()) - at);
  for (std::size_t at = 0; (at = text.find("/*", at)) != std::string::npos;) {
    const std::size_t end = text.find("*/", at);
    if (end == std::string::npos) return {};
    text.replace(at, end + 2 - at, " ");
  }
  for (std::size_t at = 0; (at = text.find("%=", at)) != std::string::npos;) text.erase(at, 2);
  return found;
}

bool is_name(View s) {
  return !s.empty() && std::isdigit(static_cast<unsigned char>(s[0])) == 0 &&
         std::all_of(s.begin(), s.end(), [](char c) { return is_word(c) || c == '$' || c == '%'; });
}

// A name of PTX as one of C++.
std::string in_cpp(View kind, View name) {
  std::string s = "ridge_ptx_" + std::string(kind) + "_";
  for (const char c : name) s += is_word(c) ? c : '_';
  return s;
}

View register_type(View name) {
  constexpr std::array<std::pair<View, View>, 14> types = {{{"pred", "bool"},
                                                            {"b8", "::std::uint8_t"},
                                                            {"b16", "::std::uint16_t"},
                                                            {"u16", "::std::uint16_t"},
                                                            {"s16", "::std::int16_t"},
                                                            {"f16", "::std::uint16_t"},
                                                            {"b32", "::std::uint32_t"},
                                                            {"u32", "::std::uint32_t"},
                                                            {"s32", "::std::int32_t"},
                                                            {"f32", "float"},
                                                            {"b64", "::std::uint64_t"},
                                                            {"u64", "::std::uint64_t"},
                                                            {"s64", "::std::int64_t"},
                                                            {"f64", "double"}}};
  for (const auto& [ptx, cpp] : types)
    if (ptx == name) return cpp;
  return {};
}

class Statements {
 public:
  Statements(View text, std::vector<std::string> given,
             const std::function<std::string(const PtxInstruction&)>& as_call)
      : text_(text), as_call_(as_call) {
    for (std::size_t i = 0; i < given.size(); ++i) {
      given_.push_back("ridge_ptx_" + std::to_string(i));
      out_ += "auto&& " + given_.back() + " = " + given[i] + "; ";
    }
  }

  std::string run() {
    while (skip_space(), at_ < text_.size()) {
      if (text_[at_] == '{' || text_[at_] == '}') {
        if (!scope(text_[at_] == '{')) return {};
        ++at_;
      } else if (!statement()) {
        return {};
      }
    }
    if (!scopes_.empty() || !all_labels_known()) return {};
    std::string labels;
    for (const std::string& l : labels_) labels += (labels.empty() ? "__label__ " : ", ") + in_cpp("label", l);
    return "({ " + (labels.empty() ? labels : labels + "; ") + out_ + "(void)0; })";
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (is_space(text_[at_]) || text_[at_] == ';')) ++at_;
  }

  bool scope(bool open) {
    if (open) {
      scopes_.push_back(names_);
      out_ += "{ ";
      return true;
    }
    if (scopes_.empty()) return false;
    names_ = std::move(scopes_.back());
    scopes_.pop_back();
    out_ += "} ";
    return true;
  }

  // Up to the semicolon, or to the colon of a label.
  bool statement() {
    std::size_t end = at_;
    while (end < text_.size() && text_[end] != ';' && text_[end] != '\n' && text_[end] != ':') ++end;
    if (end < text_.size() && text_[end] == ':' && (end + 1 == text_.size() || text_[end + 1] != ':')) {
      const View label = trimmed(text_.substr(at_, end - at_));
      if (!is_name(label) || !labels_.emplace(label).second) return false;
      out_ += in_cpp("label", label) + ":; ";
      at_ = end + 1;
      return true;
    }
    end = text_.find(';', at_);
    if (end == View::npos) end = text_.size();
    View one = trimmed(text_.substr(at_, end - at_));
    // The last statement of a scope may lack its semicolon.
    int depth = 0;
    for (std::size_t i = 0; i < one.size(); ++i) {
      depth += one[i] == '{' ? 1 : one[i] == '}' ? -1 : 0;
      if (depth < 0) {
        end = at_ + static_cast<std::size_t>(one.data() - (text_.data() + at_)) + i;
        one = trimmed(one.substr(0, i));
        break;
      }
    }
    at_ = end;
    return one.starts_with(".reg") ? declaration(one.substr(4)) : instruction(one);
  }

  // .reg .b32 a, b<4>
  bool declaration(View s) {
    s = trimmed(s);
    if (!s.starts_with('.')) return false;
    std::size_t end = 1;
    while (end < s.size() && is_word(s[end])) ++end;
    const View type = register_type(s.substr(1, end - 1));
    if (type.empty()) return false;
    for (const std::string& each : ptx_split(s.substr(end), ',')) {
      View name = trimmed(each);
      unsigned count = 0;
      if (name.ends_with('>')) {
        const std::size_t open = name.find('<');
        for (std::size_t i = open + 1; open != View::npos && i + 1 < name.size(); ++i) {
          if (std::isdigit(static_cast<unsigned char>(name[i])) == 0 || count > 999) return false;
          count = 10 * count + static_cast<unsigned>(name[i] - '0');
        }
        if (count == 0) return false;
        name = name.substr(0, open);
      }
      if (!is_name(name)) return false;
      for (unsigned i = 0; i < std::max(count, 1u); ++i) {
        const std::string own = std::string(name) + (count == 0 ? "" : std::to_string(i)), cpp = in_cpp("r", own);
        names_[own] = cpp;
        out_ += "[[maybe_unused]] " + std::string(type) + " " + cpp + "; ";
      }
    }
    return true;
  }

  // @p name operands
  bool instruction(View s) {
    std::string condition;
    if (s.starts_with('@')) {
      std::size_t end = 1;
      while (end < s.size() && !is_space(s[end])) ++end;
      const View predicate = s.substr(1, end - 1);
      const auto operand = ptx_operand(std::string(predicate), given_, names_);
      if (!operand || operand->kind != 'r') return false;
      condition = operand->expressions[0];
      s = trimmed(s.substr(end));
    }
    std::size_t end = 0;
    while (end < s.size() && !is_space(s[end]) && s[end] != '[' && s[end] != '%' && s[end] != '{') ++end;
    // "shared::{cta,cluster}"
    if (end < s.size() && s[end] == '{' && s.substr(0, end).ends_with("::"))
      while (end < s.size() && !is_space(s[end])) ++end;
    const View name = s.substr(0, end);
    std::string operands;
    for (const char c : s.substr(end))
      if (!is_space(c)) operands += c;
    std::string code;
    if (name == "bra" || name == "bra.uni") {
      if (!is_name(operands)) return false;
      wanted_.insert(operands);
      code = "goto " + in_cpp("label", operands);
    } else {
      PtxInstruction i{ptx_split(name, '.'), {}};
      if (!operands.empty())
        for (std::string& one : ptx_split(operands, ',')) {
          auto operand = ptx_operand(std::move(one), given_, names_);
          if (!operand) return false;
          i.operands.push_back(std::move(*operand));
        }
      code = as_call_(i);
      if (code.empty()) return false;
    }
    out_ += condition.empty() ? code + "; " : "if (" + condition + ") { " + code + "; } ";
    return true;
  }

  bool all_labels_known() const {
    return std::all_of(wanted_.begin(), wanted_.end(), [&](const std::string& l) { return labels_.count(l) != 0; });
  }

  static View trimmed(View s) {
    while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
    while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
    return s;
  }

  View text_;
  const std::function<std::string(const PtxInstruction&)>& as_call_;
  std::vector<std::string> given_;
  PtxNames names_;
  std::vector<PtxNames> scopes_;
  std::set<std::string> labels_, wanted_;
  std::string out_;
  std::size_t at_ = 0;
};

}  // namespace

std::string ptx_statements(View operands, const std::function<std::string(const PtxInstruction&)>& as_call) {
  const std::vector<std::string> sections = ptx_split(operands, ':');
  const auto text = ptx_source(sections[0]);
  auto given = ptx_given(sections);
  if (!text || !given || text->find_first_not_of(" \n;") == std::string::npos) return {};
  return Statements(*text, std::move(*given), as_call).run();
}

}  // namespace ridge::simt
