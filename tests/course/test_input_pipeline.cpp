// Lab 17: what a submission may ask of its files, and that nobody gets bytes before their time.
#include "grader/graded.hpp"
#include "support/catch.hpp"

namespace fs = std::filesystem;
using namespace ridge::test;

namespace {

// The solution, with this text in place of another in one of its files.
Graded changed(const Folder& home, const std::string& task, const std::string& old, const std::string& text) {
  const fs::path to = home / "submission";
  fs::create_directories(to);
  for (const auto& file : fs::directory_iterator(fs::path(repository()) / "solutions/17_input_pipeline"))
    fs::copy(file.path(), to / file.path().filename(), fs::copy_options::overwrite_existing);
  std::string source = read_file(to / (task + ".cu"));
  const std::size_t at = source.find(old);
  REQUIRE(at != std::string::npos);
  source.replace(at, old.size(), text);
  write_file(to / (task + ".cu"), source);
  const std::string file = home / "result.json";
  Graded g{
      run_ridge(home, {"check", "17", "--backend", "cpu", "--task", task, "--json", file, "--submission", to}, 200),
      nullptr};
  if (fs::exists(file)) g.result = json::parse(read_file(file));
  return g;
}

}  // namespace

TEST_CASE("notes to the judge are entry.cu's alone") {
  Folder home;
  for (const char* call : {"ridge_files_mark(3, 0)", "ridge_files_lives(0, nullptr, nullptr)"}) {
    const Graded g = changed(home, "shards", "bool open_shards(Shards& shards) {",
                             std::string("bool open_shards(Shards& shards) {\n  ") + call + ";");
    INFO(g.run.out + g.run.err);
    CHECK(g.run.code == 4);
    CHECK((g.run.out + g.run.err).find("not allowed in a submission") != std::string::npos);
  }
}

TEST_CASE("who takes the bytes of a read has waited for them, whatever he calls") {
  Folder home;
  // A ring of the submission's own, with one request in flight: as slow as files::Ring(1).
  const Graded g = changed(home, "prefetch", "    ring.wait();\n",
                           "    for (int k = 0; k < depth && ring.in_flight() > 0; ++k) ring.wait();\n"
                           "    files::wire::Request r;\n"
                           "    r.op = files::wire::Op::read;\n"
                           "    r.flags = files::wire::kAsync;\n"
                           "    r.fd = fd;\n"
                           "    r.bytes = static_cast<unsigned long long>(feed.bytes());\n"
                           "    r.offset = b * feed.bytes();\n"
                           "    files::wire::Reply reply;\n"
                           "    ridge_files_lock(true);\n"
                           "    ridge_files_call(&r, &reply);\n"
                           "    r.op = files::wire::Op::complete;\n"
                           "    r.flags = 0;\n"
                           "    r.bytes = 0;\n"
                           "    r.ticket = reply.ticket;\n"
                           "    ridge_files_call(&r, &reply);\n"
                           "    std::memcpy(slots.encoded[b % kSlots], ridge_files_window(), feed.bytes());\n"
                           "    ridge_files_lock(false);\n");
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "time");
}
