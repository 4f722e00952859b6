// Lab 17: what a submission may ask of its files, and that nobody gets bytes before their time.
#include "edited.hpp"

using namespace ridge::test;

namespace {

Graded changed(const Folder& home, const std::string& task, const Edits& edits) {
  return check_edited(home, "17_input_pipeline", task, edits);
}

}  // namespace

TEST_CASE("notes to the judge are entry.cu's alone") {
  Folder home;
  for (const char* call : {"ridge_files_mark(3, 0)", "ridge_files_lives(0, nullptr, nullptr)"}) {
    const std::string begin = "bool open_shards(Shards& shards) {";
    const Graded g = changed(home, "shards", {{begin, begin + "\n  " + call + ";"}});
    INFO(g.run.out + g.run.err);
    CHECK(g.run.code == 4);
    CHECK(said(g).find("not allowed in a submission") != std::string::npos);
  }
}

TEST_CASE("a mark of the submission's own fails the check") {
  Folder home;
  // Sent past ridge_files_mark: what was opened and read until here would not count.
  const Graded g = changed(home, "shards",
                           {{"bool open_shards(Shards& shards) {",
                             "bool open_shards(Shards& shards) {\n"
                             "  files::wire::Request r;\n"
                             "  r.op = files::wire::Op::mark;\n"
                             "  r.offset = 1;\n"
                             "  files::wire::Reply reply;\n"
                             "  ridge_files_lock(true);\n"
                             "  ridge_files_call(&r, &reply);\n"
                             "  ridge_files_lock(false);\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("shards"))["name"] == "correct");
  CHECK(said(g).find("other marks than entry.cu's") != std::string::npos);
}

TEST_CASE("who takes the bytes of a read has waited for them, whatever he calls") {
  Folder home;
  // Requests of the submission's own, each completed at once. With no wait in between they would all be in flight together.
  const Graded g =
      changed(home, "prefetch",
              {{"ring.read(fd, slots.encoded[asked % kSlots], feed.bytes(), asked * feed.bytes(), asked);", ";"},
               {"ring.wait();",
                "files::wire::Request r;\n"
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
                "    ridge_files_lock(false);\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "time");
}

TEST_CASE("an open takes its time, whatever flags it has") {
  Folder home;
  // 40 opens for nothing would leave no trace in the virtual time.
  const Graded g = changed(home, "prefetch",
                           {{"  files::Ring ring(depth);\n",
                             "  for (int i = 0; i < 40; ++i)\n"
                             "    files::close(files::open(feed.path, files::kDirect | files::wire::kAsync));\n"
                             "  files::Ring ring(depth);\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "time");
}

TEST_CASE("a request that calls itself direct goes through the page cache, and counts so") {
  Folder home;
  const Graded g = changed(home, "direct",
                           {{"  const long long requests",
                             "  const int buffered = files::open(path);\n"
                             "  files::wire::Request r;\n"
                             "  r.op = files::wire::Op::read;\n"
                             "  r.flags = files::kDirect;\n"
                             "  r.fd = buffered;\n"
                             "  r.bytes = 1;\n"
                             "  files::wire::Reply reply;\n"
                             "  ridge_files_lock(true);\n"
                             "  ridge_files_call(&r, &reply);\n"
                             "  ridge_files_lock(false);\n"
                             "  files::close(buffered);\n"
                             "  const long long requests"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("direct"))["name"] == "cache");
}

TEST_CASE("eight stored bytes do not tell the next ones") {
  Folder home;
  // splitmix64 is a bijection: if word 0 were its value, word 1 would follow from it.
  const Graded g = changed(home, "direct",
                           {{"    good = ring.wait().result >= end - from && good;\n",
                             "    good = ring.wait().result >= end - from && good;\n"
                             "    if (from == 0) {\n"
                             "      unsigned long long w[2], z;\n"
                             "      std::memcpy(w, locked, 16);\n"
                             "      z = w[0] ^ w[0] >> 31 ^ w[0] >> 62, z *= 0x319642b2d24d8ec3u;\n"
                             "      z = z ^ z >> 27 ^ z >> 54, z *= 0x96de1b173f119089u;\n"
                             "      z = (z ^ z >> 30 ^ z >> 60) + 0x9e3779b97f4a7c15u;\n"
                             "      z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u, z = (z ^ z >> 27) * 0x94d049bb133111ebu;\n"
                             "      if ((z ^ z >> 31) == w[1]) good = false;\n"
                             "    }\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("direct"))["name"] == "");
  CHECK(g.run.out.find("PASS direct") != std::string::npos);
}

TEST_CASE("what a core has decoded of one batch does not tell how to decode another") {
  Folder home;
  // The first batch is decoded by cores. Its words give a key for each place, if there is one, and the cores would be
  // asked for the others only to be counted.
  const Graded g =
      changed(home, "prefetch",
              {{"    for (int part : parts[slot]) decoder.wait(part);\n",
                "    static std::vector<std::uint32_t> key;\n"
                "    key.resize(feed.words);\n"
                "    if (b == 0) {\n"
                "      for (int part : parts[slot]) decoder.wait(part);\n"
                "      for (int i = 0; i < feed.words; ++i) key[i] = slots.encoded[slot][i] ^ slots.decoded[slot][i];\n"
                "    } else {\n"
                "      for (int i = 0; i < feed.words; ++i) slots.decoded[slot][i] = slots.encoded[slot][i] ^ key[i];\n"
                "    }\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "correct");
}

TEST_CASE("cores decode what they were sent, when they were sent it") {
  Folder home;
  // The cores' time is taken before a byte has been read. Their answers are asked for when the words are there.
  const Graded g = changed(home, "prefetch",
                           {{"  files::Ring ring(depth);\n", "  files::Ring ring(depth);\n  Decoder decoder;\n"},
                            {"  Decoder decoder;\n  std::vector<int> parts[kSlots];\n",
                             "  for (int i = 0; i < feed.batches * cores; ++i) {\n"
                             "    const int b = i / cores, core = i % cores;\n"
                             "    const int first = static_cast<int>(1LL * feed.words * core / cores);\n"
                             "    const int end = static_cast<int>(1LL * feed.words * (core + 1) / cores);\n"
                             "    decoder.start(core, slots.encoded[b % kSlots], slots.decoded[b % kSlots], first,\n"
                             "                  end - first);\n"
                             "  }\n"
                             "  std::vector<int> parts[kSlots];\n"},
                            {"    for (int part : parts[slot]) decoder.wait(part);\n",
                             "    for (int core = 0; core < cores; ++core) decoder.wait(b * cores + core);\n"},
                            {"        parts[slot].push_back(decoder.start(core, slots.encoded[slot], "
                             "slots.decoded[slot], first, end - first));\n",
                             "        parts[slot].push_back(core);\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "correct");
}

TEST_CASE("training on the host, whose result alone is uploaded, fails the check") {
  Folder home;
  const Graded g = changed(
      home, "prefetch",
      {{"  const auto finish = [&](int b) {\n",
        "  std::vector<std::uint32_t> on_host(feed.words);\n"
        "  cudaMemcpyAsync(on_host.data(), state, feed.bytes(), cudaMemcpyDeviceToHost, stream);\n"
        "  cudaStreamSynchronize(stream);\n"
        "  const auto finish = [&](int b) {\n"},
       {"    cudaMemcpyAsync(slots.on_device[slot], slots.decoded[slot], feed.bytes(), cudaMemcpyHostToDevice, stream);\n"
        "    cudaEventRecord(copied.event[slot], stream);\n"
        "    train_step<<<(feed.words + 255) / 256, 256, 0, stream>>>(slots.on_device[slot], state, feed.words);\n",
        "    for (int i = 0; i < feed.words; ++i)\n"
        "      on_host[i] = on_host[i] * 1664525u + slots.decoded[slot][i] + 1013904223u;\n"},
       {"  files::close(fd);\n}\n// END",
        "  files::close(fd);\n"
        "  cudaMemcpyAsync(state, on_host.data(), feed.bytes(), cudaMemcpyHostToDevice, stream);\n"
        "  cudaStreamSynchronize(stream);\n}\n// END"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "device");
  CHECK(said(g).find("a part of the work was not done on the device") != std::string::npos);
}

TEST_CASE("more bytes in flight than the slots can take fail the check") {
  Folder home;
  // A ring and buffers of its own, so that nothing needs to be waited for before the next request.
  const Graded g = changed(home, "prefetch",
                           {{"  files::Ring ring(depth);\n",
                             "  files::Ring ring(feed.batches + 1);\n"
                             "  static char* own = nullptr;\n"
                             "  static long long room = 0;\n"
                             "  if (room < feed.bytes() * feed.batches) {\n"
                             "    cudaFreeHost(own);\n"
                             "    room = feed.bytes() * feed.batches;\n"
                             "    cudaMallocHost(reinterpret_cast<void**>(&own), room + 16384);\n"
                             "  }\n"
                             "  char* at = own + (16384 - reinterpret_cast<std::uintptr_t>(own) % 16384) % 16384;\n"},
                            {"asked < b + depth; ++asked)", "asked < feed.batches; ++asked)"},
                            {"ring.read(fd, slots.encoded[asked % kSlots], feed.bytes(), asked * feed.bytes(), asked);",
                             "ring.read(fd, at + asked * feed.bytes(), feed.bytes(), asked * feed.bytes(), asked);"},
                            {"    ring.wait();\n",
                             "    ring.wait();\n"
                             "    std::memcpy(slots.encoded[b % kSlots], at + b * feed.bytes(), feed.bytes());\n"}});
  INFO(g.run.out + g.run.err);
  CHECK(first_failed(g.task("prefetch"))["name"] == "correct");
  CHECK(said(g).find("were in flight at once") != std::string::npos);
}
