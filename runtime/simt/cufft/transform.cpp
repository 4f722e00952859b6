#include "cufft/transform.hpp"

#include <fftw3.h>

#include <mutex>
#include <type_traits>
#include <utility>

namespace ridge::simt::fft {

namespace {

std::mutex planner;  // FFTW's planner is for one thread at a time

// FFTW's names in one precision.
#define RIDGE_FFTW(NAME, PREFIX, REAL)                             \
  struct NAME {                                                    \
    using Real = REAL;                                             \
    using Complex = PREFIX##complex;                               \
    using Plan = PREFIX##plan;                                     \
    static constexpr auto kComplex = &PREFIX##plan_many_dft;       \
    static constexpr auto kForward = &PREFIX##plan_many_dft_r2c;   \
    static constexpr auto kBackward = &PREFIX##plan_many_dft_c2r;  \
    static constexpr auto kRunComplex = &PREFIX##execute_dft;      \
    static constexpr auto kRunForward = &PREFIX##execute_dft_r2c;  \
    static constexpr auto kRunBackward = &PREFIX##execute_dft_c2r; \
    static constexpr auto kDestroy = &PREFIX##destroy_plan;        \
    static constexpr auto kAllocate = &PREFIX##malloc;             \
    static constexpr auto kFree = &PREFIX##free;                   \
  }
RIDGE_FFTW(Single, fftwf_, float);
RIDGE_FFTW(Double, fftw_, double);
#undef RIDGE_FFTW

template <class F>
class Typed : public Transform {
  using Real = typename F::Real;
  using Complex = typename F::Complex;

 public:
  Typed(const Shape& s, int direction, bool in_place) : real_in_(s.real_in()), real_out_(s.real_out()) {
    std::lock_guard lock(planner);
    // Nothing is read or written: FFTW looks whether both are the same.
    void* in = F::kAllocate(sizeof(Complex));
    void* out = in_place ? in : F::kAllocate(sizeof(Complex));
    const int rank = static_cast<int>(s.n.size());
    const unsigned keeps = real_out_ && rank > 1 ? FFTW_DESTROY_INPUT : FFTW_PRESERVE_INPUT;
    const unsigned flags = FFTW_ESTIMATE | FFTW_UNALIGNED | (in_place ? 0u : keeps);
    const int *n = s.n.data(), *from = s.in.embed.data(), *to = s.out.embed.data();
    if (real_in_)
      plan_ = F::kForward(rank, n, s.batch, static_cast<Real*>(in), from, s.in.stride, s.in.distance,
                          static_cast<Complex*>(out), to, s.out.stride, s.out.distance, flags);
    else if (real_out_)
      plan_ = F::kBackward(rank, n, s.batch, static_cast<Complex*>(in), from, s.in.stride, s.in.distance,
                           static_cast<Real*>(out), to, s.out.stride, s.out.distance, flags);
    else
      plan_ = F::kComplex(rank, n, s.batch, static_cast<Complex*>(in), from, s.in.stride, s.in.distance,
                          static_cast<Complex*>(out), to, s.out.stride, s.out.distance, direction, flags);
    F::kFree(in);
    if (!in_place) F::kFree(out);
  }
  ~Typed() override {
    std::lock_guard lock(planner);
    if (plan_ != nullptr) F::kDestroy(plan_);
  }
  bool made() const { return plan_ != nullptr; }
  void run(void* in, void* out) const override {
    if (real_in_)
      F::kRunForward(plan_, static_cast<Real*>(in), static_cast<Complex*>(out));
    else if (real_out_)
      F::kRunBackward(plan_, static_cast<Complex*>(in), static_cast<Real*>(out));
    else
      F::kRunComplex(plan_, static_cast<Complex*>(in), static_cast<Complex*>(out));
  }

 private:
  bool real_in_, real_out_;
  typename F::Plan plan_ = nullptr;
};

template <class F>
std::shared_ptr<const Transform> typed(const Shape& shape, int direction, bool in_place) {
  auto made = std::make_shared<Typed<F>>(shape, direction, in_place);
  return made->made() ? made : nullptr;
}

Layout dense(std::vector<int> rows, int last) {
  rows.back() = last;
  int all = 1;
  for (const int r : rows) all *= r;
  return {std::move(rows), 1, all};
}

}  // namespace

Shape with_layouts(Shape s, bool in_place) {
  if (s.layouts_given) return s;
  const int last = s.n.back(), half = last / 2 + 1, padded = in_place ? 2 * half : last;
  s.in = dense(s.n, s.real_in() ? padded : s.real_out() ? half : last);
  s.out = dense(s.n, s.real_out() ? padded : s.real_in() ? half : last);
  return s;
}

std::int64_t bytes(const Shape& s, bool input) {
  const Layout& layout = input ? s.in : s.out;
  const bool real = input ? s.real_in() : s.real_out();
  const bool half = input ? s.real_out() : s.real_in();
  std::int64_t last = 0;  // element
  for (std::size_t d = 0; d < s.n.size(); ++d) {
    const int n = half && d + 1 == s.n.size() ? s.n[d] / 2 + 1 : s.n[d];
    last = (d == 0 ? 0 : last * layout.embed[d]) + n - 1;
  }
  const std::int64_t elements = last * layout.stride + static_cast<std::int64_t>(s.batch - 1) * layout.distance + 1;
  return elements * (real ? 1 : 2) * (s.twice() ? 8 : 4);
}

std::shared_ptr<const Transform> Transform::make(const Shape& shape, int direction, bool in_place) {
  return shape.twice() ? typed<Double>(shape, direction, in_place) : typed<Single>(shape, direction, in_place);
}

}  // namespace ridge::simt::fft
