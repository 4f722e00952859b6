// ridge completion prints scripts for shells. A script asks `ridge completion words` what may come next, so that it
// never grows old.
#include <fmt/format.h>

#include "app/cli/command.hpp"
#include "app/cli/words.hpp"

namespace ridge {

namespace {

constexpr const char* kBash = R"sh(# Ridge completion for bash: ridge completion bash >> ~/.bashrc
_ridge() {
  local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]}
  COMPREPLY=($(RIDGE_NO_BUILD=1 "$program" completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _ridge ridge ./ridge
)sh";

constexpr const char* kZsh = R"sh(# Ridge completion for zsh: ridge completion zsh >> ~/.zshrc (behind compinit)
_ridge() {
  local -a found
  found=(${(f)"$(RIDGE_NO_BUILD=1 ${words[1]} completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _ridge ridge ./ridge
)sh";

constexpr const char* kFish =
    R"sh(# Ridge completion for fish: ridge completion fish > ~/.config/fish/completions/ridge.fish
function __ridge_words
  set -l typed (commandline -opc)
  RIDGE_NO_BUILD=1 $typed[1] completion words -- $typed[2..-1] (commandline -ct) 2>/dev/null
end
complete -c ridge -a '(__ridge_words)'
)sh";

struct CompletionArguments {
  std::string shell;
  std::vector<std::string> words;
};

}  // namespace

void add_completion(Commands& ridge) {
  CLI::App* command = ridge.add("completion", "Completion for a shell: bash, zsh or fish",
                                "  ridge completion bash >> ~/.bashrc\n  ridge completion zsh >> ~/.zshrc\n"
                                "  ridge completion fish > ~/.config/fish/completions/ridge.fish");
  auto a = std::make_shared<CompletionArguments>();
  command->add_option("shell", a->shell, "Shell")->required()->check(CLI::IsMember({"bash", "zsh", "fish", "words"}));
  command->add_option("words", a->words, "For the scripts: what was typed so far")->group("");
  ridge.set_action(command, [a, &ridge] {
    if (a->shell == "words")
      complete(ridge.app(), a->words);
    else
      fmt::print("{}", a->shell == "bash" ? kBash : a->shell == "zsh" ? kZsh : kFish);
    return 0;
  });
}

}  // namespace ridge
