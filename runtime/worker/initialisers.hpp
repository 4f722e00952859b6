// The submission's static initialisers. On the emulator they do not run before main: the builder has moved them out of
// .init_array (simt/rewrite/assembly/assembly.hpp), so that a process that only replays device work never enters them.
#pragma once

namespace ridge::worker {

// Runs them by priority, then in the order of linking. Without any (backend `cuda`: they have run) it does nothing.
void run_initialisers();

}  // namespace ridge::worker
