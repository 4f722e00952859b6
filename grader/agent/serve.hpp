// An agent's work: keeps workers of its rank in sandboxes for a judge on another node, and hands on what passes
// between.
#pragma once

namespace ridge::agent {

// Until the judge closes the connection. 0, or 3 where the judge can't be reached.
int serve(int rank, int size);

}  // namespace ridge::agent
