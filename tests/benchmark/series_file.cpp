// SPDX-License-Identifier: Apache-2.0
// Writes rows for the dashboard.

#include "tests/benchmark/series_file.h"

#include "tests/benchmark/dashboard/machine.h"

namespace bench {

void SeriesFile::Add(const std::string& row, const Comparison& comparison, const Budget& budget) {
    const OtherLoad others;
    const Series series = Interleave(comparison, budget);
    file_ << (empty_ ? "{\"" : ", \"") << row << "\": {\"other_cores\": " << others.Cores();
    WriteSide("library", series.library, series.libraryRuns);
    WriteSide("baseline", series.baseline, series.baselineRuns);
    file_ << "}";
    empty_ = false;
}

bool SeriesFile::Close() {
    file_ << "}\n";
    file_.close();
    return !file_.fail();
}

void SeriesFile::WriteSide(const char* side, const std::vector<double>& times, int64_t runs) {
    file_ << ", \"" << side << "_runs\": " << runs << ", \"" << side << "_ns\": [";
    for (size_t pair = 0; pair < times.size(); ++pair) {
        file_ << (pair == 0 ? "" : ", ") << times[pair];
    }
    file_ << "]";
}

}  // namespace bench
