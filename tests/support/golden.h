// SPDX-License-Identifier: Apache-2.0
// The golden cases of AdvanceStep: one JSON object a line, format in spec/advance_step.md.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_
#define ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/advance_step_reference.h"
#include "support/status.h"

namespace support {

struct GoldenCase {
    std::string name;
    std::string conformance;
    std::string expect;  // ok, plan_error or data_error
    std::string reason;
    int cores = 0;                       // vector cores of the SoC
    reference::AdvanceStepData in, out;  // out is complete: in, with what changed
};

// Reads the tensors that the JSON has, by their names in the order of data.Tensors().
template <class Data, size_t kCount>
void ReadTensors(const nlohmann::json& json, const char* const (&names)[kCount], Data& data) {
    const auto tensors = data.Tensors();
    for (size_t i = 0; i < kCount; ++i) {
        const auto found = json.find(names[i]);
        if (found == json.end()) {
            continue;
        }
        tensors[i]->clear();
        for (const auto& entry : *found) {
            const auto row = entry.is_array() ? entry.template get<std::vector<int64_t>>()
                                              : std::vector{entry.template get<int64_t>()};
            tensors[i]->insert(tensors[i]->end(), row.begin(), row.end());
        }
    }
}

// Reads what a case gives and what it expects, `in` and `out`.
template <class Golden, size_t kCount>
void ReadGoldenData(const nlohmann::json& json, const char* const (&names)[kCount],
                    Golden* golden) {
    golden->in.numSeqs = json.at("numSeqs");
    golden->in.blockSize = json.at("blockSize");
    golden->in.maxBlocks = json.at("columns");
    ReadTensors(json.at("in"), names, golden->in);
    golden->out = golden->in;
    ReadTensors(json.at("out"), names, golden->out);
}

// Expects the code of the synchronisation, and that a message names the query of the reason, and
// all of its numbers if so asked.
inline void ExpectGoldenStatus(int status, bool ok, const std::string& reason,
                               bool allNumbers = false) {
    if (ok) {
        EXPECT_TRUE(IsOk(status));
        return;
    }
    const std::string message = TakeMessage();
    EXPECT_EQ(status, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION) << message;
    const std::vector<std::string> numbers = NumbersIn(reason);
    ASSERT_FALSE(numbers.empty());
    EXPECT_TRUE(NamesQuery(message, std::stoll(numbers[0])));
    for (size_t i = 0; allNumbers && i < numbers.size(); ++i) {
        EXPECT_TRUE(HasNumber(message, std::stoll(numbers[i]))) << reason << message;
    }
}

inline std::vector<GoldenCase> LoadGolden(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("no golden cases at " + path);
    }
    static constexpr const char* kNames[] = {"input_tokens", "sampled_token_ids", "input_positions",
                                             "seq_lens",     "slot_mapping",      "block_tables"};
    std::vector<GoldenCase> cases;
    for (std::string line; std::getline(file, line);) {
        const auto json = nlohmann::json::parse(line);
        GoldenCase golden;
        golden.name = json.at("name");
        golden.conformance = json.at("conformance");
        golden.expect = json.at("expect");
        golden.reason = json.value("reason", "");
        golden.cores = json.at("cores");
        golden.in.numQueries = json.at("numQueries");
        ReadGoldenData(json, kNames, &golden);
        cases.push_back(golden);
    }
    return cases;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_GOLDEN_H_
