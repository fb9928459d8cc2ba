// SPDX-License-Identifier: Apache-2.0
// Makes the record of a finished request and writes the records as a file.

#include "finished_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "toy_model.h"

namespace serve {

FinishedRequest MakeFinished(int64_t replica, const Sequence& sequence, int64_t closingToken,
                             int64_t now) {
    const Request& request = *sequence.request;
    uint64_t hash = 0;
    for (const int64_t token : sequence.tokens) {
        hash = Mix(hash ^ static_cast<uint64_t>(token));
    }
    hash = Mix(hash ^ static_cast<uint64_t>(closingToken));
    return {request.line,
            replica,
            request.promptTokens,
            static_cast<int64_t>(sequence.tokens.size()),
            request.arrival,
            sequence.admitted,
            sequence.firstToken,
            sequence.lastToken,
            now,
            hash};
}

void WriteFinished(const std::string& path, std::vector<FinishedRequest> requests) {
    std::sort(requests.begin(), requests.end(),
              [](const auto& a, const auto& b) { return a.line < b.line; });
    std::ofstream file(path);
    file << "line,replica,prompt_tokens,generated_tokens,arrival,admitted,first_token,last_token,"
            "finished,"
            "text_hash\n";
    for (const FinishedRequest& r : requests) {
        file << fmt::format("{},{},{},{},{},{},{},{},{},{:016x}\n", r.line, r.replica,
                            r.promptTokens, r.generatedTokens, r.arrival, r.admitted, r.firstToken,
                            r.lastToken, r.finished, r.textHash);
    }
    file.close();
    if (!file) {
        throw std::runtime_error(fmt::format("{}: the requests cannot be written", path));
    }
}

}  // namespace serve
