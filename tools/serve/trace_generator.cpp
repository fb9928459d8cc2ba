// SPDX-License-Identifier: Apache-2.0
// Parses the generator's options and draws arrivals and lengths.

#include "trace_generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "decimal.h"
#include "interrupt.h"
#include "toy_model.h"
#include "trace_format.h"

namespace serve {
namespace {

constexpr double kPi = 3.14159265358979323846;
constexpr double kMostTokens = 1e6;

// The standard library's distributions differ from one library to another.
class Random {
 public:
    explicit Random(uint64_t seed) : seed_(Mix(seed)) {}

    /// Above 0 and below 1.
    double Uniform() { return (static_cast<double>(Mix(seed_ + ++drawn_) >> 11) + 0.5) * 0x1p-53; }
    double Exponential() { return -std::log(Uniform()); }
    double Normal() {
        const double radius = std::sqrt(2 * Exponential());
        return radius * std::cos(2 * kPi * Uniform());
    }
    /// Of mean `shape` and scale 1. Marsaglia and Tsang, "A simple method for generating gamma
    /// variables", 2000.
    double Gamma(double shape) {
        if (shape < 1) {
            const double power = std::pow(Uniform(), 1 / shape);
            return Gamma(shape + 1) * power;
        }
        const double d = shape - 1.0 / 3;
        const double c = 1 / std::sqrt(9 * d);
        for (;;) {
            const double x = Normal();
            const double root = 1 + c * x;
            const double v = root * root * root;
            if (root > 0 && std::log(Uniform()) < x * x / 2 + d - d * v + d * std::log(v)) {
                return d * v;
            }
        }
    }

 private:
    uint64_t seed_;
    uint64_t drawn_ = 0;
};

int64_t DrawLength(const LengthDistribution& d, Random& random) {
    double value = d.mean;
    switch (d.kind) {
        case LengthDistribution::Kind::kConstant:
            break;
        case LengthDistribution::Kind::kUniform:
            value = 2 * d.mean * random.Uniform();
            break;
        case LengthDistribution::Kind::kExponential:
            value = d.mean * random.Exponential();
            break;
        case LengthDistribution::Kind::kLognormal:
            // The mean of the distribution is mean.
            value = d.mean * std::exp(d.shape * random.Normal() - d.shape * d.shape / 2);
            break;
    }
    return std::llround(std::clamp(value, 1.0, kMostTokens));
}

double DrawGap(const GeneratorOptions& options, int64_t index, Random& random) {
    switch (options.arrivals) {
        case GeneratorOptions::Arrivals::kPoisson:
            return random.Exponential() / options.rate;
        case GeneratorOptions::Arrivals::kGamma: {
            const double shape = 1 / (options.cv * options.cv);
            return random.Gamma(shape) / shape / options.rate;
        }
        case GeneratorOptions::Arrivals::kBursts:
            break;
    }
    const auto burst = static_cast<double>(options.burst);
    return index % options.burst == 0 ? random.Exponential() * burst / options.rate : 0;
}

[[noreturn]] void FailGenerator(const std::string& what) {
    throw TraceError(fmt::format("--generate: {}", what));
}

double ParseNumber(std::string_view name, std::string_view text, double least, double most) {
    const std::optional<double> value = DecimalOf<double>(text);
    if (!value || !(*value >= least && *value <= most)) {
        FailGenerator(fmt::format("{} is {}; expected a number from {} to {}", name, Quote(text),
                                  least, most));
    }
    return *value;
}

int64_t ParseWhole(std::string_view name, std::string_view text, double least, double most) {
    const double value = ParseNumber(name, text, least, most);
    if (value != std::floor(value)) {
        FailGenerator(fmt::format("{} is {}; expected a whole number", name, Quote(text)));
    }
    return static_cast<int64_t>(value);
}

LengthDistribution ParseLength(std::string_view name, std::string_view text) {
    using Kind = LengthDistribution::Kind;
    constexpr std::array<std::pair<std::string_view, Kind>, 4> kKinds = {
        {{"constant", Kind::kConstant},
         {"uniform", Kind::kUniform},
         {"exponential", Kind::kExponential},
         {"lognormal", Kind::kLognormal}}};
    const size_t colon = std::min(text.find(':'), text.size());
    const auto* kind = std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& known) {
        return known.first == text.substr(0, colon);
    });
    if (kind == kKinds.end() || colon == text.size()) {
        FailGenerator(
            fmt::format("{} is {}; expected constant:N, uniform:MEAN, exponential:MEAN or "
                        "lognormal:MEAN:SIGMA",
                        name, Quote(text)));
    }
    std::string_view mean = text.substr(colon + 1);
    LengthDistribution length{kind->second, 0};
    if (kind->second == Kind::kLognormal) {
        const size_t second = std::min(mean.find(':'), mean.size());
        if (second < mean.size()) {
            length.shape = ParseNumber(name, mean.substr(second + 1), 0, 5);
        }
        mean = mean.substr(0, second);
    }
    length.mean = ParseNumber(name, mean, 1, kMostTokens);
    return length;
}

GeneratorOptions::Arrivals ParseArrivals(std::string_view text) {
    if (text == "poisson") {
        return GeneratorOptions::Arrivals::kPoisson;
    }
    if (text == "gamma") {
        return GeneratorOptions::Arrivals::kGamma;
    }
    if (text == "bursts") {
        return GeneratorOptions::Arrivals::kBursts;
    }
    FailGenerator(fmt::format("arrivals is {}; expected poisson, gamma or bursts", Quote(text)));
}

void Set(GeneratorOptions& options, std::string_view key, std::string_view value) {
    if (key == "arrivals") {
        options.arrivals = ParseArrivals(value);
    } else if (key == "rate") {
        options.rate = ParseNumber(key, value, 1e-6, 1e6);
    } else if (key == "cv") {
        options.cv = ParseNumber(key, value, 0.01, 100);
    } else if (key == "burst") {
        options.burst = ParseWhole(key, value, 1, 1e9);
    } else if (key == "count") {
        options.count = ParseWhole(key, value, 1, 1e9);
    } else if (key == "seed") {
        options.seed = static_cast<uint64_t>(ParseWhole(key, value, 0, 1e15));
    } else if (key == "prompt") {
        options.prompt = ParseLength(key, value);
    } else if (key == "generated") {
        options.generated = ParseLength(key, value);
    } else {
        FailGenerator(
            fmt::format("{} is no key; expected arrivals, rate, cv, burst, count, seed, prompt or "
                        "generated",
                        Quote(key)));
    }
}

}  // namespace

GeneratorOptions ParseGenerator(const std::string& text) {
    GeneratorOptions options;
    for (size_t at = 0; at <= text.size();) {
        const size_t end = std::min(text.find(',', at), text.size());
        const std::string_view part = std::string_view(text).substr(at, end - at);
        const size_t equals = part.find('=');
        if (equals == part.npos) {
            FailGenerator(fmt::format("part is {}; expected KEY=VALUE", Quote(part)));
        }
        Set(options, part.substr(0, equals), part.substr(equals + 1));
        at = end + 1;
    }
    return options;
}

Trace GenerateTrace(const GeneratorOptions& options) {
    constexpr double kMostSeconds = 1e11;  // as a trace may have
    constexpr int64_t kLookEvery = 1 << 16;
    Trace trace;
    trace.requests.reserve(static_cast<size_t>(options.count));
    // One stream of numbers for each, so that other lengths do not move the arrivals.
    Random arrivals(3 * options.seed);
    Random prompts(3 * options.seed + 1);
    Random generations(3 * options.seed + 2);
    double now = 0;
    for (int64_t i = 0; i < options.count; ++i) {
        const double gap = DrawGap(options, i, arrivals);
        now += i == 0 ? 0 : gap;
        if (i % kLookEvery == 0) {
            ThrowIfInterrupted();
        }
        if (now > kMostSeconds) {
            FailGenerator(fmt::format(
                "request {} of {} arrives after {:.3g} s; expected at most {:.0e}: a greater rate, "
                "or a smaller count",
                i + 1, options.count, now, kMostSeconds));
        }
        trace.requests.push_back({i + 1, std::llround(now * kTicksPerSecond),
                                  DrawLength(options.prompt, prompts),
                                  DrawLength(options.generated, generations)});
    }
    return trace;
}

}  // namespace serve
