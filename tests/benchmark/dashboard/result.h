// SPDX-License-Identifier: Apache-2.0
// The result of a row: its figures and its verdict.

#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tests/benchmark/dashboard/row.h"

namespace bench {

enum class Verdict { kHolds, kDoesNotHold, kSkipped };

/// What became of a row.
struct Result {
    Row row;
    Series series;
    Quartiles figure;
    double otherCores = 0;  // that other programs used meanwhile
    Verdict verdict = Verdict::kSkipped;
    std::string whyNot;  // kSkipped
};

/// The figure of every pair.
std::vector<double> FiguresOf(Figure figure, const Series& series);

/// The median of the pairs' figures against the goal. Without pairs it is skipped.
Result Judge(const Row& row, Series series);
Result Skip(const Row& row, std::string whyNot);

const char* NameOf(Verdict verdict);
const char* NameOf(Figure figure);

nlohmann::ordered_json ToJson(const Result& result);

/// The heading of the table, and a line of it.
std::string TableHeading();
std::string TableLine(const Result& result);

}  // namespace bench
