// SPDX-License-Identifier: Apache-2.0
// The settings of the sanitizer of device programs.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace advstep {

/// A check of the sanitizer. kSlots is on while any other one is. kHost makes kRace look at
/// accesses of the host, too; its findings are kRace's.
enum class SanitizerCheck : uint8_t { kMemory, kRace, kInit, kSync, kLimits, kSlots, kHost };

constexpr uint32_t BitOf(SanitizerCheck check) { return uint32_t{1} << static_cast<int>(check); }

/// Returns the check's name in findings.
const char* NameOf(SanitizerCheck check);

/// The reaction to a finding: a report; a report and an exit status other than 0; or a report and
/// the end of the process.
enum class SanitizerAction : uint8_t { kReport, kFail, kStop };

struct SanitizerSettings {
    uint32_t checks = 0;  // bits of SanitizerCheck
    SanitizerAction action = SanitizerAction::kReport;
    std::string file;                       // gets JSON lines; empty: none
    std::vector<std::string> suppressions;  // patterns of functions and libraries
};

/// Reads the names of checks with commas between them, or "all", which has all but "host". False: a
/// name is none, or "host" is without "race".
bool ReadSanitizerChecks(const std::string& text, uint32_t* checks);

/// Reads "report", "fail" or "stop".
bool ReadSanitizerAction(const std::string& text, SanitizerAction* action);

/// Reads a file of suppressions: a pattern in each line; empty lines and those that begin with "#"
/// are none. False: the file cannot be read.
bool ReadSuppressions(const std::string& path, std::vector<std::string>* patterns);

/// Returns whether the text matches the pattern, in which "*" stands for any text.
bool MatchesPattern(const std::string& pattern, const std::string& text);

}  // namespace advstep
