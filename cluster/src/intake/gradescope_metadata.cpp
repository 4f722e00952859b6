#include "cluster/src/intake/gradescope_metadata.hpp"

#include <fmt/format.h>

#include <memory>

#include "cluster/src/intake/lms_dates.hpp"
#include "grader/base/error.hpp"
#ifdef RIDGE_HAVE_YAML
#include <yaml.h>
#endif

namespace ridge::cluster {

#ifdef RIDGE_HAVE_YAML

namespace {

class Document {
 public:
  Document(const std::string& text, const std::string& name) {
    yaml_parser_initialize(&parser_);
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    const bool good = yaml_parser_load(&parser_, &document_) != 0;
    const std::string why = good || parser_.problem == nullptr ? "" : parser_.problem;
    const std::size_t line = parser_.problem_mark.line + 1;
    yaml_parser_delete(&parser_);
    if (!good) throw Error(Exit::usage, fmt::format("{} line {}: {}", name, line, why), "export the submissions again");
  }
  ~Document() { yaml_document_delete(&document_); }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  yaml_node_t* root() { return yaml_document_get_root_node(&document_); }
  static std::string text(const yaml_node_t* n) {
    if (n == nullptr || n->type != YAML_SCALAR_NODE) return "";
    return {reinterpret_cast<const char*>(n->data.scalar.value), n->data.scalar.length};
  }
  // The value of a mapping's key, which Ruby writes with a colon before it.
  yaml_node_t* at(const yaml_node_t* map, const std::string& key) {
    if (map == nullptr || map->type != YAML_MAPPING_NODE) return nullptr;
    for (auto* p = map->data.mapping.pairs.start; p != map->data.mapping.pairs.top; ++p)
      if (const std::string name = text(node(p->key)); name == key || name == ":" + key) return node(p->value);
    return nullptr;
  }
  yaml_node_t* node(int index) { return yaml_document_get_node(&document_, index); }

 private:
  yaml_parser_t parser_{};
  yaml_document_t document_{};
};

}  // namespace

Submitters read_submitters(const std::string& text, const std::string& name) {
  Document document(text, name);
  const yaml_node_t* root = document.root();
  if (root == nullptr || root->type != YAML_MAPPING_NODE)
    throw Error(Exit::usage, name + " is no list of submissions", "export the submissions again");
  Submitters all;
  for (auto* p = root->data.mapping.pairs.start; p != root->data.mapping.pairs.top; ++p) {
    auto& [who, when] = all[Document::text(document.node(p->key))];
    const yaml_node_t* made = document.at(document.node(p->value), "created_at");
    if (made != nullptr && made->type == YAML_MAPPING_NODE) made = document.at(made, "utc");
    when = gradescope_date(Document::text(made));
    const yaml_node_t* list = document.at(document.node(p->value), "submitters");
    if (list == nullptr || list->type != YAML_SEQUENCE_NODE) continue;
    for (auto* item = list->data.sequence.items.start; item != list->data.sequence.items.top; ++item) {
      const yaml_node_t* one = document.node(*item);
      auto field = [&](const char* key) { return Document::text(document.at(one, key)); };
      Student s;
      s.id = field("sid"), s.name = field("name"), s.email = field("email");
      who.push_back(s);
    }
  }
  return all;
}

#else

Submitters read_submitters(const std::string&, const std::string& name) {
  throw Error(Exit::environment, name + " can't be read: this Ridge was built without libyaml",
              "install libyaml-dev and run `./ridge build class`, or call each folder after the student's id");
}

#endif

}  // namespace ridge::cluster
