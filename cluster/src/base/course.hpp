// course.toml: what an instructor says about a course and its cluster (docs/cluster.md lists the keys), with the site's
// profile (cluster/sites/*.toml) beneath it.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/base/paths.hpp"

namespace ridge::cluster {

struct SlurmOptions {  // of one kind of job; empty: the cluster's own default
  std::string partition, account, qos, gres, constraint, exclude, memory;
  int cpus = 0, nodes = 1;        // nodes: of labs with several ranks, on the emulator
  std::vector<std::string> more;  // options as they are
};

struct LatePolicy {
  int grace_minutes = 0;
  double percent_per_day = 0;  // taken off for each day begun
  int days = 0;                // handed in later than this earns nothing; 0: late work is not accepted
};

struct CourseLab {
  std::string name;  // NN_name
  double weight = 1;
  std::optional<std::int64_t> deadline;
  std::string backend = "cpu";
  int limit_s = 600;  // one submission's grading
  LatePolicy late;
  SlurmOptions slurm;
  SlurmOptions build;  // of the jobs that build, where [build] names a partition; else the judging jobs build
};

struct Course {
  fs::path file;
  std::string name;
  fs::path gradebook;  // a local disk of the machine that collects
  fs::path shared;     // a folder that every node sees under this name
  fs::path dropbox;    // where `ridge submit` puts work; empty: no such way
  fs::path program;    // what judges: empty: this repository's ./ridge
  bool is_signed = true;
  fs::path signing_key;
  std::vector<std::string> keys;  // who may sign
  fs::path seeds;                 // the secret seed's file; empty: each grading draws its own
  bool require_sandbox = true;
  int retries = 3;              // attempts after the first, where the infrastructure failed
  int heartbeat_s = 20;         // a job that is not heard of for so long is given up
  int start_s = 60;             // the same from Slurm's word that it runs to its first sign of life
  int per_job = 0;              // submissions that one array task grades, one after the other; 0: chosen
  int at_once = 0;              // array tasks at one time; 0: as many as fit
  int submissions_per_day = 0;  // that a student may hand in of a lab; 0: any number
  int build_limit_s = 600;      // one submission's build, where it is apart
  std::string build_arch;       // for which GPUs: "90a"
  std::string preflight;        // a program that a job runs first on its node; "gpu": `ridge cluster preflight`
  fs::path reference;           // what healthy GPUs of this cluster reach (`ridge calibrate --json`)
  // From the site's profile: what a job does before anything else, and how ranks are started.
  std::string site, setup, mpi, scratch, container;
  std::map<std::string, CourseLab> labs;

  // What course.toml says of it, or the defaults for labs that it does not name.
  CourseLab lab(const std::string& name) const;
};

// --course, else RIDGE_COURSE, else course.toml here or above. Relative paths are the file's.
Course load_course(const std::string& given);

}  // namespace ridge::cluster
