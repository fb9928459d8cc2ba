// SPDX-License-Identifier: Apache-2.0
// A graph of AdvanceStep operators with what a run of it must give: outputs, an error of the data,
// or a refusal.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_H_
#define ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ge/ge_api.h"
#include "support/graph_values.h"

namespace support {

enum class RandomOutcome { kRan, kDataError, kRefused };

struct RandomGraph {
    // What went wrong with the graph, or nothing.
    std::optional<std::string> Check(ge::Session& session, uint32_t graphId,
                                     RandomOutcome* outcome) const {
        *outcome = RandomOutcome::kRefused;
        if (const ge::Status added = session.AddGraph(graphId, graph); added != ge::SUCCESS) {
            return CheckRefusal(added, codes);
        }
        const auto before = ValuesOf(tensors);
        std::optional<std::string> wrong;
        for (int run = 0; run < 2 && !wrong; ++run) {
            std::vector<ge::Tensor> outputs;
            const ge::Status ran = session.RunGraph(graphId, tensors, outputs);
            if (!codes.empty()) {
                wrong = CheckRefusal(ran, codes);
            } else if (hasDataError) {
                *outcome = RandomOutcome::kDataError;
                wrong = CheckRefusal(ran, {"507035"});
            } else {
                *outcome = RandomOutcome::kRan;
                wrong = CheckOutputs(ran, outputs);
            }
            if (!wrong && ValuesOf(tensors) != before) {
                wrong = "an input has changed";
            }
        }
        if (session.RemoveGraph(graphId) != ge::SUCCESS) {
            return "RemoveGraph failed";
        }
        return wrong;
    }

    ge::Graph graph{"random"};
    std::vector<ge::Tensor> tensors;
    std::vector<std::vector<int64_t>> expected;
    std::set<std::string> codes;  // one of them must be in the message; none: it runs
    bool hasDataError = false;

 private:
    static std::optional<std::string> CheckRefusal(ge::Status status,
                                                   const std::set<std::string>& codes) {
        const std::string message = ge::GEGetErrorMsgV2().GetString();
        if (status != ge::FAILED) {
            return "returned " + std::to_string(status) + ", expected a refusal";
        }
        const bool isKnown = std::any_of(codes.begin(), codes.end(), [&](const auto& code) {
            return message.find(code) != std::string::npos;
        });
        return isKnown ? std::nullopt : std::optional("unexpected message: " + message);
    }

    std::optional<std::string> CheckOutputs(ge::Status status,
                                            const std::vector<ge::Tensor>& outputs) const {
        if (status != ge::SUCCESS) {
            return std::string("failed: ") + ge::GEGetErrorMsgV2().GetString();
        }
        return ValuesOf(outputs) == expected ? std::nullopt
                                             : std::optional<std::string>("wrong outputs");
    }
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_RANDOM_GRAPH_H_
