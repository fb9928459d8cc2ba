// SPDX-License-Identifier: Apache-2.0
// Requests from distributions instead of a file.

#pragma once

#include <cstdint>
#include <string>

#include "request_trace.h"

namespace serve {

/// Lengths in tokens, rounded and at least 1.
struct LengthDistribution {
    enum class Kind { kConstant, kUniform, kExponential, kLognormal };

    Kind kind;
    double mean;
    double shape = 1;  // kLognormal: the standard deviation of the logarithm
};

struct GeneratorOptions {
    enum class Arrivals { kPoisson, kGamma, kBursts };

    Arrivals arrivals = Arrivals::kPoisson;
    double rate = 1;       // requests a second
    double cv = 2;         // kGamma: standard deviation of the time between arrivals, by its mean
    int64_t burst = 10;    // kBursts: requests at a time
    int64_t count = 1000;  // requests
    uint64_t seed = 1;
    LengthDistribution prompt{LengthDistribution::Kind::kLognormal, 1024, 1};
    LengthDistribution generated{LengthDistribution::Kind::kExponential, 256};
};

/// What --generate says of its argument.
inline constexpr const char* kGeneratorHelp =
    "serve generated requests instead of a trace; KEY=VALUE,... of arrivals (poisson, gamma, "
    "bursts), rate (requests a second), cv (of gamma), burst (requests at a time), count, seed, "
    "prompt and generated (constant:N, uniform:MEAN, exponential:MEAN, lognormal:MEAN:SIGMA)";

/// Reads "arrivals=gamma,rate=5,cv=2,count=1000,prompt=lognormal:1024:1,generated=constant:64".
/// @throws TraceError  names the part that is wrong
GeneratorOptions ParseGenerator(const std::string& text);

/// The same options give the same requests. A request's line is its number, from 1.
/// @throws TraceError  they arrive over too long a time
/// @throws InterruptedEarly
Trace GenerateTrace(const GeneratorOptions& options);

}  // namespace serve
