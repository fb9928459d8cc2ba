// SPDX-License-Identifier: Apache-2.0
// Makes the record of a finished request, and the text of the file of all records.

#include "finished_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "toy_model.h"

namespace serve {

FinishedRequest MakeFinished(int64_t replica, const Sequence& sequence) {
    const Request& request = *sequence.request;
    uint64_t hash = 0;
    for (const int64_t token : sequence.tokens) {
        hash = Mix(hash ^ static_cast<uint64_t>(token));
    }
    return {request.line,
            replica,
            request.promptTokens,
            static_cast<int64_t>(sequence.tokens.size()),
            request.arrival,
            sequence.admitted,
            sequence.firstToken,
            sequence.lastToken,
            hash};
}

std::string FinishedText(std::vector<FinishedRequest> requests) {
    std::sort(requests.begin(), requests.end(),
              [](const auto& a, const auto& b) { return a.line < b.line; });
    std::string text =
        "line,replica,prompt_tokens,generated_tokens,arrival,admitted,first_token,last_token,"
        "text_hash\n";
    for (const FinishedRequest& r : requests) {
        text += fmt::format("{},{},{},{},{},{},{},{},{:016x}\n", r.line, r.replica, r.promptTokens,
                            r.generatedTokens, r.arrival, r.admitted, r.firstToken, r.lastToken,
                            r.textHash);
    }
    return text;
}

}  // namespace serve
