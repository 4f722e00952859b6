// TCP between the processes of a communicator.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::collectives {

// Listens on a free port. `address` becomes "host:port": of the interface named by NCCL_SOCKET_IFNAME, else of the
// loopback interface unless the job spans several nodes (SLURM_NNODES). -1: errno says why.
int listen_on_free_port(std::string& address);
int connect_to(const std::string& address);  // -1: errno says why
bool send_all(int socket, const void* data, std::size_t bytes);
// 1: received; 0: nothing came within `seconds`; -1: the other end is gone.
int receive_all(int socket, void* data, std::size_t bytes, double seconds);

}  // namespace ridge::collectives
