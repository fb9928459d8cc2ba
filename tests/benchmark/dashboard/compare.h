// SPDX-License-Identifier: Apache-2.0
// Results beside those of an earlier run.

#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tests/benchmark/dashboard/result.h"

namespace bench {

/// The rows of an earlier run, as --json wrote them.
class EarlierRun {
 public:
    /// Reads the file. No value: it is none of the dashboard's.
    static std::optional<EarlierRun> Read(const std::string& path);

    /// Returns a line about a row that has moved: each median lies outside the quartiles of the
    /// other run. No value: it has not moved, or one of the runs has not measured it.
    std::optional<std::string> Moved(const Result& now) const;

 private:
    nlohmann::json rows_;
};

}  // namespace bench
