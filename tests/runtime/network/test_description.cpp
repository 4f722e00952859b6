// Descriptions in TOML, and the sizes of the models among them.
#include <string>

#include "clusters.hpp"
#include "support/catch.hpp"

using namespace ridge::network;

TEST_CASE("models have their published sizes") {
  CHECK(load_transformer(folder(), "gpt3_175b").parameters() == Approx(174.6e9).epsilon(0.003));
  CHECK(load_transformer(folder(), "llama3_8b").parameters() == Approx(8.030e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama3_70b").parameters() == Approx(70.55e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama3_405b").parameters() == Approx(405.85e9).epsilon(0.0005));
  CHECK(load_transformer(folder(), "llama2_7b").parameters() == Approx(6.738e9).epsilon(0.0005));
  // Narayanan et al. 2021: 72 B s l h^2 (1 + s / 6 h + V / 12 l h), without the recomputed pass.
  const Transformer m = load_transformer(folder(), "gpt3_175b");
  const double s = m.sequence, l = m.layers, h = m.hidden, V = m.vocabulary;
  CHECK(training_flops(m) * s == Approx(72 * s * l * h * h * (1 + s / (6 * h) + V / (12 * l * h))));
}

TEST_CASE("a wrong description names its file, its line and its key") {
  ridge::test::Folder home;
  auto said = [&](const std::string& text) -> std::string {
    ridge::test::write_file(home / "m.toml", text);
    try {
      load_transformer(folder(), home / "m.toml");
    } catch (const DescriptionError& e) {
      return e.what();
    }
    return "";
  };
  const std::string good = "title = \"t\"\nlayers = 2\nhidden = 64\nheads = 4\nvocabulary = 9\nsequence = 8\n";
  CHECK(said(good).empty());
  CHECK(said(good + "colour = 3\n").find("m.toml:7: unknown key 'colour'") != std::string::npos);
  CHECK(said("title = \"t\"\nlayers = 0\n").find("m.toml:2: layers is a whole number from 1 to 10000000") !=
        std::string::npos);
  CHECK(said("title = \"t\"\nlayers = 2\n").find("hidden is a whole number from 1 to 10000000, and is missing") !=
        std::string::npos);
  CHECK(said("title = \"t\nlayers").find("m.toml:1: ") != std::string::npos);
  auto refused = [&](const std::string& name) -> std::string {
    try {
      load_gpu(folder(), name);
    } catch (const DescriptionError& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refused("h1000").find("a100, h100") != std::string::npos);
  // A GPU is no faster than its data sheet.
  const std::string gpu = ridge::test::read_file(folder() + "/gpus/h100.toml");
  auto changed = [&](const std::string& key, const std::string& value) {
    const std::size_t at = gpu.find("\n" + key + " = ") + 1;
    ridge::test::write_file(home / "g.toml", gpu.substr(0, at) + key + " = " + value + gpu.substr(gpu.find('\n', at)));
    return refused(home / "g.toml");
  };
  CHECK(changed("product_efficiency", "0.69").empty());
  CHECK(changed("product_efficiency", "1.01").find("product_efficiency is a share above 0 and at most 1") !=
        std::string::npos);
  CHECK(changed("fp8_efficiency", "1.5").find("times product_efficiency is 1 at most") != std::string::npos);
  CHECK(changed("cudnn_backward", "990e12").find("cudnn_backward is bf16_flops at most") != std::string::npos);
  CHECK(changed("clock_boost", "0.9").find("clock_boost is a number of 1 or more") != std::string::npos);
  CHECK(refused("none.toml").find("there is no file none.toml") != std::string::npos);
  for (const std::string& name : names_in(folder() + "/fabrics"))
    CHECK_FALSE(load_fabric(folder(), name).title.empty());
}
