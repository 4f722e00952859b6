// One of several ranks that speak MPI as they do on GPUs: mpi_probe WHAT rank R of N. Prints "ok", or what is wrong.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/worker/rank_end.hpp"

extern "C" void ridge_mpi_start(int rank, int ranks);

// In place of the worker's, which tells the judge.
void ridge::worker::end_rank(protocol::Gate, Cause, bool, const std::string& report) {
  std::fputs(report.c_str(), stderr);
  std::fflush(nullptr);
  _exit(86);
}

namespace {

int rank = 0, ranks = 1;

bool all(const std::vector<int>& v, int value) {
  return std::all_of(v.begin(), v.end(), [&](int x) { return x == value; });
}

// Messages larger than any buffer of a socket, from everybody to the right at once.
bool large_ones_cross() {
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, n = 1 << 20;
  std::vector<int> out(static_cast<std::size_t>(n), rank), in(out.size(), -1);
  MPI_Status status;
  MPI_Sendrecv(out.data(), n, MPI_INT, right, 5, in.data(), n, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
  int count = 0;
  MPI_Get_count(&status, MPI_INT, &count);
  return all(in, left) && count == n && status.MPI_SOURCE == left;
}

// Each receive gets the message that was its turn when it was asked for, whatever is waited for first.
bool order_holds() {
  const int other = rank ^ 1;
  if (other >= ranks) return true;
  int in[3] = {-1, -1, -1};
  const int out[3] = {10 * rank, 10 * rank + 1, 10 * rank + 2};
  MPI_Request receives[3], sends[3];
  MPI_Irecv(&in[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &receives[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &receives[1]);
  MPI_Irecv(&in[2], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &receives[2]);
  MPI_Isend(&out[2], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &sends[2]);
  MPI_Isend(&out[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&out[1], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &sends[1]);
  MPI_Wait(&receives[1], MPI_STATUS_IGNORE);
  MPI_Wait(&receives[2], MPI_STATUS_IGNORE);
  MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
  MPI_Waitall(3, sends, MPI_STATUSES_IGNORE);
  return in[0] == 10 * other && in[1] == 10 * other + 1 && in[2] == 10 * other + 2 && receives[0] == MPI_REQUEST_NULL;
}

bool to_itself_and_to_nobody() {
  int in = -1;
  const int out = 7;
  MPI_Send(&out, 1, MPI_INT, rank, 3, MPI_COMM_WORLD);
  MPI_Recv(&in, 1, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(&out, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD);
  return in == 7;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) return 2;
  const std::string what = argv[1];
  if (what == "alone") {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);  // nobody has started it as a rank
    return 0;
  }
  ridge_mpi_start(std::atoi(argv[3]), std::atoi(argv[5]));
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int x = rank;
  if (what == "gone" && rank == 1) std::_Exit(0);
  if (what == "gone") MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (what == "too-long" && rank == 1) MPI_Send(std::vector<int>(2).data(), 2, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (what == "too-long" && rank == 0) MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (what == "nobody") MPI_Send(&x, 1, MPI_INT, ranks, 0, MPI_COMM_WORLD);
  bool good = true;
  for (int i = 0; i < 3; ++i) {
    good = large_ones_cross() && order_holds() && to_itself_and_to_nobody() && good;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::printf(good ? "ok\n" : "wrong on rank %d\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);  // all have read what they need
  return good ? 0 : 1;
}
