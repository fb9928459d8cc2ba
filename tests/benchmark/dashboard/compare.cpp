// SPDX-License-Identifier: Apache-2.0
// Compares the medians and quartiles of two runs, row by row.

#include "tests/benchmark/dashboard/compare.h"

#include <fmt/format.h>

#include <fstream>

namespace bench {
namespace {

bool Outside(double value, double low, double high) { return value < low || value > high; }

}  // namespace

std::optional<EarlierRun> EarlierRun::Read(const std::string& path) {
    std::ifstream file(path);
    const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_object() || !json.contains("rows") || !json["rows"].is_array()) {
        return std::nullopt;
    }
    EarlierRun run;
    run.rows_ = json["rows"];
    return run;
}

std::optional<std::string> EarlierRun::Moved(const Result& now) const {
    if (now.verdict == Verdict::kSkipped) {
        return std::nullopt;
    }
    for (const nlohmann::json& row : rows_) {
        if (row.value("row", "") != now.row.name || !row.contains("median")) {
            continue;
        }
        const double median = row["median"];
        const double low = row["quartiles"][0];
        const double high = row["quartiles"][1];
        if (!Outside(now.figure.median, low, high) ||
            !Outside(median, now.figure.low, now.figure.high)) {
            return std::nullopt;
        }
        const bool less = now.figure.median < median;
        const bool better = less == (now.row.goal.sense == Sense::kAtMost);
        return fmt::format("{:<22} {:<6} {:.3g} ({:.3g} .. {:.3g}), was {:.3g} ({:.3g} .. {:.3g})",
                           now.row.name, better ? "better" : "worse", now.figure.median,
                           now.figure.low, now.figure.high, median, low, high);
    }
    return std::nullopt;
}

}  // namespace bench
