// SPDX-License-Identifier: Apache-2.0
// Prints, counts and suppresses the findings of the sanitizer.

#include "src/base/sanitizer.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "acl/acl_base.h"
#include "src/base/exit_status.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/no_file_signals.h"
#include "src/base/open_file.h"
#include "src/base/sanitizer_scope.h"

namespace advstep {
namespace {

using Site = std::tuple<SanitizerCheck, std::string, CallStack, CallStack>;

struct Place {
    uint64_t count = 0;
    off_t countAt = -1;       // of the number in the file; -1: the file has no such line
    std::string headline;     // the first line of the text
    bool suppressed = false;  // then nothing tells of it
};

// What was found. mutex guards everything. The child of a fork begins with nothing, and its lines
// go to the file only after its own runtime has started.
struct Findings {
    std::mutex mutex;
    SanitizerSettings settings;
    int lines = -1;   // the file, opened to append: several processes may share it
    int counts = -1;  // the file again, to change the counts in lines of this process
    std::map<Site, Place> places;
};

Findings& TheFindings() {
    static NeverDestroyed<Findings> findings;
    return *findings;
}

std::atomic<bool> listingHooked{false};
const ForkHook offInTheChild([](void*) noexcept { sanitizerChecks.store(0); });

void CloseFiles(Findings* findings) {
    for (int* file : {&findings->lines, &findings->counts}) {
        if (*file >= 0) {
            (void)close(*file);
            *file = -1;
        }
    }
}

// Lists what was found more than once, and writes how often into the file.
void ListFindingsAtExit(int, void*) {
    const NoCancellation noCancellation;
    const NoFileSignals noFileSignals;
    Findings& findings = TheFindings();
    const std::lock_guard<std::mutex> lock(findings.mutex);
    if (findings.places.empty()) {
        return;
    }
    try {
        uint64_t all = 0;
        size_t places = 0;
        std::string repeated;
        for (const auto& [site, place] : findings.places) {
            if (place.suppressed) {
                continue;
            }
            all += place.count;
            ++places;
            if (place.count == 1) {
                continue;
            }
            repeated += fmt::format("  {} times: {}\n", place.count, place.headline);
            if (findings.counts >= 0 && place.countAt >= 0) {
                const std::string number = fmt::format("{:<{}}", place.count, Finding::kCountRoom);
                (void)!pwrite(findings.counts, number.data(), number.size(), place.countAt);
            }
        }
        if (places == 0) {
            return;
        }
        const std::string text =
            fmt::format("advance_step sanitizer: {} finding{} at {} place{}\n{}", all,
                        all == 1 ? "" : "s", places, places == 1 ? "" : "s", repeated);
        std::fwrite(text.data(), 1, text.size(), stderr);
    } catch (const std::exception&) {
        std::fputs("advance_step sanitizer: no memory was left to list the findings\n", stderr);
    }
    if (findings.settings.action == SanitizerAction::kFail) {
        FailAtExit();
    }
}

bool IsSuppressed(const Finding& finding, const std::vector<std::string>& patterns) {
    bool suppressed = false;
    for (const Finding::NamedStack& named : finding.stacks()) {
        if (suppressed || patterns.empty()) {
            break;
        }
        named.stack.ForEachFrame([&](std::string_view file, std::string_view function) {
            const std::string path(file);
            const std::string library = path.substr(path.rfind('/') + 1);
            const std::string whole(function);
            const std::string plain = whole.substr(0, whole.find('('));
            for (const std::string& pattern : patterns) {
                suppressed = suppressed || MatchesPattern(pattern, library) ||
                             MatchesPattern(pattern, path) ||
                             (!whole.empty() &&
                              (MatchesPattern(pattern, whole) || MatchesPattern(pattern, plain)));
            }
        });
    }
    return suppressed;
}

// Appends the line. Returns the place of its count, or -1.
off_t AppendLine(int file, const Finding& finding) {
    const NoFileSignals noFileSignals;
    size_t countAt = 0;
    const std::string line = finding.JsonLine(1, &countAt);
    if (write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
        return -1;
    }
    const off_t end = lseek(file, 0, SEEK_CUR);
    return end < 0 ? -1 : end - static_cast<off_t>(line.size() - countAt);
}

void ReportLocked(Findings* findings, const Finding& finding) {
    Place& place =
        findings->places[{finding.check(), finding.kind(), finding.Site(0), finding.Site(1)}];
    ++place.count;
    if (place.count > 1) {
        return;
    }
    place.suppressed = IsSuppressed(finding, findings->settings.suppressions);
    if (place.suppressed) {
        return;
    }
    const std::string text = finding.Text();
    constexpr std::string_view kPrefix = "advance_step sanitizer: ";
    place.headline = text.substr(kPrefix.size(), text.find('\n') - kPrefix.size());
    std::fwrite(text.data(), 1, text.size(), stderr);
    if (findings->lines >= 0) {
        place.countAt = AppendLine(findings->lines, finding);
    }
    if (findings->settings.action == SanitizerAction::kStop) {
        std::fflush(nullptr);
        std::abort();
    }
}

Status OpenFiles(const std::string& path, Findings* findings) {
    findings->lines = OpenFile(path.c_str(), O_WRONLY | O_CREAT | O_APPEND);
    if (findings->lines < 0) {
        return Error(ACL_ERROR_FILE_ATTR_INVALID,
                     "ADVANCE_STEP_SANITIZE_FILE is \"{}\", which cannot be opened: {}; expected "
                     "the path of a file to write",
                     path, FileErrorText(errno));
    }
    // A pipe has no counts to change.
    if (lseek(findings->lines, 0, SEEK_CUR) >= 0) {
        findings->counts = OpenFile(path.c_str(), O_WRONLY);
    }
    return {};
}

}  // namespace

Status StartSanitizer(const SanitizerSettings& settings) {
    const NoCancellation noCancellation;
    const SanitizerScope own;
    Findings& findings = TheFindings();
    const std::lock_guard<std::mutex> lock(findings.mutex);
    if (findings.settings.file != settings.file || findings.lines < 0) {
        CloseFiles(&findings);
        if (settings.checks != 0 && !settings.file.empty()) {
            ADVSTEP_RETURN_IF_ERROR(OpenFiles(settings.file, &findings));
        }
    }
    findings.settings = settings;
    if (settings.checks != 0 && !listingHooked.exchange(true)) {
        PrepareExitStatus();
        (void)on_exit(&ListFindingsAtExit, nullptr);
    }
    sanitizerChecks.store(settings.checks);
    return {};
}

void Report(const Finding& finding) noexcept {
    const NoCancellation noCancellation;
    const SanitizerScope own;
    try {
        Findings& findings = TheFindings();
        const std::lock_guard<std::mutex> lock(findings.mutex);
        ReportLocked(&findings, finding);
    } catch (const std::exception&) {
        std::fputs("advance_step sanitizer: no memory was left to report a finding\n", stderr);
    }
}

bool CountIfReported(SanitizerCheck check, const char* kind, const CallStack& first,
                     const CallStack& second) noexcept {
    const NoCancellation noCancellation;
    const SanitizerScope own;
    try {
        Findings& findings = TheFindings();
        const std::lock_guard<std::mutex> lock(findings.mutex);
        const auto known = findings.places.find({check, kind, first, second});
        if (known == findings.places.end()) {
            return false;
        }
        ++known->second.count;
        return true;
    } catch (const std::exception&) {
        return true;  // without memory nothing more can be told
    }
}

}  // namespace advstep
