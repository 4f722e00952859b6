#include "image.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <vector>

#include "device/program.hpp"
#include "device/tls.hpp"
#include "driver/image_text.hpp"
#include "driver/module_tail.hpp"

namespace ridge::simt::driver {

namespace {

constexpr std::size_t kPage = 4096;

// What a file of this kind holds, read with the bounds of its bytes.
class Elf {
 public:
  explicit Elf(const std::string& bytes) : bytes_(bytes) {
    sound_ = bytes.size() > sizeof(ElfW(Ehdr)) && std::memcmp(bytes.data(), ELFMAG, SELFMAG) == 0 &&
             header().e_shoff + std::size_t{header().e_shnum} * sizeof(ElfW(Shdr)) <= bytes.size() &&
             header().e_phoff + std::size_t{header().e_phnum} * sizeof(ElfW(Phdr)) <= bytes.size() &&
             header().e_shstrndx < header().e_shnum;
    for (std::size_t i = 0; sound_ && i < header().e_shnum; ++i)
      sound_ = section(i).sh_type == SHT_NOBITS || section(i).sh_offset + section(i).sh_size <= bytes.size();
  }
  bool sound() const { return sound_; }
  const ElfW(Ehdr) & header() const { return *at<ElfW(Ehdr)>(0); }
  const ElfW(Shdr) & section(std::size_t i) const { return at<ElfW(Shdr)>(header().e_shoff)[i]; }
  const ElfW(Phdr) & segment(std::size_t i) const { return at<ElfW(Phdr)>(header().e_phoff)[i]; }
  const char* name(const ElfW(Shdr) & s) const { return at<char>(section(header().e_shstrndx).sh_offset) + s.sh_name; }
  template <class T>
  const T* at(std::size_t offset) const {
    return reinterpret_cast<const T*>(bytes_.data() + offset);
  }
  // f(symbol, name) for each symbol of the tables of this type.
  template <class F>
  void symbols(unsigned type, F f) const {
    for (std::size_t i = 0; i < header().e_shnum; ++i) {
      const ElfW(Shdr)& s = section(i);
      if (s.sh_type != type) continue;
      const char* names = at<char>(section(s.sh_link).sh_offset);
      for (std::size_t k = 0; k < s.sh_size / sizeof(ElfW(Sym)); ++k) {
        const ElfW(Sym)& symbol = at<ElfW(Sym)>(s.sh_offset)[k];
        f(symbol, names + symbol.st_name);
      }
    }
  }
  template <class F>
  void relocations(F f) const {
    for (std::size_t i = 0; i < header().e_shnum; ++i)
      if (const ElfW(Shdr)& s = section(i); s.sh_type == SHT_RELA && (s.sh_flags & SHF_ALLOC) != 0)
        for (std::size_t k = 0; k < s.sh_size / sizeof(ElfW(Rela)); ++k) f(at<ElfW(Rela)>(s.sh_offset)[k], s);
  }

 private:
  const std::string& bytes_;
  bool sound_ = false;
};

std::string file_bytes(const char* path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The program's own functions and variables, by name.
const std::unordered_map<std::string, std::uintptr_t>& program_symbols() {
  static const auto* all = [] {
    auto* found = new std::unordered_map<std::string, std::uintptr_t>;
    const std::string bytes = file_bytes("/proc/self/exe");
    if (const Elf elf(bytes); elf.sound())
      elf.symbols(SHT_SYMTAB, [&](const ElfW(Sym) & s, const char* name) {
        const unsigned type = ELF64_ST_TYPE(s.st_info);
        if (s.st_shndx == SHN_UNDEF || ELF64_ST_BIND(s.st_info) == STB_LOCAL || type == STT_TLS) return;
        found->emplace(name, Program::instance().base + s.st_value);
      });
    return found;
  }();
  return *all;
}

std::uintptr_t address_of(const char* name) {
  const auto& own = program_symbols();
  if (const auto at = own.find(name); at != own.end()) return at->second;
  return reinterpret_cast<std::uintptr_t>(dlsym(RTLD_DEFAULT, name));
}

// Behind the program: what the emulator notes of a place in code is its distance from the program's base, in 32 bits.
std::uintptr_t free_place(std::size_t bytes) {
  constexpr std::uintptr_t kFirst = std::uintptr_t{1} << 30, kEnd = std::uintptr_t{4} << 30, kStep = 1 << 20;
  static std::uintptr_t next = kFirst;
  const std::uintptr_t base = Program::instance().base & ~std::uintptr_t{kPage - 1};
  for (; next + bytes < kEnd; next += kStep) {
    void* p = mmap(reinterpret_cast<void*>(base + next), bytes, PROT_READ | PROT_WRITE | PROT_EXEC,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (p == MAP_FAILED) continue;
    next += (bytes + kStep) / kStep * kStep;
    return reinterpret_cast<std::uintptr_t>(p);
  }
  return 0;
}

// A file without a name, which addr2line can read as long as the program runs.
std::string kept_file(const std::string& bytes) {
  const int fd = memfd_create("module", 0);
  if (fd < 0 || write(fd, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) return {};
  return "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(fd);
}

}  // namespace

std::string image_bytes(const void* data) {
  const char* text = static_cast<const char*>(data);
  if (std::memcmp(text, ELFMAG, SELFMAG) == 0) {
    const auto* header = static_cast<const ElfW(Ehdr)*>(data);
    return {text, header->e_shoff + std::size_t{header->e_shnum} * sizeof(ElfW(Shdr))};
  }
  return image_of_text(text);
}

std::unique_ptr<Image> load_image(const std::string& bytes, std::string& why) {
  const Elf elf(bytes);
  if (!elf.sound() || elf.header().e_type != ET_DYN || elf.header().e_machine != EM_X86_64) {
    why = "it is no module of the emulator";
    return nullptr;
  }
  std::size_t size = 0, thread_local_bytes = 0;
  for (std::size_t i = 0; i < elf.header().e_phnum; ++i) {
    const ElfW(Phdr)& h = elf.segment(i);
    if (h.p_type == PT_LOAD) size = std::max<std::size_t>(size, h.p_vaddr + h.p_memsz);
    if (h.p_type == PT_TLS) thread_local_bytes = h.p_memsz;
  }
  if (thread_local_bytes != kDynamicSharedMax + kModuleSharedBytes) {
    why = "it was made by another version of ridge cc";
    return nullptr;
  }
  if (program_symbols().empty()) {
    why = "the program has no symbols any more: link it without -s, and leave out strip";
    return nullptr;
  }
  // The thread-local segment ends at the thread's pointer, here and in the module.
  const auto segment_end = reinterpret_cast<std::uintptr_t>(__builtin_thread_pointer());
  const auto dynamic_shared = reinterpret_cast<std::uintptr_t>(ridge_dynamic_shared());
  if (segment_end != dynamic_shared + kDynamicSharedMax + kModuleSharedBytes) {
    why = "programs that load modules are linked by `ridge cc`";
    return nullptr;
  }
  auto image = std::make_unique<Image>();
  image->base = free_place(size);
  auto* kept = new std::string(bytes);  // the emulator reads its tables from now on
  const std::string path = kept_file(bytes);
  if (image->base == 0 || path.empty()) {
    why = "there is no memory for it";
    return nullptr;
  }
  const auto in_memory = [&](std::uintptr_t offset) { return image->base + offset; };
  for (std::size_t i = 0; i < elf.header().e_phnum; ++i)
    if (const ElfW(Phdr)& h = elf.segment(i); h.p_type == PT_LOAD)
      std::memcpy(reinterpret_cast<void*>(in_memory(h.p_vaddr)), elf.at<char>(h.p_offset), h.p_filesz);

  const ElfW(Sym)* dynamic = nullptr;
  const char* dynamic_names = nullptr;
  for (std::size_t i = 0; i < elf.header().e_shnum; ++i)
    if (const ElfW(Shdr)& s = elf.section(i); s.sh_type == SHT_DYNSYM)
      dynamic = elf.at<ElfW(Sym)>(s.sh_offset), dynamic_names = elf.at<char>(elf.section(s.sh_link).sh_offset);
  elf.relocations([&](const ElfW(Rela) & r, const ElfW(Shdr)&) {
    std::uintptr_t value = 0;
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_NONE:
        return;
      case R_X86_64_RELATIVE:
        value = in_memory(static_cast<std::uintptr_t>(r.r_addend));
        break;
      case R_X86_64_JUMP_SLOT:
      case R_X86_64_GLOB_DAT:
      case R_X86_64_64: {
        const ElfW(Sym)& s = dynamic[ELF64_R_SYM(r.r_info)];
        const char* name = dynamic_names + s.st_name;
        value = s.st_shndx != SHN_UNDEF ? in_memory(s.st_value) : address_of(name);
        if (value == 0 && ELF64_ST_BIND(s.st_info) != STB_WEAK) why = std::string("nothing here is called ") + name;
        if (ELF64_R_TYPE(r.r_info) == R_X86_64_64) value += static_cast<std::uintptr_t>(r.r_addend);
        break;
      }
      default:
        why = "it holds what the loader does not know (relocation " + std::to_string(ELF64_R_TYPE(r.r_info)) + ")";
        return;
    }
    std::memcpy(reinterpret_cast<void*>(in_memory(r.r_offset)), &value, sizeof value);
  });
  if (!why.empty()) return nullptr;
  elf.symbols(SHT_SYMTAB, [&](const ElfW(Sym) & s, const char* name) {
    const unsigned type = ELF64_ST_TYPE(s.st_info);
    if (s.st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_OBJECT))
      image->symbols[name] = {in_memory(s.st_value), s.st_size, type == STT_FUNC};
  });
  Program::add({image->base, size, kept->data(), path});
  for (std::size_t i = 0; i < elf.header().e_shnum; ++i)
    if (const ElfW(Shdr)& s = elf.section(i); s.sh_type == SHT_INIT_ARRAY) {
      auto* functions = reinterpret_cast<void (**)(int, char**, char**)>(in_memory(s.sh_addr));
      for (std::size_t k = 0; k < s.sh_size / sizeof(void*); ++k) functions[k](0, nullptr, nullptr);
    }
  return image;
}

std::string variables_as_text(const std::string& bytes) {
  const Elf elf(bytes);
  std::string text;
  if (!elf.sound()) return text;
  elf.symbols(SHT_SYMTAB, [&](const ElfW(Sym) & s, const char* name) {
    const std::string_view n = name;
    const bool ours = n.find("ridge") != std::string_view::npos || n.starts_with("_ZGV") || n.find('.') != n.npos;
    if (s.st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s.st_info) == STT_OBJECT && s.st_size != 0 && !ours)
      text += "// .global .align 4 .b8 " + std::string(n) + "[" + std::to_string(s.st_size) + "];\n";
  });
  return text;
}

std::string target_of(const std::string& bytes, const std::string& pointer) {
  const Elf elf(bytes);
  if (!elf.sound()) return {};
  std::uintptr_t place = 0, target = 0;
  elf.symbols(SHT_SYMTAB, [&](const ElfW(Sym) & s, const char* name) {
    if (s.st_shndx != SHN_UNDEF && pointer == name) place = s.st_value;
  });
  elf.relocations([&](const ElfW(Rela) & r, const ElfW(Shdr)&) {
    if (place != 0 && r.r_offset == place && ELF64_R_TYPE(r.r_info) == R_X86_64_RELATIVE)
      target = static_cast<std::uintptr_t>(r.r_addend);
  });
  std::string found;
  elf.symbols(SHT_SYMTAB, [&](const ElfW(Sym) & s, const char* name) {
    const unsigned type = ELF64_ST_TYPE(s.st_info);
    if (target != 0 && s.st_shndx != SHN_UNDEF && s.st_value == target && (type == STT_FUNC || type == STT_OBJECT))
      found = name;
  });
  return found;
}

}  // namespace ridge::simt::driver
