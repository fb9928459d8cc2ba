// SPDX-License-Identifier: Apache-2.0
// The golden cases of Step: one JSON object a line, format in spec/step.md.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STEP_GOLDEN_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STEP_GOLDEN_H_

#include <cctype>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "reference/step_reference.h"
#include "support/step_batch.h"

namespace support {

struct StepGoldenCase {
    std::string name;
    reference::StepOutcome outcome = reference::StepOutcome::kOk;
    reference::StepData in, out;  // out is complete: in, with what changed
    std::vector<int64_t> activity;
    std::string digestIn, digestOut;  // of cases that are ok
};

inline std::string SnakeCase(const std::string& name) {
    std::string snake;
    for (const char c : name) {
        if (std::isupper(static_cast<unsigned char>(c)) != 0) {
            snake += '_';
        }
        snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return snake;
}

inline std::vector<nlohmann::json> ReadLines(const std::string& path) {
    std::ifstream file(path);
    if (!file) {
        throw std::runtime_error("no golden cases at " + path);
    }
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(file, line);) {
        lines.push_back(nlohmann::json::parse(line));
    }
    return lines;
}

inline void ReadTensors(const nlohmann::json& object, reference::StepData& data) {
    for (size_t i = 0; i < kStepTensors; ++i) {
        const auto found = object.find(SnakeCase(kStepTensorNames[i]));
        if (found != object.end()) {
            data.tensors[i] = found->get<std::vector<int64_t>>();
        }
    }
}

inline reference::StepDims ReadDims(const nlohmann::json& object) {
    const nlohmann::json& dims = object.at("dims");
    return {dims.at("B"), dims.at("S"), dims.at("W"),           dims.at("F"),
            dims.at("L"), dims.at("P"), object.at("block_size")};
}

inline StepGoldenCase ReadCase(const nlohmann::json& object) {
    StepGoldenCase golden;
    golden.name = object.at("name");
    golden.in.dims = ReadDims(object);
    ReadTensors(object.at("in"), golden.in);
    golden.out = golden.in;
    ReadTensors(object.at("out"), golden.out);
    const std::string expect = object.at("expect");
    if (expect == "ok") {
        const nlohmann::json& activity = object.at("activity");
        for (const char* part : {"released", "needy", "preempted", "dispatched", "recovered"}) {
            golden.activity.push_back(activity.at(part));
        }
        golden.digestIn = object.at("digest_in");
        golden.digestOut = object.at("digest_out");
    } else {
        golden.outcome = expect == "no_progress" ? reference::StepOutcome::kNoProgress
                                                 : reference::StepOutcome::kInvalid;
    }
    return golden;
}

inline std::vector<StepGoldenCase> LoadStepGolden(const std::string& path) {
    std::vector<StepGoldenCase> cases;
    for (const nlohmann::json& line : ReadLines(path)) {
        cases.push_back(ReadCase(line));
    }
    return cases;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STEP_GOLDEN_H_
