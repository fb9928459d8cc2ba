// SPDX-License-Identifier: Apache-2.0
// Runs a small llama on the device, call by call and with a captured decode step, and in plain
// loops. Fails if any token differs.

#include <chrono>
#include <cstdio>

#include "device_llama.h"
#include "plain_llama.h"

namespace {

constexpr int64_t kTokens = 32;

double MillisecondsSince(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
        .count();
}

}  // namespace

int main() {
    const llama::Model model = llama::MakeModel();
    const std::vector<std::vector<int64_t>> prompts{{5, 17, 42, 3, 88, 61, 9, 30, 12}, {70, 2, 55}};
    std::vector<std::vector<int64_t>> plain;
    for (const std::vector<int64_t>& prompt : prompts) {
        plain.push_back(llama::PlainTokens(model, prompt, kTokens));
    }
    const aclrtStream stream = OpenStream();
    bool equal = true;
    for (const llama::Decoding decoding :
         {llama::Decoding::kCallByCall, llama::Decoding::kReplayed}) {
        const auto begin = std::chrono::steady_clock::now();
        const auto tokens = llama::DeviceTokens(model, prompts, kTokens, decoding, stream);
        std::printf("%-12s %zu sequences of %lld tokens in %.0f ms, %s those of plain loops\n",
                    decoding == llama::Decoding::kReplayed ? "replayed:" : "call by call:",
                    tokens.size(), static_cast<long long>(kTokens), MillisecondsSince(begin),
                    tokens == plain ? "equal to" : "NOT");
        equal = equal && tokens == plain;
    }
    CloseStream(stream);
    return equal ? 0 : 1;
}
