// Trains a small GPT and prints its loss at every step.
//
//   on the emulator: ridge cc -I runtime runtime/nn/train.cu -lcublas -o train
//   on a GPU:        nvcc -std=c++20 -O3 -arch=native -I runtime runtime/nn/train.cu -lcublas -o train
//
//   ./train [--model tiny] [--steps 60] [--batch 4] [--sequence 32] [--accumulate 1] [--checkpoint] [--fused] [--rate 3e-3] [--seed 1]
//           [--type fp32|tf32|bf16] [--text PATH] [--order 1|2] [--memory]
//
// Without --text it learns a Markov chain, whose entropies are printed first: a model that knows how often each token
// comes gets to the first, one that looks at the last token to the second, nothing gets below the third. --memory
// prints what the model needs, and ends: that works without a GPU too.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>

#include "nn/trainer.cuh"

namespace {

struct Options {
  std::string model = "tiny", type = "fp32", text;
  nn::TrainConfig train;
  int order = 1;
  bool memory = false;
};

Options parse(int argc, char** argv) {
  Options o;
  o.train.steps = 60;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--checkpoint") {
      o.train.checkpoint = true;
    } else if (name == "--fused") {
      o.train.fused = true;
    } else if (name == "--memory") {
      o.memory = true;
    } else {
      if (i + 1 == argc) throw std::invalid_argument("no value after " + name);
      const std::string value = argv[++i];
      if (name == "--model")
        o.model = value;
      else if (name == "--type")
        o.type = value;
      else if (name == "--text")
        o.text = value;
      else if (name == "--order")
        o.order = std::stoi(value);
      else if (name == "--steps")
        o.train.steps = std::stoi(value);
      else if (name == "--batch")
        o.train.batch = std::stoi(value);
      else if (name == "--sequence")
        o.train.sequence = std::stoi(value);
      else if (name == "--accumulate")
        o.train.accumulate = std::stoi(value);
      else if (name == "--rate")
        o.train.learning_rate = std::stof(value);
      else if (name == "--seed")
        o.train.seed = std::stoull(value);
      else
        throw std::invalid_argument("unknown option " + name + "; the head of train.cu lists them");
    }
  }
  o.train.tf32 = o.type == "tf32";
  return o;
}

void print(const nn::MemoryPlan& plan) {
  for (int u = 0; u < nn::kUses; ++u)
    std::printf("%-12s %14zu bytes\n", nn::name(static_cast<nn::Use>(u)), plan.bytes[static_cast<std::size_t>(u)]);
  std::printf("%-12s %14zu bytes\n", "total", plan.total());
}

template <class T>
void run(const Options& o) {
  const nn::ModelConfig model = o.text.empty() ? nn::model_config(o.model) : [&] {
    nn::ModelConfig m = nn::model_config(o.model);
    if (m.vocabulary < 256) m.vocabulary = 256;  // bytes
    return m;
  }();
  std::printf("%s: %zu parameters\n", o.model.c_str(), nn::parameter_layout(model).count);
  if (o.memory) return print(nn::Gpt<T>::plan(model, o.train));

  std::optional<nn::TextSource> text;
  std::optional<nn::MarkovSource> chain;
  if (!o.text.empty()) {
    text.emplace(o.text);
    std::printf("%zu bytes of text, unigram entropy %.4f\n", text->size(), text->unigram_entropy());
  } else {
    // Large vocabularies use their first tokens only: the table of a chain has V^2 entries.
    chain.emplace(std::min(model.vocabulary, 256), o.order, 1);
    std::printf("entropy: unigram %.4f, bigram %.4f, rate %.4f\n", chain->unigram_entropy(), chain->bigram_entropy(),
                chain->entropy_rate());
  }
  using Clock = std::chrono::steady_clock;
  Clock::time_point second_step;
  nn::Trainer<T> trainer(model, o.train);
  nn::Random random(o.train.seed);
  for (int step = 0; step < o.train.steps; ++step) {
    const auto result = trainer.step([&] {
      return text ? text->sample(o.train.batch, o.train.sequence, random)
                  : chain->sample(o.train.batch, o.train.sequence, random);
    });
    std::printf("step %d loss %.6f gradient norm %.6f\n", step, static_cast<double>(result.loss),
                static_cast<double>(result.gradient_norm));
    std::fflush(stdout);
    if (step == 0) second_step = Clock::now();  // the first step also loads libraries and warms up
  }
  const double tokens = static_cast<double>(o.train.steps - 1) * o.train.accumulate * o.train.batch * o.train.sequence;
  if (tokens > 0)
    std::fprintf(stderr, "%.0f tokens/s after the first step\n",
                 tokens / std::chrono::duration<double>(Clock::now() - second_step).count());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options o = parse(argc, argv);
    if (o.type == "fp32" || o.type == "tf32")
      run<float>(o);
    else if (o.type == "bf16")
      run<__nv_bfloat16>(o);
    else
      throw std::invalid_argument("--type is fp32, tf32 or bf16");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "train: %s\n", e.what());
    return 1;
  }
}
