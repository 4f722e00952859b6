// course.toml: the instructor's settings of a course and its cluster (docs/cluster.md lists the keys). The site's
// profile (cluster/sites/*.toml) supplies defaults.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "checks/check.hpp"
#include "grader/base/paths.hpp"

namespace ridge::cluster {

struct SlurmOptions {  // for one kind of job; an empty value is the cluster's default
  std::string partition, account, qos, gres, constraint, exclude, memory;
  int cpus = 0, nodes = 1;        // nodes: for labs with several ranks, on the emulator
  std::vector<std::string> more;  // further options of sbatch
};

struct PodOptions {             // for one kind of job on Kubernetes; an empty value is the cluster's default
  std::string image;            // has Ridge and what it needs to judge
  std::string queue, priority;  // Kueue's LocalQueue; a PriorityClass
  std::string memory;
  int cpus = 0;
  std::map<std::string, std::string> resources;      // "nvidia.com/gpu" -> "1", "nvidia.com/mig-1g.10gb" -> "1"
  std::map<std::string, std::string> node_selector;  // labels that the node must have
  std::vector<std::string> tolerations;              // keys of taints
  fs::path patch;                                    // JSON, merged into the Job (RFC 7386)
};

struct KubernetesCluster {
  std::string context;  // of the kubeconfig; empty: the current one
  std::string name_space = "ridge";
  std::string claim = "ridge-shared";      // the PersistentVolumeClaim that is mounted as `shared`
  std::string claim_path;                  // a folder of the claim; empty: all of it
  std::string secret = "ridge-course";     // has the keys signing_key and seeds
  std::string program = "/usr/bin/ridge";  // in the image
  // What lets the sandbox start in a pod: a user namespace of the pod, or further capabilities ("sys-admin").
  std::string sandbox = "user-namespace";
  int user = -1;        // the account of pods, which owns `shared`; -1: the collector's
  int keep_hours = 24;  // that a finished Job and its pods stay
};

struct LatePolicy {
  int grace_minutes = 0;
  double percent_per_day = 0;  // deducted for each day begun
  int days = 0;                // days after which late work earns nothing; 0 rejects late work
};

struct CourseLab {
  std::string name;  // NN_name
  double weight = 1;
  std::optional<std::int64_t> deadline;
  lab::Backend backend = lab::Backend::cpu;
  int limit_s = 600;  // for grading one submission
  LatePolicy late;
  SlurmOptions slurm;
  SlurmOptions build;  // for jobs that build
  PodOptions kubernetes, kubernetes_build;
  bool builds_apart = false;  // [build] names a partition or pods; else judging jobs build
};

struct Course {
  fs::path file;
  std::string name;
  fs::path gradebook;   // on a local disk of the machine that collects
  fs::path shared;      // a folder that every node sees under this name
  fs::path dropbox;     // where `ridge submit` puts work; empty where the course has none
  std::string lessons;  // where students read lessons: the address of a copy of the course; empty: on their machines
  std::string executor = "slurm";  // or "kubernetes"
  KubernetesCluster kubernetes;
  fs::path program;  // the judging program; empty for this repository's ./ridge
  bool is_signed = true;
  fs::path signing_key;
  std::vector<std::string> keys;  // public keys that may sign records
  fs::path seeds;                 // the file of the secret seed; empty: each grading draws its own seed
  bool require_sandbox = true;
  int retries = 3;              // attempts after the first, where the infrastructure failed
  int heartbeat_s = 20;         // a job without a heartbeat for so long is given up
  int start_s = 60;             // the same from the job's start to its first heartbeat
  int readmit_s = 600;          // after which a node that was left out is tried again
  int per_job = 0;              // submissions that one array task grades; 0: chosen by the collector
  int at_once = 0;              // array tasks that run at a time; 0: as many as fit
  int submissions_per_day = 0;  // per student and lab; 0: any number
  int build_limit_s = 600;      // for building one submission in a build job
  std::string build_arch;       // the GPU architecture for build jobs: "90a"
  std::string preflight;        // a command that a job runs first on its node; "gpu" is `ridge cluster preflight`
  fs::path reference;           // the calibration of a healthy GPU (`ridge calibrate --json`)
  // The site's profile gives a job's setup, its way to start ranks, its scratch folder, and its container.
  std::string site, setup, mpi, scratch, container;
  std::map<std::string, CourseLab> labs;

  // The lab's settings. Throws Error(Exit::usage) for a lab that course.toml does not name.
  CourseLab lab(const std::string& name) const;
};

// Loads `given`, else RIDGE_COURSE, else course.toml in this folder or one above. Relative paths start at the file's
// folder. Throws Error(Exit::usage).
Course load_course(const std::string& given);

}  // namespace ridge::cluster
