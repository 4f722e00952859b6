# `-include x.cu` as a name, commands in names, a response file, a name with a line break, one beside the lab's.
code='#include <cstdio>
static const int obeyed = std::puts("obeyed '"$MARKER"'");
'
for name in '-include.cu' '$(touch loot).cu' '`touch loot`.cu' '@args.cu' ';touch loot;.cu' '--.cu' "a
b.cu" '..cu' 'extra.cu'; do
  printf '%s' "$code" > "./$name"
done
