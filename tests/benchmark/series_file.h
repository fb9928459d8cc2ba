// SPDX-License-Identifier: Apache-2.0
// Rows that a program of its own measures for the dashboard, in the form of peers.py.

#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "tests/benchmark/interleaved.h"

namespace bench {

class SeriesFile {
 public:
    explicit SeriesFile(const char* path) : file_(path) {}
    SeriesFile(const SeriesFile&) = delete;
    SeriesFile& operator=(const SeriesFile&) = delete;

    /// Measures a row.
    void Add(const std::string& row, const Comparison& comparison, const Budget& budget);

    /// Returns false if the file cannot be written.
    bool Close();

 private:
    void WriteSide(const char* side, const std::vector<double>& times, int64_t runs);

    std::ofstream file_;
    bool empty_ = true;
};

}  // namespace bench
