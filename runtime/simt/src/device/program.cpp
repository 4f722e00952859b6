#include "device/program.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

// Bounds of the sections that `ridge cc` fills; null where the program has none.
extern "C" {
[[gnu::weak]] extern const ridge::simt::BlockRecord __start_ridge_blocks[];
[[gnu::weak]] extern const ridge::simt::BlockRecord __stop_ridge_blocks[];
[[gnu::weak]] extern const ridge::simt::SharedRecord __start_ridge_shared[];
[[gnu::weak]] extern const ridge::simt::SharedRecord __stop_ridge_shared[];
[[gnu::weak]] extern const char __start_ridge_data[];
[[gnu::weak]] extern const char __stop_ridge_data[];
[[gnu::weak]] extern const char __start_ridge_bss[];
[[gnu::weak]] extern const char __stop_ridge_bss[];
[[gnu::weak]] extern const char __start_ridge_constant[];
[[gnu::weak]] extern const char __stop_ridge_constant[];
[[gnu::weak]] extern const char __start_ridge_constant_const[];
[[gnu::weak]] extern const char __stop_ridge_constant_const[];
}

namespace ridge::simt {

namespace {

std::vector<LoadedModule>& modules() {
  static auto* all = new std::vector<LoadedModule>;
  return *all;
}

// f(type, value, size, name) for each symbol that this file defines.
template <class F>
void for_symbols_of(const char* file, F f) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(file);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(file + header->e_shoff);
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(file + sections[i].sh_offset);
    const char* names = file + sections[sections[i].sh_link].sh_offset;
    for (std::size_t k = 0; k < sections[i].sh_size / sizeof *symbols; ++k)
      if (symbols[k].st_shndx != SHN_UNDEF)
        f(ELF64_ST_TYPE(symbols[k].st_info), symbols[k].st_value, symbols[k].st_size, names + symbols[k].st_name);
  }
}

// The symbol tables of the program and of what it has loaded: values are counted from the program's base, and those of
// thread-local variables from the start of their segment.
template <class F>
void for_symbols(F f) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) return;
  auto bytes = static_cast<std::size_t>(st.st_size);
  void* map = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (map == MAP_FAILED) return;
  for_symbols_of(static_cast<const char*>(map), f);
  munmap(map, bytes);
  for (const LoadedModule& m : modules())
    for_symbols_of(m.file, [&](unsigned type, std::uintptr_t value, std::size_t size, const char* name) {
      if (type != STT_TLS) f(type, value + m.base - Program::instance().base, size, name);
    });
}

std::string demangled(const char* symbol) {
  int status = 0;
  char* text = abi::__cxa_demangle(symbol, nullptr, nullptr, &status);
  std::string name = text != nullptr ? text : symbol;
  std::free(text);
  return name;
}

// "Closure<...>::run(void*)" and "PointerClosure<...>::run(void*)" of cuda_runtime.h.
bool names_entry(const char* name) {
  const std::string_view mangled = name;
  if (!mangled.starts_with("_ZN10ridge_simt7ClosureI") && !mangled.starts_with("_ZN10ridge_simt14PointerClosureI"))
    return false;
  // Not demangled: older libraries don't know generic lambdas. A pointer that came before is named by a number.
  const auto at = mangled.rfind("E3runE");
  if (at == std::string_view::npos) return false;
  const std::string_view parameter = mangled.substr(at + 6);
  return parameter == "Pv" ||
         (parameter.size() >= 2 && parameter.front() == 'S' && parameter.back() == '_' &&
          parameter.find_first_not_of("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 1) == parameter.size() - 1);
}

bool names_pointer_entry(std::string_view name) { return name.starts_with("_ZN10ridge_simt14PointerClosureI"); }

void by_address(std::vector<Object>& objects) {
  std::sort(objects.begin(), objects.end(), [](const Object& a, const Object& b) { return a.begin < b.begin; });
}

Program load() {
  Program p;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* out) {
        auto& program = *static_cast<Program*>(out);
        if (program.segments.empty()) program.base = info->dlpi_addr;  // the program itself comes first
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const auto& h = info->dlpi_phdr[i];
          if (h.p_type == PT_LOAD)
            program.segments.push_back(
                {info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz, (h.p_flags & PF_W) != 0});
          if (h.p_type == PT_GNU_RELRO)
            program.constants = {info->dlpi_addr + h.p_vaddr, info->dlpi_addr + h.p_vaddr + h.p_memsz};
        }
        return 1;
      },
      &p);
  p.graph = Program::counts();
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char* name) {
    if (type == STT_FUNC && names_entry(name))
      (names_pointer_entry(name) ? p.pointer_entries : p.entries).push_back(p.base + value);
    if (size == 0) return;
    if (type == STT_OBJECT) p.objects.push_back({p.base + value, p.base + value + size});
    if (type == STT_TLS) p.shared.push_back({value, value + size});
  });
  by_address(p.objects);
  by_address(p.shared);
  std::sort(p.entries.begin(), p.entries.end());
  std::sort(p.pointer_entries.begin(), p.pointer_entries.end());
  for (const BlockRecord* b = __start_ridge_blocks; b != __stop_ridge_blocks; ++b)
    if (p.functions.empty() || p.functions.back() != b->function) p.functions.push_back(b->function);
  std::sort(p.functions.begin(), p.functions.end());
  p.functions.erase(std::unique(p.functions.begin(), p.functions.end()), p.functions.end());
  const std::pair<const char*, const char*> variables[] = {{__start_ridge_data, __stop_ridge_data},
                                                           {__start_ridge_bss, __stop_ridge_bss},
                                                           {__start_ridge_constant, __stop_ridge_constant},
                                                           {__start_ridge_constant_const, __stop_ridge_constant_const}};
  for (auto [begin, end] : variables)
    if (begin != end)
      p.variables.push_back({reinterpret_cast<std::uintptr_t>(begin), reinterpret_cast<std::uintptr_t>(end)});
  return p;
}

}  // namespace

bool Program::counts() { return &__start_ridge_blocks[0] != &__stop_ridge_blocks[0]; }

namespace {

Program& the_program() {
  static Program program = load();
  return program;
}

std::unordered_map<std::uint64_t, KernelResources>& known_resources() {
  static std::unordered_map<std::uint64_t, KernelResources> all;
  return all;
}

void note_resources(const BlockRecord* blocks, const BlockRecord* blocks_end, const SharedRecord* shared,
                    const SharedRecord* shared_end) {
  auto& all = known_resources();
  for (const BlockRecord* r = blocks; r != blocks_end; ++r) all[r->function].registers = r->registers;
  for (const SharedRecord* r = shared; r != shared_end; ++r) all[r->function].static_shared += r->bytes;
}

}  // namespace

const Program& Program::instance() { return the_program(); }

const std::vector<LoadedModule>& loaded_modules() { return modules(); }

void Program::add(const LoadedModule& m) {
  Program& p = the_program();
  modules().push_back(m);
  p.segments.push_back({m.base, m.base + m.bytes, true});
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(m.file);
  const auto* sections = reinterpret_cast<const ElfW(Shdr)*>(m.file + header->e_shoff);
  const char* names = m.file + sections[header->e_shstrndx].sh_offset;
  const BlockRecord *blocks = nullptr, *blocks_end = nullptr;
  const SharedRecord *shared = nullptr, *shared_end = nullptr;
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    const std::string_view name = names + sections[i].sh_name;
    const std::uintptr_t begin = m.base + sections[i].sh_addr, end = begin + sections[i].sh_size;
    if (name == "ridge_data" || name == "ridge_bss" || name == "ridge_constant" || name == "ridge_constant_const")
      p.variables.push_back({begin, end});
    if (name == "ridge_blocks")
      blocks = reinterpret_cast<const BlockRecord*>(begin), blocks_end = reinterpret_cast<const BlockRecord*>(end);
    if (name == "ridge_shared")
      shared = reinterpret_cast<const SharedRecord*>(begin), shared_end = reinterpret_cast<const SharedRecord*>(end);
  }
  for_symbols_of(m.file, [&](unsigned type, std::uintptr_t value, std::size_t size, const char* name) {
    if (type == STT_FUNC && names_entry(name))
      (names_pointer_entry(name) ? p.pointer_entries : p.entries).push_back(m.base + value);
    if (size != 0 && type == STT_OBJECT) p.objects.push_back({m.base + value, m.base + value + size});
  });
  for (const BlockRecord* b = blocks; b != blocks_end; ++b) p.functions.push_back(b->function);
  p.resources(0);  // those of the program first
  note_resources(blocks, blocks_end, shared, shared_end);
  by_address(p.objects);
  std::sort(p.entries.begin(), p.entries.end());
  std::sort(p.pointer_entries.begin(), p.pointer_entries.end());
  std::sort(p.functions.begin(), p.functions.end());
  p.functions.erase(std::unique(p.functions.begin(), p.functions.end()), p.functions.end());
}

bool Program::in_variable(std::uintptr_t address, std::size_t bytes) const {
  auto at = std::upper_bound(objects.begin(), objects.end(), address,
                             [](std::uintptr_t a, const Object& o) { return a < o.begin; });
  if (at == objects.begin()) return false;
  --at;
  return address < at->end && bytes <= at->end - address && own(address);
}

bool Program::own_code(std::uintptr_t address) const {
  bool own = false;
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char*) {
    if (type == STT_FUNC && address - (base + value) < size)
      own = own || std::binary_search(functions.begin(), functions.end(), base + value);
  });
  return own;
}

std::uint32_t Program::own_caller(const Callers& callers) const {
  for (std::uint32_t c : callers)
    if (c != 0 && own_code(base + c)) return c;
  return 0;
}

bool is_kernel_entry(std::uintptr_t function, const void* closure, std::size_t closure_bytes) {
  const Program& p = Program::instance();
  auto in = [](const std::vector<std::uintptr_t>& all, std::uintptr_t a) {
    return std::binary_search(all.begin(), all.end(), a);
  };
  if (in(p.entries, function)) return true;
  std::uintptr_t kernel = 0;  // a PointerClosure begins with the kernel's address
  if (!in(p.pointer_entries, function) || closure_bytes < sizeof kernel) return false;
  std::memcpy(&kernel, closure, sizeof kernel);
  return in(p.functions, kernel);
}

KernelResources Program::resources(std::uint64_t function) const {
  static const bool noted = [] {
    note_resources(__start_ridge_blocks, __stop_ridge_blocks, __start_ridge_shared, __stop_ridge_shared);
    return true;
  }();
  const auto& all = known_resources();
  const auto at = noted ? all.find(function) : all.end();
  return at == all.end() ? KernelResources{} : at->second;
}

std::string function_name(std::uintptr_t address) {
  std::string name;
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t, const char* symbol) {
    if (type == STT_FUNC && Program::instance().base + value == address) name = demangled(symbol);
  });
  // void name<arguments>(parameters): without its type and parameters, which may hold parentheses themselves.
  if (name.ends_with(')')) {
    std::size_t open = name.size();
    int depth = 0;
    do {
      --open;
      depth += name[open] == ')' ? 1 : name[open] == '(' ? -1 : 0;
    } while (open > 0 && depth > 0);
    name.resize(open);
  }
  for (const std::string_view head : {"void ", "(anonymous namespace)::"})
    if (name.starts_with(head)) name.erase(0, head.size());
  return name.empty() ? "kernel" : name;
}

std::uintptr_t function_with(std::uintptr_t address) {
  std::uintptr_t begin = 0;
  const std::uintptr_t base = Program::instance().base;
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char*) {
    if (type == STT_FUNC && address - (base + value) < size) begin = base + value;
  });
  return begin;
}

Variable variable_near(std::uintptr_t address, bool shared) {
  const Program& p = Program::instance();
  Variable best;
  std::uintptr_t least = 0;
  std::uintptr_t wanted = shared ? address : address - p.base;
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char* name) {
    constexpr std::size_t kReach = 512;  // red zones are 256 bytes
    if (type != (shared ? STT_TLS : STT_OBJECT) || size == 0) return;
    if (wanted + kReach < value || wanted >= value + size + kReach) return;
    // An array is more often overrun than underrun: by four bytes rather than by a red zone, though.
    const std::uintptr_t distance = wanted < value          ? 4 * (value - wanted)
                                    : wanted < value + size ? 0
                                                            : wanted - value - size;
    if (best.bytes != 0 && distance >= least) return;
    best = {name, value, size};
    least = distance;
  });
  if (!best.name.empty()) {
    best.name = demangled(best.name.c_str());
    if (auto scope = best.name.rfind("::"); scope != std::string::npos) best.name.erase(0, scope + 2);
    if (!shared) best.begin += p.base;
  }
  return best;
}

}  // namespace ridge::simt
