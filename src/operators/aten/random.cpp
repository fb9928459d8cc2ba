// SPDX-License-Identifier: Apache-2.0
// Random numbers of a seed and an offset, and dropout by masks of bits.

#include "src/operators/aten/random.h"

#include <ATen/CPUGeneratorImpl.h>

namespace advstep_operators {
namespace {

constexpr int64_t kBlock = 128;  // bits

at::Tensor Powers(const at::Tensor& like) {
    return at::tensor(at::IntArrayRef{1, 2, 4, 8, 16, 32, 64, 128}, at::TensorOptions(at::kLong))
        .to(like.device());
}

}  // namespace

at::Generator Generator(int64_t seed, int64_t offset) {
    // Mixed, so that neighbouring offsets of a seed give other numbers than neighbouring seeds.
    uint64_t mixed = static_cast<uint64_t>(offset) * 0x9E3779B97F4A7C15;
    mixed ^= mixed >> 31;
    return at::detail::createCPUGenerator(static_cast<uint64_t>(seed) + mixed);
}

at::Tensor Uniform(const at::Tensor& like, double from, double to, at::Generator generator) {
    return at::empty_like(like, at::MemoryFormat::Contiguous)
        .uniform_(from, to, std::move(generator));
}

at::Tensor Bernoulli(const at::Tensor& like, const at::Tensor& probability,
                     at::Generator generator) {
    return at::bernoulli(at::Tensor(probability.expand_as(like)), std::move(generator));
}

at::Tensor DropoutMask(at::IntArrayRef shape, double drop, at::Generator generator,
                       const at::Tensor& out) {
    TORCH_CHECK_VALUE(drop >= 0 && drop <= 1, "prob is ", drop, "; expected 0 to 1");
    const int64_t count = c10::multiply_integers(shape);
    const int64_t bits = (count + kBlock - 1) / kBlock * kBlock;
    const at::Tensor keeps = at::ge(
        at::rand({bits}, std::move(generator), at::TensorOptions(at::kFloat).device(out.device())),
        drop);
    return at::sum(at::mul(keeps.reshape({-1, 8}).to(at::kLong), Powers(out)), 1).to(at::kByte);
}

at::Tensor MaskedDropout(const at::Tensor& self, const at::Tensor& mask, double drop) {
    const at::Tensor bits =
        at::ne(at::bitwise_and(mask.reshape({-1, 1}).to(at::kLong), Powers(self)), 0).reshape({-1});
    TORCH_CHECK_VALUE(bits.numel() >= self.numel(), "mask has ", bits.numel(), " bits; expected ",
                      self.numel());
    const at::Tensor keeps = bits.narrow(0, 0, self.numel()).reshape(self.sizes());
    const double scale = drop < 1 ? 1 / (1 - drop) : 0;
    return at::where(keeps, at::mul(self, scale), at::zeros({}, self.options()));
}

}  // namespace advstep_operators
