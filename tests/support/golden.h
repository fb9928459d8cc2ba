// SPDX-License-Identifier: Apache-2.0
// The golden cases of AdvanceStep: one JSON object a line, format in spec/advance_step.md.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_
#define ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/advance_step_reference.h"

namespace support {

struct GoldenCase {
    std::string name;
    std::string conformance;
    std::string expect;  // ok, plan_error or data_error
    std::string reason;
    int cores = 0;                       // vector cores of the SoC
    reference::AdvanceStepData in, out;  // out is complete: in, with what changed
};

inline void ReadTensors(const nlohmann::json& json, reference::AdvanceStepData& data) {
    static const char* const names[] = {"input_tokens", "sampled_token_ids", "input_positions",
                                        "seq_lens",     "slot_mapping",      "block_tables"};
    const auto tensors = data.Tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
        const auto found = json.find(names[i]);
        if (found == json.end()) {
            continue;
        }
        tensors[i]->clear();
        for (const auto& entry : *found) {
            if (entry.is_array()) {
                const auto row = entry.get<std::vector<int64_t>>();
                tensors[i]->insert(tensors[i]->end(), row.begin(), row.end());
            } else {
                tensors[i]->push_back(entry.get<int64_t>());
            }
        }
    }
}

inline std::vector<GoldenCase> LoadGolden(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("no golden cases at " + path);
    }
    std::vector<GoldenCase> cases;
    for (std::string line; std::getline(file, line);) {
        const auto json = nlohmann::json::parse(line);
        GoldenCase golden;
        golden.name = json.at("name");
        golden.conformance = json.at("conformance");
        golden.expect = json.at("expect");
        golden.reason = json.value("reason", "");
        golden.cores = json.at("cores");
        golden.in.numSeqs = json.at("numSeqs");
        golden.in.numQueries = json.at("numQueries");
        golden.in.blockSize = json.at("blockSize");
        golden.in.maxBlocks = json.at("columns");
        ReadTensors(json.at("in"), golden.in);
        golden.out = golden.in;
        ReadTensors(json.at("out"), golden.out);
        cases.push_back(golden);
    }
    return cases;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_
