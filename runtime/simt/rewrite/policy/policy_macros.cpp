#include "policy_macros.hpp"

#include <cctype>

#include "simt/rewrite/text/lexer.hpp"

namespace ridge::simt {

namespace {

using View = std::string_view;

template <class F>
void for_words(View text, F f) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > i && std::isdigit(static_cast<unsigned char>(text[i])) == 0) f(text.substr(i, end - i));
    i = end > i ? end : i + 1;
  }
}

// A header's words in its code and in its macros' texts; conditions are what macros are for.
std::set<std::string, std::less<>> words_of(const std::string& text) {
  std::string code;
  const std::vector<Kind> kinds = classify(text);
  for (std::size_t i = 0; i < text.size(); ++i) code += kinds[i] == Kind::code || text[i] == '\n' ? text[i] : ' ';
  std::set<std::string, std::less<>> words;
  bool condition = false, goes_on = false;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    const View line = View(code).substr(at, end - at);
    at = end + 1;
    if (!goes_on) {
      std::size_t i = line.find_first_not_of(" \t");
      condition = i != View::npos && line[i] == '#';
      if (condition) {
        i = line.find_first_not_of(" \t", i + 1);
        condition = i == View::npos || !line.substr(i).starts_with("define");
      }
    }
    goes_on = !line.empty() && line.back() == '\\';
    if (!condition) for_words(line, [&](View w) { words.emplace(w); });
  }
  return words;
}

bool of_the_emulator(View name) {
  for (View head : {"RIDGE_", "ridge_", "__ridge_", "__tsan_", "__sanitizer_"})
    if (starts_with(name, head)) return true;
  return false;
}

}  // namespace

void Macros::define(View text, const std::string& file, int line, bool foreign) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string name(text.substr(0, end));
  if (!foreign) {
    if (of_the_emulator(name)) {
      found_.push_back({file, line, "the name '" + name + "' belongs to the emulator", "choose another name"});
      return;
    }
    taint(name, {file, line, name});
    return;
  }
  for_words(text.substr(end), [&](View w) {
    used_by_[std::string(w)].insert(name);
    if (auto known = own_.find(w); known != own_.end() && own_.count(name) == 0) taint(name, Place(known->second));
  });
}

void Macros::undefine(View text, const std::string& file, int line, bool foreign) {
  std::size_t end = 0;
  while (end < text.size() && is_word(text[end])) ++end;
  const std::string name(text.substr(0, end));
  if (foreign || !of_the_emulator(name)) return;
  found_.push_back({file, line, "the name '" + name + "' belongs to the emulator", "remove the #undef"});
}

void Macros::taint(const std::string& name, const Place& place) {
  std::vector<std::string> todo = {name};
  while (!todo.empty()) {
    const std::string next = std::move(todo.back());
    todo.pop_back();
    if (!own_.emplace(next, place).second) continue;
    if (auto users = used_by_.find(next); users != used_by_.end())
      todo.insert(todo.end(), users->second.begin(), users->second.end());
  }
}

void Macros::enter(const std::string& file) {
  if (own_.empty() || !read_) return;
  const auto words = words_of(read_(file));
  for (const auto& [name, place] : own_)
    if (words.count(name) != 0) refuse(place, file);
}

void Macros::refuse(const Place& place, const std::string& header) {
  if (!told_.insert(place.name).second) return;
  found_.push_back({place.file, place.line,
                    "the macro '" + place.name + "' changes the header " + header.substr(header.rfind('/') + 1) +
                        ", which is included below it and has that name",
                    "include headers first, or choose another name"});
}

}  // namespace ridge::simt
