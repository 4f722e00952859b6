// runtime/nn on the emulator: a program that checks it (engine.cu), cuBLAS as kernels, and the example.
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/run.hpp"

using namespace ridge::test;

namespace {

// Built once for all cases of this process. `options` follow the source.
std::string program(const std::string& name, const std::string& source, const std::vector<std::string>& options = {}) {
  static const Folder folder;
  const std::string made = folder / name;
  if (run({"test", "-x", made}).code == 0) return made;
  std::vector<std::string> argv = {
      ridge_program(), "cc", "-I", repository() + "/runtime", repository() + "/" + source, "-o", made, "-lcublas"};
  argv.insert(argv.end(), options.begin(), options.end());
  Run r = run(argv);
  INFO(r.out << r.err);
  REQUIRE(r.code == 0);
  return made;
}

const std::string kEngine = "tests/runtime/nn/engine.cu";

void engine(const std::vector<std::string>& arguments, const std::string& order = "1") {
  std::vector<std::string> argv = {program("engine", kEngine)};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  Run r = run(argv, {{"RIDGE_LANE_ORDER", order}});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  CHECK(r.out.substr(r.out.size() < 3 ? 0 : r.out.size() - 3) == "ok\n");
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("each kernel against a reference in double precision") { engine({"kernels"}); }

TEST_CASE("fused attention, forward and backward", "[.slow]") {
  for (const char* order : {"forward", "7"}) {
    Run r = run({program("fused", "tests/runtime/nn/fused.cu"), "small"}, {{"RIDGE_LANE_ORDER", order}});
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(has(r.out, "ok\n"));
  }
}

TEST_CASE("gradients of the whole model against differences of a reference") { engine({"gradients"}); }

TEST_CASE("checkpointing, accumulation, gradients that get ready, memory") { engine({"options"}); }

TEST_CASE("training falls below the unigram entropy and repeats itself") { engine({"learns"}); }

TEST_CASE("cuBLAS as kernels gives what it gives on the host, and is counted") {
  const std::string made = program("cublas_mixed", "tests/simt/programs/cublas_mixed.cu");
  Run r = run({made}, {{"RIDGE_COUNTERS", "1"}});
  INFO(r.out << r.err);
  CHECK(r.code == 0);
  CHECK(r.out == "ok\n");
  CHECK(has(r.err, "gemm_kernel"));
}

TEST_CASE("cuBLAS as kernels: all transposes, scalars and errors", "[.slow]") {
  for (const std::string name : {"cublas_gemm", "cublas_errors"}) {
    Run r = run({program(name, "tests/simt/programs/" + name + ".cu")}, {{"RIDGE_SANITIZE", "1"}});
    INFO(name << "\n" << r.out << r.err);
    CHECK(r.out == "ok\n");
    CHECK(!has(r.err, "race"));
  }
}

TEST_CASE("other lane orders, and under the sanitizer", "[.slow]") {
  engine({"kernels"}, "forward");
  engine({"options"}, "7");
  for (const char* what : {"kernels", "gradients"}) {
    Run r = run({program("engine", kEngine), what}, {{"RIDGE_SANITIZE", "1"}}, 600);
    INFO(r.out << r.err);
    // Its own arrays are never freed: leaks are all that may be said.
    CHECK(!has(r.err, "race"));
    CHECK(!has(r.err, "uninitialised"));
    CHECK(has(r.out, "ok\n"));
  }
}

TEST_CASE("with order 2 training falls below the bigram entropy, which takes attention", "[.slow]") {
  Run r = run({program("engine_plain", kEngine, {"--plain"}), "learns", "2"}, {}, 400);
  INFO(r.out << r.err);
  CHECK(has(r.out, "ok\n"));
}

TEST_CASE("bf16 and fp16; a block in two shards", "[.slow]") {
  for (const char* what : {"types", "learns", "shards"}) {
    Run r = run({program("more", "tests/runtime/nn/more.cu"), what}, {}, 200);
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(has(r.out, "ok\n"));
  }
}

TEST_CASE("fused attention: longer sequences, and under the sanitizer", "[.slow]") {
  const std::string made = program("fused", "tests/runtime/nn/fused.cu");
  CHECK(has(run({made, "large"}, {}, 300).out, "ok\n"));
  Run r = run({made, "small"}, {{"RIDGE_SANITIZE", "1"}}, 300);
  INFO(r.out << r.err);
  CHECK(has(r.out, "ok\n"));
  CHECK(!has(r.err, "race"));
  CHECK(!has(r.err, "uninitialised"));
}

TEST_CASE("the example", "[.slow]") {
  const std::string train = program("train", "runtime/nn/train.cu");
  Run chain = run({train, "--steps", "3"});
  INFO(chain.out << chain.err);
  CHECK(chain.code == 0);
  CHECK(has(chain.out, "step 2 loss "));
  CHECK(run({train, "--steps", "3"}).out == chain.out);
  CHECK(run({train, "--steps", "3", "--seed", "2"}).out != chain.out);
  Run text = run({train, "--steps", "2", "--type", "bf16", "--fused", "--checkpoint", "--accumulate", "2", "--text",
                  repository() + "/labs"});
  INFO(text.out << text.err);
  CHECK(text.code == 0);
  CHECK(has(text.out, "bytes of text, unigram entropy"));
  CHECK(has(text.out, "step 1 loss "));
  Run large = run({train, "--model", "gpt-1.3b", "--type", "bf16", "--batch", "4", "--sequence", "2048", "--memory"});
  CHECK(large.code == 0);
  CHECK(has(large.out, "activations"));
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--model", "gpt-5"}, {"--type", "int4"}, {"--text", "/nowhere"}, {"--sequence", "33"}, {"--steps"}}) {
    std::vector<std::string> argv = {train};
    argv.insert(argv.end(), wrong.begin(), wrong.end());
    Run r = run(argv);
    INFO(wrong[0] << "\n" << r.err);
    CHECK(r.code == 1);
    CHECK(has(r.err, "train: "));
  }
}

// benchmarks/training: processes that meet by NCCL's unique id, here with an emulated device each.
TEST_CASE("the training measurements run on emulated ranks", "[.slow]") {
  const std::string folder = "benchmarks/training/", include = repository() + "/" + folder;
  const std::vector<std::string> common = {"--plain", "-I", include, "-lnccl"};
  std::vector<std::string> with_schedules = common;
  with_schedules.insert(with_schedules.end(), {"-I", repository() + "/labs/08_pipeline"});
  for (const char* file : {"order", "gpipe", "one_f_one_b", "interleaved"})
    with_schedules.push_back(repository() + "/solutions/08_pipeline/" + file + ".cu");
  const std::map<std::string, std::string> devices = {{"RIDGE_DEVICES", "4"}};
  auto works = [&](const std::string& made, std::vector<std::string> arguments, const std::string& says) {
    arguments.insert(arguments.begin(), made);
    arguments.insert(arguments.end(), {"--model", "tiny", "--batch", "1", "--sequence", "16", "--steps", "1"});
    Run r = run(arguments, devices, 120);
    INFO(r.out << r.err);
    CHECK(r.code == 0);
    CHECK(has(r.out, says));
  };
  const std::string train = program("train_ranks", folder + "train.cu", common);
  works(train, {"--ranks", "2", "--bucket-mb", "0.1"}, "\"ranks\": 2");
  works(train, {"--type", "fp16", "--loss-scale", "1024"}, "\"type\": \"fp16\"");
  works(program("tensor", folder + "tensor.cu", common), {"--ranks", "2"}, "\"ranks\": 2");
  const std::string pipeline = program("pipeline", folder + "pipeline.cu", with_schedules);
  for (const std::string schedule : {"gpipe", "one_f_one_b"})
    works(pipeline, {"--ranks", "2", "--layers", "4", "--micro-batches", "3", "--schedule", schedule}, schedule);
  works(pipeline,
        {"--ranks", "2", "--layers", "4", "--micro-batches", "4", "--schedule", "interleaved", "--chunks", "2"},
        "interleaved");
}

// A lab that allows cuBLAS: test lab 90 with one line more, and a submission that trains before it answers.
TEST_CASE("a judged submission may train with our cuBLAS", "[.slow]") {
  namespace fs = std::filesystem;
  const Folder home;
  const fs::path root = home / "root", lab = root / "tests/grader/labs/90_judged", submission = root / "submission";
  fs::create_directories(lab.parent_path());
  fs::create_directories(home / "tmp");
  for (const char* folder : {"labs", "runtime", "solutions", "tests/grader/labs/90_judged"})
    fs::copy(fs::path(repository()) / folder, root / folder, fs::copy_options::recursive);
  fs::copy(fs::path(repository()) / "tests/grader/solutions/90_judged", submission);
  std::string manifest = read_file(lab / "lab.toml");
  manifest.insert(manifest.find("files = ["), "libraries = [\"cublas\"]\n");
  write_file(lab / "lab.toml", manifest);
  write_file(submission / "gemm.cu", read_file(repository() + "/tests/runtime/nn/judged_gemm.cu"));
  const std::string ridge = fs::path(ridge_program()).parent_path() / "ridge-switchable";
  Run r = run({ridge, "check", "90", "--backend", "cpu", "--task", "gemm", "--submission", submission},
              {{"RIDGE_ROOT", root}, {"RIDGE_RESULTS", home / "results"}, {"TMPDIR", home / "tmp"}, {"NO_COLOR", "1"}});
  INFO(r.out << r.err);
  CHECK(has(r.out, "PASS gemm"));
}
