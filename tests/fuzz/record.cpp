// Records: `ridge verify` and `ridge report` on any file. Nothing that the fuzzer writes has a valid signature but the
// corpus' own record, byte for byte.
#include "grader/result/record.hpp"

#include <nlohmann/json.hpp>

#include "fuzz.hpp"
#include "grader/base/error.hpp"
#include "grader/base/text.hpp"
#include "grader/judge/feedback.hpp"
#include "grader/result/report_formats.hpp"
#include "grader/result/verify.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ridge;
  std::string text(fuzz::text_of(data, size));
  Verified v = verify_record(text, {});
  if (v.problem.empty()) {
    nlohmann::json record = parse_json(text);
    fuzz::promise(canonical(record) == text, "a valid record has one spelling");
  }
  (void)verify_records({text, text}, {});
  try {
    Result r = read_result(parse_json(text));
    clean_texts(r);
    for (const std::string& report : {junit_report(r), to_json(r)})
      fuzz::promise(printable(report) == report, "reports are valid UTF-8");
    for (const std::string& report : {gradescope_report(r), prairielearn_report(r)})
      fuzz::promise(nlohmann::json::accept(report), "reports are JSON");
    std::string lines = autolab_report(r);
    std::size_t last = lines.rfind('\n', lines.size() - 2);
    fuzz::promise(nlohmann::json::accept(lines.substr(last + 1)), "Autolab's last line is JSON");
  } catch (const Error&) {
  }
  return 0;
}
