// SPDX-License-Identifier: Apache-2.0
// A call of an operator's phase one with one thing changed, and what it has to answer. Addresses
// here are invented: phase one touches no memory.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_OP_PLAN_CASES_H_
#define ADVANCE_STEP_TESTS_SUPPORT_OP_PLAN_CASES_H_

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "support/op_batch.h"
#include "support/status.h"

namespace support {

inline constexpr int kNull = ACLNN_ERR_PARAM_NULLPTR;
inline constexpr int kInvalid = ACLNN_ERR_PARAM_INVALID;
inline constexpr int kTiling = ACLNN_ERR_INNER_TILING_ERROR;

// The arguments of a call; tests start from valid ones.
struct OpArguments {
    std::vector<TensorSpec> tensors;
    std::vector<bool> isNull = std::vector<bool>(16, false);
    int64_t numSeqs = 0;
    int64_t numQueries = 0;
    int64_t blockSize = 0;
    bool hasWorkspaceSize = true;
    bool hasExecutor = true;

    TensorSpec& operator[](size_t index) { return tensors[index]; }
    // Addresses that do not touch each other.
    void PlaceApart() {
        for (size_t i = 0; i < tensors.size(); ++i) {
            tensors[i].data = Place(i, 0);
        }
    }
    static void* Place(size_t index, int64_t byte) {
        return reinterpret_cast<void*>(0x100000 + 0x10000 * (index + 1) + byte);
    }
};

struct OpPlanCase {
    std::string name;
    int code;
    std::string part;  // of the message
    std::function<void(OpArguments&)> change;
};

// Cases of an operator's own shapes and attributes.
class OpPlanCases {
 public:
    void Add(const std::string& name, int code, const std::string& part,
             std::function<void(OpArguments&)> change) {
        cases_.push_back({name, code, part, std::move(change)});
    }
    void Shape(const std::string& name, int code, size_t tensor, const std::string& part,
               std::vector<int64_t> shape) {
        Add(name, code, part,
            [tensor, shape = std::move(shape)](OpArguments& a) { a[tensor].shape = shape; });
    }
    void Attributes(const std::string& name, int code, const std::string& part, int64_t numSeqs,
                    int64_t numQueries, int64_t blockSize) {
        Add(name, code, part, [=](OpArguments& a) {
            a.numSeqs = numSeqs;
            a.numQueries = numQueries;
            a.blockSize = blockSize;
        });
    }
    // The tensor with another dtype, which is taken or refused with this part of the message.
    void Dtype(const std::string& name, size_t tensor, aclDataType dtype, bool taken,
               const std::string& part) {
        Add(name + std::to_string(tensor), taken ? ACLNN_SUCCESS : kInvalid, part,
            [=](OpArguments& a) { a[tensor].dtype = dtype; });
    }
    const std::vector<OpPlanCase>& Get() const { return cases_; }

 private:
    std::vector<OpPlanCase> cases_;
};

using OpPhaseOne = std::function<aclnnStatus(const OpBatch::Tensors&, const OpArguments&, uint64_t*,
                                             aclOpExecutor**)>;

// `call` is in every message.
inline void ExpectPlan(const OpPlanCase& row, OpArguments arguments, const std::string& call,
                       const OpPhaseOne& phaseOne) {
    row.change(arguments);
    std::vector<Tensor> tensors;
    OpBatch::Tensors handles;
    for (size_t i = 0; i < arguments.tensors.size(); ++i) {
        if (!arguments.isNull[i]) {
            tensors.emplace_back(arguments.tensors[i]);
        }
        handles.push_back(arguments.isNull[i] ? nullptr : tensors.back().Get());
    }
    uint64_t workspaceSize = 77;
    int local = 0;
    auto* const untouched = reinterpret_cast<aclOpExecutor*>(&local);
    aclOpExecutor* executor = untouched;
    const aclnnStatus status =
        phaseOne(handles, arguments, arguments.hasWorkspaceSize ? &workspaceSize : nullptr,
                 arguments.hasExecutor ? &executor : nullptr);
    if (row.code == ACLNN_SUCCESS) {
        ASSERT_TRUE(IsOk(status));
        ASSERT_NE(executor, untouched);
        EXPECT_TRUE(IsOk(aclDestroyAclOpExecutor(executor)));
        return;
    }
    EXPECT_TRUE(IsError(row.code, status, {call, row.part}));
    EXPECT_EQ(workspaceSize, 77U) << "no output is written on error";
    EXPECT_EQ(executor, untouched);
}

inline std::string CapitalOf(std::string name) {
    name[0] = static_cast<char>(name[0] - 'a' + 'A');
    return name;
}

// What holds for every operator: null tensors and outputs, dtypes, formats, layouts and overlaps.
// written[i]: tensor i is in/out.
inline std::vector<OpPlanCase> CommonPlanCases(const std::vector<const char*>& names,
                                               const std::vector<bool>& written) {
    std::vector<OpPlanCase> cases;
    for (size_t i = 0; i < names.size(); ++i) {
        const std::string name = names[i];
        const std::string capital = CapitalOf(name);
        cases.push_back({"No" + capital, kNull, name, [i](OpArguments& a) { a.isNull[i] = true; }});
        for (const aclDataType dtype : {ACL_FLOAT, ACL_INT16, ACL_UINT64, ACL_DT_UNDEFINED}) {
            cases.push_back({"Dtype" + std::to_string(dtype + 1) + capital, kInvalid, name,
                             [i, dtype](OpArguments& a) { a[i].dtype = dtype; }});
        }
        cases.push_back({"Format" + capital, kInvalid, name,
                         [i](OpArguments& a) { a[i].format = ACL_FORMAT_NCHW; }});
        cases.push_back({"Strided" + capital, kInvalid, name, [i](OpArguments& a) {
                             TensorSpec& spec = a[i];
                             spec.strides.assign(spec.shape.size(), 2);
                         }});
        cases.push_back({"Scalar" + capital, ACLNN_ERR_INNER_TILING_ERROR, name,
                         [i](OpArguments& a) { a[i].shape = {}; }});
        cases.push_back({"OneMore" + capital, ACLNN_ERR_INNER_TILING_ERROR, name,
                         [i](OpArguments& a) { ++a[i].shape[0]; }});
        cases.push_back({"Rank4" + capital, ACLNN_ERR_INNER_TILING_ERROR, name,
                         [i](OpArguments& a) { a[i].shape.resize(4, 1); }});
        for (size_t other = 0; other < names.size(); ++other) {
            if (written[i] && other != i) {
                cases.push_back({capital + "Onto" + CapitalOf(names[other]), kInvalid, "overlap",
                                 [i, other](OpArguments& a) {
                                     a.PlaceApart();
                                     a[i].data = OpArguments::Place(other, 0);
                                 }});
            }
        }
    }
    cases.push_back({"NoWorkspaceSize", kNull, "workspaceSize",
                     [](OpArguments& a) { a.hasWorkspaceSize = false; }});
    cases.push_back(
        {"NoExecutor", kNull, "executor", [](OpArguments& a) { a.hasExecutor = false; }});
    cases.push_back({"Apart", ACLNN_SUCCESS, "", [](OpArguments& a) { a.PlaceApart(); }});
    return cases;
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_OP_PLAN_CASES_H_
