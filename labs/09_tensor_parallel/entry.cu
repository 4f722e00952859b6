// Unpacks a call record of the judge for lab 09: what it keeps in few buffers gets names here.
#include <algorithm>

#include "lab/call.hpp"
#include "tensor_parallel.hpp"

namespace {

// Parts of a buffer, one after the other.
template <class T>
class Cut {
 public:
  explicit Cut(T* from) : at_(from) {}
  T* take(long long count) {
    T* part = at_;
    at_ += count;
    return part;
  }
  T* at() const { return at_; }

 private:
  T* at_;
};

template <class T>
MlpTensors<T*> mlp_tensors(Cut<T>& cut, long long C, long long F) {
  MlpTensors<T*> w{};
  w.A = cut.take(F * C), w.a = cut.take(F), w.B = cut.take(C * F), w.b = cut.take(C);
  return w;
}

template <class T>
AttentionTensors<T*> attention_tensors(Cut<T>& cut, long long C, long long D) {
  AttentionTensors<T*> w{};
  w.qkv_w = cut.take(3 * D * C), w.qkv_b = cut.take(3 * D), w.proj_w = cut.take(C * D), w.proj_b = cut.take(C);
  return w;
}

template <class T>
SequenceTensors<T*> sequence_tensors(Cut<T>& cut, long long C, long long F) {
  SequenceTensors<T*> w{};
  w.gamma = cut.take(C), w.beta = cut.take(C), w.b = cut.take(C);
  w.A = cut.take(F * C), w.a = cut.take(F), w.B = cut.take(C * F);
  return w;
}

void zero(float* gradients, const Cut<float>& end, cudaStream_t stream) {
  cudaMemsetAsync(gradients, 0, static_cast<std::size_t>(end.at() - gradients) * sizeof(float), stream);
}

}  // namespace

bool ridge_entry(const ridge_call& c) {
  static const nn::Gemm gemm(c.stream);  // a worker has one stream
  const Group group{c.rank->rank, c.rank->ranks, static_cast<ncclComm_t>(c.rank->communicator), gemm, c.stream};
  auto in = [&](int i) { return static_cast<const float*>(c.in[i]); };
  auto out = [&](int i) { return static_cast<float*>(c.out[i]); };
  auto size = [&](int i) { return static_cast<int>(c.size[i]); };
  const int t = group.size;
  Cut<float> space(static_cast<float*>(c.workspace));

  if (c.is("shard")) {
    shard(in(0), in(1), out(0), out(1), size(0), size(1), size(2), size(3), group);
  } else if (c.is("mlp")) {
    const int N = size(0), C = size(1), F = size(2) / t;
    const long long wide = static_cast<long long>(N) * F;
    Cut<const float> weights(in(2));
    Cut<float> gradients(out(2));
    const auto w = mlp_tensors(weights, C, F);
    const auto g = mlp_tensors(gradients, C, F);
    zero(out(2), gradients, c.stream);
    MlpSpace s{};
    s.pre = space.take(wide), s.act = space.take(wide), s.d = space.take(wide);
    s.columns = space.take(static_cast<long long>(nn::column_scratch(std::max(C, F))));
    mlp(in(0), in(1), w, out(0), out(1), g, s, N, C, F, group);
  } else if (c.is("attention")) {
    const AttentionShape shape{size(0), size(1), size(2), size(3) / t, size(4)};
    const long long D = shape.H * shape.hs, N = static_cast<long long>(shape.B) * shape.T;
    const long long square = static_cast<long long>(shape.T) * shape.T * shape.H;
    Cut<const float> weights(in(2));
    Cut<float> gradients(out(2));
    const auto w = attention_tensors(weights, shape.C, D);
    const auto g = attention_tensors(gradients, shape.C, D);
    zero(out(2), gradients, c.stream);
    AttentionSpace s{};
    s.qkv = space.take(N * 3 * D), s.d_qkv = space.take(N * 3 * D), s.P = space.take(shape.B * square);
    s.o = space.take(N * D), s.d_o = space.take(N * D), s.scores = space.take(square);
    s.columns = space.take(static_cast<long long>(nn::column_scratch(std::max(shape.C, static_cast<int>(3 * D)))));
    attention(in(0), in(1), w, out(0), out(1), g, s, shape, group);
  } else if (c.is("cross_entropy")) {
    cross_entropy(in(0), static_cast<const int*>(c.in[1]), out(0), out(1), space.at(), size(0), size(1), size(2),
                  group);
  } else if (c.is("sequence_parallel")) {
    const int N = size(0), C = size(1), F = size(2) / t;
    const long long all = static_cast<long long>(N) * C, own = all / t, wide = static_cast<long long>(N) * F;
    Cut<const float> weights(in(2));
    Cut<float> gradients(out(2));
    const auto w = sequence_tensors(weights, C, F);
    const auto g = sequence_tensors(gradients, C, F);
    zero(out(2), gradients, c.stream);
    SequenceSpace s{};
    s.norm = space.take(own), s.d_norm = space.take(own), s.mean = space.take(N / t), s.rstd = space.take(N / t);
    s.gathered = space.take(all), s.pre = space.take(wide), s.act = space.take(wide), s.d = space.take(wide);
    s.partial = space.take(all);
    s.columns = space.take(static_cast<long long>(nn::column_scratch(std::max(C, F))));
    sequence_parallel(in(0), in(1), w, out(0), out(1), g, s, N, C, F, group);
  } else if (c.is("overlap")) {
    const int N = size(0), C = size(1), F = size(2) / t;
    const long long all = static_cast<long long>(N) * C, wide = static_cast<long long>(N) * F;
    Cut<const float> weights(in(1));
    const auto w = mlp_tensors(weights, C, F);
    OverlapSpace s{};
    s.gathered = space.take(all), s.pre = space.take(wide), s.act = space.take(wide), s.partial = space.take(all);
    overlap(in(0), w, out(0), s, N, C, F, size(3), group);
  } else {
    return false;
  }
  return true;
}
