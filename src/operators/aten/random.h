// SPDX-License-Identifier: Apache-2.0
// What lines of random numbers need.

#pragma once

#include "src/operators/aten/call.h"

namespace advstep_operators {

/// Returns a generator whose numbers depend on seed and offset alone: the same on any thread.
at::Generator Generator(int64_t seed, int64_t offset);

at::Tensor Uniform(const at::Tensor& like, double from, double to, at::Generator generator);

/// Returns 1 with the probability of each element, and 0 otherwise.
at::Tensor Bernoulli(const at::Tensor& like, const at::Tensor& probability,
                     at::Generator generator);

/// Returns a bit for each element of a tensor of that shape, the lowest first: 0 with probability
/// `drop`. The bits fill whole blocks of 128.
at::Tensor DropoutMask(at::IntArrayRef shape, double drop, at::Generator generator,
                       const at::Tensor& out);

/// Returns the elements whose bit is set, divided by 1 - drop, and 0 for the others.
at::Tensor MaskedDropout(const at::Tensor& self, const at::Tensor& mask, double drop);

}  // namespace advstep_operators
