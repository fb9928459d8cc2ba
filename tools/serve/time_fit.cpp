// SPDX-License-Identifier: Apache-2.0
// Implements the fit: normal equations of scaled columns, over every subset of the costs.

#include "time_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "csv_line.h"
#include "decimal.h"
#include "line_reader.h"
#include "time_model.h"
#include "trace_format.h"

namespace serve {
namespace {

constexpr size_t kCosts = 4;
using PerCost = std::array<double, kCosts>;

PerCost FactorsOf(const IterationWork& work) {
    return {1, static_cast<double>(work.prefillTokens), static_cast<double>(work.decodeRows),
            static_cast<double>(work.contextTokens)};
}

// Gauss with pivots, of the equations of the chosen costs; nothing: they are not determined.
std::optional<PerCost> Solve(const std::array<std::array<double, kCosts + 1>, kCosts>& all,
                             unsigned subset) {
    std::array<std::array<double, kCosts + 1>, kCosts> m = all;
    for (size_t i = 0; i < kCosts; ++i) {
        if ((subset >> i & 1U) == 0) {
            for (size_t j = 0; j <= kCosts; ++j) {
                m[i][j] = i == j ? 1 : 0;
                if (j < kCosts) {
                    m[j][i] = i == j ? 1 : 0;
                }
            }
        }
    }
    for (size_t column = 0; column < kCosts; ++column) {
        size_t pivot = column;
        for (size_t row = column + 1; row < kCosts; ++row) {
            pivot = std::fabs(m[row][column]) > std::fabs(m[pivot][column]) ? row : pivot;
        }
        std::swap(m[pivot], m[column]);
        if (std::fabs(m[column][column]) < 1e-12) {
            return std::nullopt;
        }
        for (size_t row = 0; row < kCosts; ++row) {
            if (row != column) {
                const double factor = m[row][column] / m[column][column];
                for (size_t j = column; j <= kCosts; ++j) {
                    m[row][j] -= factor * m[column][j];
                }
            }
        }
    }
    PerCost solution{};
    for (size_t i = 0; i < kCosts; ++i) {
        solution[i] = m[i][kCosts] / m[i][i];
    }
    return solution;
}

void AddResiduals(const std::vector<Measurement>& measurements, Fit& fit) {
    double mean = 0;
    for (const Measurement& m : measurements) {
        mean += m.seconds / static_cast<double>(measurements.size());
    }
    double squares = 0;
    double spread = 0;
    for (const Measurement& m : measurements) {
        double error = m.seconds;
        const PerCost factors = FactorsOf(m.work);
        for (size_t i = 0; i < kCosts; ++i) {
            error -= fit.seconds[i] * factors[i];
        }
        squares += error * error;
        spread += (m.seconds - mean) * (m.seconds - mean);
        fit.most = std::max(fit.most, std::fabs(error));
    }
    fit.rms = std::sqrt(squares / static_cast<double>(measurements.size()));
    fit.rSquared = spread > 0 ? 1 - squares / spread : 1;
}

int64_t TokensOf(std::string_view column, std::string_view text) {
    constexpr int64_t kMostTokens = 1'000'000'000'000'000;  // a double has them exactly
    const std::optional<double> value = DecimalOf<double>(text);
    if (!value || !(*value >= 0 && *value <= kMostTokens) || *value != std::floor(*value)) {
        throw LineError(fmt::format("{} is {}; expected a whole number from 0 to {}", column,
                                    Quote(text), kMostTokens));
    }
    return static_cast<int64_t>(*value);
}

double SecondsOf(std::string_view column, std::string_view text) {
    constexpr double kMostSeconds = kMostCostMicroseconds / 1e6;
    const std::optional<double> value = DecimalOf<double>(text);
    if (!value || !(*value >= 0 && *value <= kMostSeconds)) {
        throw LineError(fmt::format("{} is {}; expected a number from 0 to {}", column, Quote(text),
                                    kMostSeconds));
    }
    return *value;
}

}  // namespace

std::vector<Measurement> ReadMeasurements(const std::string& path) {
    constexpr std::array<std::string_view, kCosts> kColumns = {"prefill_tokens", "decode_rows",
                                                               "context_tokens", "seconds"};
    LineReader lines(path);
    std::string_view text;
    const auto next = [&] {
        while (lines.Next(&text)) {
            if (!Trim(text).empty()) {
                return true;
            }
        }
        return false;
    };
    if (!next()) {
        throw TraceError(fmt::format("{}:1: line is missing; the file is empty", path));
    }
    std::vector<Measurement> measurements;
    try {
        const std::string header(text);
        const size_t fields = CsvLine(header).Size();
        const CsvLine names = DivideLine(header, fields, header);
        std::array<size_t, kCosts> places{};
        for (size_t i = 0; i < kCosts; ++i) {
            const std::optional<size_t> place = names.Find(kColumns[i]);
            if (!place) {
                throw LineError(fmt::format("the header is {}; expected one column {}",
                                            Quote(header), kColumns[i]));
            }
            places[i] = *place;
        }
        while (next()) {
            const CsvLine cells = DivideLine(text, fields, header);
            const auto tokens = [&](size_t i) { return TokensOf(kColumns[i], cells[places[i]]); };
            measurements.push_back(
                {{tokens(0), tokens(1), tokens(2)}, SecondsOf(kColumns[3], cells[places[3]])});
        }
    } catch (const LineError& error) {
        throw TraceError(fmt::format("{}:{}: {}", path, lines.Number(), error.what()));
    }
    if (measurements.empty()) {
        throw TraceError(fmt::format("{}: has no measurement", path));
    }
    return measurements;
}

Fit FitCosts(const std::vector<Measurement>& measurements) {
    // Columns of length 1 keep the equations well conditioned.
    PerCost scale{};
    double longest = 0;
    for (const Measurement& m : measurements) {
        longest = std::max(longest, m.seconds);
        const PerCost factors = FactorsOf(m.work);
        for (size_t i = 0; i < kCosts; ++i) {
            scale[i] += factors[i] * factors[i];
        }
    }
    for (double& value : scale) {
        value = value > 0 ? std::sqrt(value) : 1;
    }
    std::array<std::array<double, kCosts + 1>, kCosts> equations{};
    for (const Measurement& m : measurements) {
        const PerCost factors = FactorsOf(m.work);
        for (size_t i = 0; i < kCosts; ++i) {
            for (size_t j = 0; j < kCosts; ++j) {
                equations[i][j] += factors[i] / scale[i] * (factors[j] / scale[j]);
            }
            equations[i][kCosts] += factors[i] / scale[i] * m.seconds;
        }
    }
    std::optional<Fit> best;
    for (unsigned subset = 1; subset < 1U << kCosts; ++subset) {
        const std::optional<PerCost> solution = Solve(equations, subset);
        if (!solution || *std::min_element(solution->begin(), solution->end()) < 0) {
            continue;
        }
        Fit fit;
        // A cost of a solution is at most the longest measurement, less what rounding does.
        for (size_t i = 0; i < kCosts; ++i) {
            fit.seconds[i] = std::min((*solution)[i] / scale[i], longest);
        }
        AddResiduals(measurements, fit);
        if (!best || fit.rms < best->rms) {
            best = fit;
        }
    }
    if (!best) {
        throw TraceError(fmt::format("{} measurements do not determine the costs of an iteration",
                                     measurements.size()));
    }
    constexpr unsigned kAll = (1U << kCosts) - 1;
    best->isDetermined = Solve(equations, kAll).has_value();
    return *best;
}

std::string FitText(const Fit& fit, size_t measurements) {
    const nlohmann::ordered_json json = {{"iteration_us", fit.seconds[0] * 1e6},
                                         {"prefill_token_us", fit.seconds[1] * 1e6},
                                         {"decode_row_us", fit.seconds[2] * 1e6},
                                         {"context_token_us", fit.seconds[3] * 1e6},
                                         {"fit",
                                          {{"measurements", measurements},
                                           {"rms_residual_us", fit.rms * 1e6},
                                           {"max_residual_us", fit.most * 1e6},
                                           {"r_squared", fit.rSquared}}}};
    return json.dump(2) + '\n';
}

}  // namespace serve
