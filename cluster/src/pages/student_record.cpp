#include "cluster/src/pages/student_record.hpp"

#include <nlohmann/json.hpp>

#include "grader/result/record.hpp"

namespace ridge::cluster {

using nlohmann::json;

Result for_student(Result r) {
  r.nonce.clear(), r.submission_path.clear(), r.program_sha256.clear();
  r.harness_files.clear(), r.sandbox.clear();
  std::erase_if(r.device, [](const auto& field) {
    return field.first != "kind" && field.first != "name" && field.first != "profile";
  });
  for (TaskResult& t : r.tasks) t.trace.clear(), t.warp.clear(), t.warp_name.clear();
  return r;
}

// It is written anew from the fields that Ridge knows, so that a field that is added to records later stays here until
// somebody has thought about it.
std::string record_for_student(const std::string& record) {
  const json before = parse_json(record);
  json after = parse_json(to_json(for_student(read_result(before))));
  for (const char* field : {"nonce", "harness", "sandbox", "ridge"}) after.erase(field);
  after["submission"].erase("path");
  if (const auto ridge = before.find("ridge"); ridge != before.end() && ridge->is_object())
    for (const char* field : {"version", "commit"})
      if (ridge->contains(field) && (*ridge)[field].is_string()) after["ridge"][field] = (*ridge)[field];
  return canonical(after);
}

}  // namespace ridge::cluster
