// SPDX-License-Identifier: Apache-2.0
// The machine of a measurement: its processor, and the load of other programs.

#pragma once

#include <string>

namespace bench {

/// "model name" of the first processor.
std::string CpuModel();

/// How many of the machine's cores other programs, and other guests of its host, have used: a row
/// that was measured beside them says little. 0 where Linux does not tell.
class OtherLoad {
 public:
    OtherLoad();

    /// Cores, on average since it was made.
    double Cores() const;

 private:
    double begin_;  // seconds
    double others_;
};

}  // namespace bench
