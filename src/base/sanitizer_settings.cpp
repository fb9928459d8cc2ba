// SPDX-License-Identifier: Apache-2.0
// Reads the settings of the sanitizer.

#include "src/base/sanitizer_settings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <sstream>

#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"

namespace advstep {
namespace {

constexpr struct {
    const char* name;
    SanitizerCheck check;
} kChecks[] = {{"memory", SanitizerCheck::kMemory},
               {"race", SanitizerCheck::kRace},
               {"init", SanitizerCheck::kInit},
               {"sync", SanitizerCheck::kSync},
               {"limits", SanitizerCheck::kLimits}};

bool ReadWholeFile(const std::string& path, std::string* text) {
    const NoCancellation noCancellation;
    const int file = OpenFile(path.c_str(), O_RDONLY);
    if (file < 0) {
        return false;
    }
    char buffer[4096];
    ssize_t got = 0;
    do {
        got = read(file, buffer, sizeof(buffer));
        if (got > 0) {
            text->append(buffer, static_cast<size_t>(got));
        }
    } while (got > 0 || (got < 0 && errno == EINTR));
    (void)close(file);
    return got == 0;
}

}  // namespace

const char* NameOf(SanitizerCheck check) {
    for (const auto& row : kChecks) {
        if (row.check == check) {
            return row.name;
        }
    }
    return "slots";
}

bool ReadSanitizerChecks(const std::string& text, uint32_t* checks) {
    // A script that switches the sanitizer off passes an empty text.
    if (text.empty() || text == "off") {
        *checks = 0;
        return true;
    }
    uint32_t chosen = 0;
    std::istringstream names(text);
    for (std::string name; std::getline(names, name, ',');) {
        bool known = name == "all" || name == "host";
        if (name == "host") {
            chosen |= BitOf(SanitizerCheck::kHost);
        }
        for (const auto& row : kChecks) {
            if (known && name != "all") {
                break;
            }
            if (name == "all" || name == row.name) {
                known = true;
                chosen |= BitOf(row.check);
            }
        }
        if (!known) {
            return false;
        }
    }
    const bool hostAlone = (chosen & BitOf(SanitizerCheck::kHost)) != 0 &&
                           (chosen & BitOf(SanitizerCheck::kRace)) == 0;
    if (chosen == 0 || hostAlone || text.back() == ',') {
        return false;
    }
    *checks = chosen | BitOf(SanitizerCheck::kSlots);
    return true;
}

bool ReadSanitizerAction(const std::string& text, SanitizerAction* action) {
    for (const auto& [name, value] :
         {std::pair("report", SanitizerAction::kReport), std::pair("fail", SanitizerAction::kFail),
          std::pair("stop", SanitizerAction::kStop)}) {
        if (text == name) {
            *action = value;
            return true;
        }
    }
    return false;
}

bool ReadSuppressions(const std::string& path, std::vector<std::string>* patterns) {
    std::string text;
    if (!ReadWholeFile(path, &text)) {
        return false;
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string::npos || line[begin] == '#') {
            continue;
        }
        patterns->push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
    }
    return true;
}

bool MatchesPattern(const std::string& pattern, const std::string& text) {
    size_t at = 0;
    size_t in = 0;
    size_t star = std::string::npos;  // the last "*" that was passed
    size_t taken = 0;                 // where the text after it began
    while (in < text.size()) {
        if (at < pattern.size() && pattern[at] == '*') {
            star = at++;
            taken = in;
        } else if (at < pattern.size() && pattern[at] == text[in]) {
            ++at;
            ++in;
        } else if (star != std::string::npos) {
            at = star + 1;
            in = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', at) == std::string::npos;
}

}  // namespace advstep
