// Assembly without what compilers add to it as distributions configure them. Ubuntu's GCC marks the targets of indirect
// branches (endbr64) and writes a note that says so, Fedora's packages carry a note for every function, Arch's call
// through the loader's table. None of this is the program's own work, so it is gone before the policy and the counting
// build read the text.
#pragma once
#include <string>
#include <string_view>

namespace ridge::simt {

//   - sections that only describe the code (.note.*, .gnu.build.attributes, .GCC.command.line, .gnu.lto_*) are removed
//     with their content, so a submission cannot fill them. .note.GNU-stack stays: it keeps the stack from being executable
//   - endbr64 is removed
//   - call *f@GOTPCREL(%rip), of -fno-plt, becomes call f@PLT
std::string plain_assembly(std::string_view text);

}  // namespace ridge::simt
