// MPI in workers on GPUs: a lab that has it as a subject links; ranks there speak NCCL only.
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace {

int absent() {
  std::fprintf(stderr, "ridge: MPI: ranks on GPUs have NCCL only; this task runs on the emulator\n");
  std::exit(86);
}

}  // namespace

int MPI_Comm_rank(MPI_Comm, int*) { return absent(); }
int MPI_Comm_size(MPI_Comm, int*) { return absent(); }
int MPI_Send(const void*, int, MPI_Datatype, int, int, MPI_Comm) { return absent(); }
int MPI_Recv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) { return absent(); }
int MPI_Sendrecv(const void*, int, MPI_Datatype, int, int, void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status*) {
  return absent();
}
int MPI_Isend(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return absent(); }
int MPI_Irecv(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return absent(); }
int MPI_Wait(MPI_Request*, MPI_Status*) { return absent(); }
int MPI_Waitall(int, MPI_Request*, MPI_Status*) { return absent(); }
int MPI_Barrier(MPI_Comm) { return absent(); }
int MPI_Get_count(const MPI_Status*, MPI_Datatype, int*) { return absent(); }
