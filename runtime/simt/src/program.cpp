#include "program.hpp"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

// Bounds of the sections that `ridge cc` fills; null where the program has none.
extern "C" {
[[gnu::weak]] extern const ridge::simt::BlockRecord __start_ridge_blocks[];
[[gnu::weak]] extern const ridge::simt::BlockRecord __stop_ridge_blocks[];
[[gnu::weak]] extern const ridge::simt::SharedRecord __start_ridge_shared[];
[[gnu::weak]] extern const ridge::simt::SharedRecord __stop_ridge_shared[];
}

namespace ridge::simt {

namespace {

// The program's own symbol table: f(type, value, size, name) for each symbol.
template <class F>
void for_symbols(F f) {
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd < 0 || fstat(fd, &st) != 0) return;
  auto bytes = static_cast<std::size_t>(st.st_size);
  void* map = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  close(fd);
  if (map == MAP_FAILED) return;
  const char* file = static_cast<const char*>(map);
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
  munmap(map, bytes);
}

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
        }
        return 1;
      },
      &p);
  p.graph = &__start_ridge_blocks[0] != &__stop_ridge_blocks[0];
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char*) {
    if (size == 0) return;
    if (type == STT_OBJECT) p.objects.push_back({p.base + value, p.base + value + size});
    if (type == STT_TLS) p.shared.push_back({value, value + size});
  });
  by_address(p.objects);
  by_address(p.shared);
  return p;
}

}  // namespace

const Program& Program::instance() {
  static const Program program = load();
  return program;
}

std::size_t Program::static_shared(std::uint64_t function) const {
  std::size_t bytes = 0;
  for (const SharedRecord* r = __start_ridge_shared; r != __stop_ridge_shared; ++r)
    if (r->function == function) bytes += r->bytes;
  return bytes;
}

Variable variable_near(std::uintptr_t address, bool shared) {
  const Program& p = Program::instance();
  Variable best;
  std::uintptr_t wanted = shared ? address : address - p.base;
  for_symbols([&](unsigned type, std::uintptr_t value, std::size_t size, const char* name) {
    constexpr std::size_t kReach = 512;  // red zones are 256 bytes
    if (type != (shared ? STT_TLS : STT_OBJECT) || size == 0) return;
    if (wanted + kReach < value || wanted >= value + size + kReach) return;
    // An array is more often overrun than underrun.
    bool past = value <= wanted;
    if (best.bytes != 0 && (!past || value < best.begin)) return;
    best = {name, value, size};
  });
  if (!best.name.empty()) {
    int status = 0;
    if (char* text = abi::__cxa_demangle(best.name.c_str(), nullptr, nullptr, &status)) {
      best.name = text;
      std::free(text);
    }
    if (auto scope = best.name.rfind("::"); scope != std::string::npos) best.name.erase(0, scope + 2);
    if (!shared) best.begin += p.base;
  }
  return best;
}

}  // namespace ridge::simt
