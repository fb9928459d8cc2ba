// SPDX-License-Identifier: Apache-2.0
// The package's table of special operators, as the extension reads and keeps it.

#include "torch_kernels/operators/special_operators.h"

#include <c10/util/Exception.h>

#include <map>
#include <sstream>
#include <unordered_map>
#include <utility>
#include <vector>

namespace advstep_torch {
namespace {

const std::map<std::string, Flag> kFlagNames{{"torch_npus", Flag::kTorchNpus},
                                             {"takes_cpu_tensors", Flag::kTakesCpuTensors},
                                             {"names_devices", Flag::kNamesDevices},
                                             {"grows", Flag::kGrows},
                                             {"indexes_by_targets", Flag::kIndexesByTargets},
                                             {"out_form_agrees", Flag::kOutFormAgrees},
                                             {"trial", Flag::kTrial},
                                             {"trial_if_strided", Flag::kTrialIfStrided},
                                             {"trial_if_bool", Flag::kTrialIfBool},
                                             {"trial_of_dtypes", Flag::kTrialOfDtypes},
                                             {"no_trial_of_dtypes", Flag::kNoTrialOfDtypes},
                                             {"matrices", Flag::kMatrices},
                                             {"default_dtype", Flag::kDefaultDtype},
                                             {"compares_number", Flag::kComparesNumber},
                                             {"condition", Flag::kCondition},
                                             {"alerts", Flag::kAlerts},
                                             {"adds_in_order", Flag::kAddsInOrder},
                                             {"mask_indices", Flag::kMaskIndices},
                                             {"output_size", Flag::kOutputSize},
                                             {"zeroes", Flag::kZeroes}};

struct SpecialOperators {
    std::unordered_map<std::string, uint32_t> named;           // of all overloads, or of one
    std::vector<std::pair<std::string, uint32_t>> beginnings;  // of all operators that begin so
};

SpecialOperators& TheSpecialOperators() {
    static auto* const table = new SpecialOperators;
    return *table;
}

}  // namespace

Flags Flags::Of(const c10::OperatorName& name) {
    static const std::string kNamespace = "aten::";
    Flags flags;
    if (name.name.rfind(kNamespace, 0) != 0) {
        return flags;
    }
    const SpecialOperators& table = TheSpecialOperators();
    const std::string base = name.name.substr(kNamespace.size());
    const std::string overload = name.overload_name.empty() ? "default" : name.overload_name;
    for (const std::string& each : {base, base + "." + overload}) {
        const auto found = table.named.find(each);
        flags.bits_ |= found == table.named.end() ? 0 : found->second;
    }
    for (const auto& [beginning, bits] : table.beginnings) {
        flags.bits_ |= base.rfind(beginning, 0) == 0 ? bits : 0;
    }
    return flags;
}

void ReadSpecialOperators(const std::string& table) {
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name;
        words >> name;
        uint32_t bits = 0;
        for (std::string flag; words >> flag;) {
            const auto known = kFlagNames.find(flag);
            TORCH_CHECK(known != kFlagNames.end(), "operator ", name, " has the flag ", flag,
                        ", which the extension does not know");
            bits |= static_cast<uint32_t>(known->second);
        }
        if (!name.empty() && name.back() == '*') {
            name.pop_back();
            TheSpecialOperators().beginnings.emplace_back(std::move(name), bits);
        } else {
            TheSpecialOperators().named[name] |= bits;
        }
    }
}

}  // namespace advstep_torch
