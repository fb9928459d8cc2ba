// SPDX-License-Identifier: Apache-2.0
// Compares tokens, K/V cells and recovered sequences, and counts the faults.

#include "request_check.h"

#include <fmt/format.h>

#include <cstddef>
#include <cstring>

namespace serve {
namespace {

constexpr int64_t kShownFaults = 8;  // of a kind; the others are only counted

std::string Describe(const KvCell& cell, const KvCell& expected) {
    if (cell.position < 0) {
        return "K/V is missing";
    }
    if (cell.token == expected.token && cell.position == expected.position) {
        return "K/V is another sequence's";
    }
    return fmt::format("K/V is token {}'s of position {}", cell.token, cell.position);
}

}  // namespace

void RequestCheck::Compare(const Sequence& sequence, const KvCell* cells) {
    const Request& request = *sequence.request;
    RunOnContiguousCache(sequence.seeds, request.promptTokens, request.generatedTokens, reference_);
    CompareTokens(sequence);
    CompareCells(request, cells);
}

void RequestCheck::CompareTokens(const Sequence& sequence) {
    const Request& request = *sequence.request;
    for (size_t i = 0; i < reference_.tokens.size(); ++i) {
        if (sequence.tokens.at(i) != reference_.tokens[i]) {
            AddFault(differences_, request, request.promptTokens + static_cast<int64_t>(i),
                     fmt::format("{} is {}; expected {}",
                                 i + 1 < reference_.tokens.size()
                                     ? "generated token"
                                     : "last token, which depends on all K/V,",
                                 sequence.tokens[i], reference_.tokens[i]));
        }
    }
}

void RequestCheck::CompareCells(const Request& request, const KvCell* cells) {
    static_assert(sizeof(KvCell) == 16, "nothing between the members, which memcmp would compare");
    if (std::memcmp(cells, reference_.cache.data(), reference_.cache.size() * sizeof(KvCell)) ==
        0) {
        return;
    }
    for (size_t i = 0; i < reference_.cache.size(); ++i) {
        const KvCell& cell = cells[i];
        const KvCell& expected = reference_.cache[i];
        if (cell != expected) {
            AddFault(
                differences_, request, static_cast<int64_t>(i),
                fmt::format("{}; expected token {}", Describe(cell, expected), expected.token));
        }
    }
}

void RequestCheck::CompareRecovery(const Sequence& sequence, int64_t blocks, int64_t blockSize) {
    const int64_t tokens = sequence.prefillTokens;
    if (blocks * blockSize < tokens) {
        AddFault(shortRecoveries_, *sequence.request, blocks * blockSize,
                 fmt::format("recovered with {} blocks of {}; its {} tokens need {}", blocks,
                             blockSize, tokens, (tokens + blockSize - 1) / blockSize));
    }
}

void RequestCheck::AddFault(int64_t& faults, const Request& request, int64_t position,
                            const std::string& what) {
    if (faults < kShownFaults) {
        report_(fmt::format("fault: sequence of line {}, position {}: {}", request.line, position,
                            what));
    } else if (faults == kShownFaults) {
        report_("further faults of this kind are only counted");
    }
    ++faults;
}

}  // namespace serve
