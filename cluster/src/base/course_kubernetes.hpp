// The tables [kubernetes], [build.kubernetes] and [labs.NN.kubernetes] of course.toml.
#pragma once
#include <string>

#include "cluster/src/base/course.hpp"
#include "cluster/src/base/table.hpp"

namespace ridge::cluster {

void read_pods(Table& t, PodOptions& p);
// [kubernetes]: the cluster, and the pods of all labs.
void read_kubernetes(Table& t, Course& c, PodOptions& p);
// Throws Error(Exit::usage) where Kubernetes cannot grade the lab as course.toml says.
void require_pods(const Course& c, const CourseLab& lab, const std::string& key);

}  // namespace ridge::cluster
