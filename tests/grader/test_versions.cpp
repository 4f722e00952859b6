// Versions that fit and versions that do not, and settings that change a measurement.
#include "grader/machine/versions.hpp"
#include "support/catch.hpp"

using namespace ridge;

namespace {

// A machine where everything fits.
Versions healthy() {
  Versions v;
  v.driver_cuda = v.toolkit = v.nccl_cuda = "13.0";
  v.nccl = v.nccl_header = "2.28.9";
  v.agent_mpi = "4.1.4";
  v.agent = v.gpu = true;
  v.mpiruns = {{"/usr/bin/mpirun", "4.1.4"}};
  return v;
}

// The facts that are not simply "yes", as "what: detail".
std::vector<std::string> remarks(const Versions& v, Mark mark) {
  std::vector<std::string> all;
  for (const Fact& f : version_facts(v))
    if (f.mark == mark) all.push_back(f.what + ": " + f.detail);
  return all;
}

// One fact of that mark, with these words; no fact that is worse.
void says(const Versions& v, Mark mark, const std::vector<std::string>& words) {
  const auto found = remarks(v, mark);
  REQUIRE(found.size() == 1);
  INFO(found[0]);
  for (const auto& w : words) CHECK(found[0].find(w) != std::string::npos);
  if (mark != Mark::no) CHECK(remarks(v, Mark::no).empty());
}

}  // namespace

TEST_CASE("versions that fit") {
  for (Mark m : {Mark::no, Mark::note, Mark::none}) CHECK(remarks(healthy(), m).empty());
  Versions v = healthy();
  v.driver_cuda = "13.1";          // newer than the toolkit
  v.mpiruns[0].version = "4.1.6";  // the same major version
  v.nccl_header = "2.28.3";        // older than the library
  for (Mark m : {Mark::no, Mark::note, Mark::none}) CHECK(remarks(v, m).empty());
}

TEST_CASE("versions are compared by their numbers") {
  CHECK(compare_versions("2.9", "2.18") < 0);
  CHECK(compare_versions("2.18.3", "2.18") == 0);
  CHECK(compare_versions("13.0", "12.9") > 0);
  CHECK(open_mpi_version("mpirun (Open MPI) 4.1.4\n\nReport bugs to") == "4.1.4");
  CHECK(open_mpi_version("mpirun (Open MPI) 5.0.7rc1") == "5.0.7");
  CHECK(open_mpi_version("HYDRA build details:\n    Version: 4.0.2").empty());
}

TEST_CASE("a driver older than the toolkit") {
  Versions v = healthy();
  v.driver_cuda = "12.4";
  v.nccl_cuda = "12.4";
  v.nccl_header = "";
  auto wrong = remarks(v, Mark::no);
  REQUIRE(wrong.size() == 1);
  CHECK(wrong[0].find("up to CUDA 12.4, nvcc is 13.0") != std::string::npos);
  CHECK(wrong[0].find("load a toolkit 12.x") != std::string::npos);
  v = healthy();
  v.toolkit = "13.2";  // works within a major version
  says(v, Mark::note, {"PTX"});
  v.driver_cuda.clear();
  v.gpu = false;
  says(v, Mark::none, {"skipped: no NVIDIA driver"});
}

TEST_CASE("NCCL that does not fit") {
  Versions v = healthy();
  v.nccl = "2.17.1";
  v.nccl_header = "";
  says(v, Mark::no, {"2.17.1", "ncclCommSplit came with 2.18"});
  v = healthy();
  v.nccl = "2.20.5";
  says(v, Mark::note, {"the header is newer (2.28.9)"});
  v = healthy();
  v.driver_cuda = "13.0";
  v.nccl_cuda = "14.0";
  says(v, Mark::no, {"built for CUDA 14.0", "install the libnccl2 for CUDA 13"});
  v = healthy();
  v.nccl_cuda = "12.8";
  says(v, Mark::note, {"nvcc is 13.0", "libnccl2 for CUDA 13"});
  v = healthy();
  v.nccl.clear();
  says(v, Mark::no, {"no libnccl.so.2"});
  v.gpu = false;
  v.driver_cuda.clear();
  CHECK(remarks(v, Mark::no).empty());  // nothing that needs it
}

TEST_CASE("mpirun that does not fit the agent") {
  Versions v = healthy();
  v.mpiruns[0].version = "5.0.3";
  says(v, Mark::no, {"/usr/bin/mpirun is 5.0.3", "built with 4.1.4", "mpirun 4.x first in PATH"});
  v.mpiruns[0].version.clear();
  says(v, Mark::no, {"not Open MPI's"});
  v.mpiruns.clear();
  says(v, Mark::no, {"no mpirun on PATH"});
  v.agent = false;
  says(v, Mark::no, {"ridge-agent is not built"});
  v = healthy();
  v.mpiruns.push_back({"/opt/mpi/bin/mpirun", "5.0.3"});
  says(v, Mark::note, {"/opt/mpi/bin/mpirun (5.0.3)", "the first on PATH counts"});
}

TEST_CASE("settings that change what is measured") {
  Versions v = healthy();
  v.environment = {"NCCL_ALGO=Ring"};
  says(v, Mark::note, {"NCCL_ALGO=Ring: one algorithm", "unset NCCL_ALGO"});
  v.environment = {"NCCL_SOMETHING_NEW=1"};
  says(v, Mark::note, {"NCCL_SOMETHING_NEW=1: changes what NCCL chooses"});
  v.environment = {"CUDA_LAUNCH_BLOCKING=1"};
  says(v, Mark::note, {"nothing overlaps"});
  v.environment = {"OMPI_MCA_btl=tcp,self"};
  says(v, Mark::note, {"OMPI_MCA_btl=tcp,self"});
  v.environment = {"NCCL_DEBUG=INFO", "NCCL_VERSION=2.28.9", "SLURM_JOB_ID=7"};  // say nothing about speed
  for (Mark m : {Mark::no, Mark::note}) CHECK(remarks(v, m).empty());
  v.environment = {};
  v.nccl_settings = {"/etc/nccl.conf"};
  says(v, Mark::note, {"/etc/nccl.conf is there"});
}

TEST_CASE("a shell that is itself a rank") {
  Versions v = healthy();
  v.environment = {"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "PMIX_RANK=0"};
  says(v, Mark::no, {"OMPI_COMM_WORLD_RANK and 2 more are set", "outside mpirun"});
  v.environment = {"PMIX_RANK=0", "SLURM_JOB_ID=7"};
  says(v, Mark::no, {"PMIX_RANK is set", "from the batch script itself"});
}

TEST_CASE("this machine's versions are read") {
  const Versions v = read_versions();
  CHECK(compare_versions(v.nccl.empty() ? "2.28" : v.nccl, "2.0") > 0);
  for (const MpiProgram& m : v.mpiruns) CHECK_FALSE(m.path.empty());
  CHECK_FALSE(version_facts(v).empty());
}
