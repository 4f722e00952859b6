#include "variants.hpp"

#include <vector>

#include "kernels.hpp"
#include "manners.hpp"

namespace ridge::test {

namespace {

// splitmix64, so that the sequence is the same everywhere.
struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  template <class T>
  const T& of(const std::vector<T>& all) {
    return all[next() % all.size()];
  }
};

std::string with(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

}  // namespace

Variant honest_variant(std::uint64_t i) {
  Random random{i * 0x632BE59BD9B4E019ull + 11};
  const KernelForm& form = random.of(kernel_forms());
  // Every manner comes up within as many variants as there are; half of them have a second one.
  const Manner& manner = manners()[i % manners().size()];
  const Manner* second = random.next() % 2 == 0 ? &random.of(manners()) : nullptr;
  // One inside the other where the inner one needs nothing of the outer one's stream, and their names do not meet.
  if (second == &manner || (second != nullptr && (second->stream != "stream" || !second->header.empty() ||
                                                  manner.name == "a graph, captured and launched")))
    second = nullptr;
  const std::string block = std::to_string(random.of(form.blocks));
  static const char* const names[] = {"kernel", "my_kernel", "do_it", "fast", "k", "Kernel2", "run_on_device"};
  const std::string name = names[random.next() % (sizeof names / sizeof *names)];

  std::string launch = form.launch, body = manner.body, globals = manner.globals, includes = manner.includes;
  if (second != nullptr) {
    // In a scope of its own, and on the outer one's stream.
    std::string inner = with("{\n" + second->body + "  }", "stream)", "@S@)");
    inner = with(with(inner, "stream,", "@S@,"), ", stream>>>", ", @S@>>>");
    inner = with(inner, "cudaStream_t @S@", "cudaStream_t stream");
    launch = with(inner, "@L@", form.launch);
    globals += "namespace second {\n" + second->globals + "}\nusing namespace second;\n";
    includes += second->includes;
  }
  body = with(with(body, "@L@", launch), "@S@", manner.stream);
  std::string code = "// " + form.task + ", " + form.name + ", " + block + "; " + manner.name +
                     (second != nullptr ? "; " + second->name : "") + "\n#include \"" + form.header +
                     "\"\n#include <algorithm>\n" + includes + form.code + globals + "\n" + form.signature + " {\n" +
                     body + "}\n";
  code = with(with(code, "@B@", block), "@OUT@", form.output);
  code = with(code, "kernel<<<", name + "<<<");
  code = with(code, "kernel<4><<<", name + "<4><<<");
  code = with(with(code, " kernel(const", " " + name + "(const"), "(&kernel)", "(&" + name + ")");

  Variant v;
  v.lab = form.lab;
  v.task = form.task;
  v.name = form.task + ", " + form.name + ", block " + block + "; " + manner.name +
           (second != nullptr ? "; " + second->name : "");
  v.files[form.file] = code;
  if (!manner.header.empty()) v.files["helper.hpp"] = manner.header;
  return v;
}

}  // namespace ridge::test
