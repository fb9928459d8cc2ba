// SPDX-License-Identifier: Apache-2.0
// The parser of serve's traces on any file: requests in order and in range, one for each line, or
// an error that says where.
#include <algorithm>

#include "fuzz/fuzz_machine.h"
#include "fuzz/temporary_file.h"
#include "tools/serve/request_trace.h"

namespace {

void RequireSound(const serve::Trace& trace, const std::string& text) {
    const auto ends = std::count(text.begin(), text.end(), '\n') + (text.back() == '\n' ? 0 : 1);
    const size_t mark = text.rfind("\xef\xbb\xbf", 0) == 0 ? 3 : 0;  // of the order of bytes
    const size_t first = text.find_first_not_of(" \t\r\n", mark);
    const int64_t headers = text.at(first) == '{' ? 0 : 1;
    const auto requests = static_cast<int64_t>(trace.requests.size());
    FUZZ_REQUIRE(requests >= 1 && trace.failed >= 0 && trace.blank >= 0);
    FUZZ_REQUIRE(requests + trace.failed + trace.blank == ends - headers);
    FUZZ_REQUIRE(trace.requests.front().arrival == 0);
    std::vector<bool> seen(static_cast<size_t>(ends + 1));
    int64_t last = 0, lastLine = 0;
    for (const serve::Request& request : trace.requests) {
        FUZZ_REQUIRE(request.arrival > last ||
                     (request.arrival == last && request.line > lastLine));
        last = request.arrival;
        lastLine = request.line;
        FUZZ_REQUIRE(request.line > headers && request.line <= ends);
        FUZZ_REQUIRE(!seen[static_cast<size_t>(request.line)]);
        seen[static_cast<size_t>(request.line)] = true;
        FUZZ_REQUIRE(request.promptTokens >= 1 && request.promptTokens <= 1'000'000'000);
        FUZZ_REQUIRE(request.generatedTokens >= 1 && request.generatedTokens <= 1'000'000'000);
    }
    FUZZ_REQUIRE(trace.outOfOrder >= 0 && trace.outOfOrder < ends);
}

}  // namespace

extern "C" int fuzz_trace(const uint8_t* bytes, size_t size) {
    static const TemporaryFile file("fuzz_trace");
    file.Write(bytes, size);
    try {
        RequireSound(serve::ReadTrace(file.Path()),
                     std::string(reinterpret_cast<const char*>(bytes), size));
    } catch (const serve::TraceError& error) {
        const std::string what = error.what();
        FUZZ_REQUIRE(what.rfind(file.Path() + ":", 0) == 0);
        FUZZ_REQUIRE(
            std::all_of(what.begin(), what.end(), [](char c) { return c >= ' ' && c <= '~'; }));
    }
    return 0;
}
