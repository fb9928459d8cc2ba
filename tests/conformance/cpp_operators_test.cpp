// SPDX-License-Identifier: Apache-2.0
// The operators through the C++ interface, against golden cases and the references.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "advance_step/advance_step.hpp"
#include "support/advance_step_flashinfer_batch.h"
#include "support/advance_step_multi_batch.h"
#include "support/advance_step_v2_batch.h"
#include "support/batches.h"
#include "support/golden.h"
#include "support/runtime_test.h"
#include "support/step_golden.h"

namespace cpp_operators {
namespace {

using advance_step::Error;
using advance_step::Executor;
using advance_step::Stream;
using advance_step::Tensor;
using Values = std::vector<int64_t>;

// Tensors of the C++ interface, with values that are int64 whatever the dtype.
class Tensors {
 public:
    void Add(const Values& shape, const Values& values, aclDataType dataType = ACL_INT64) {
        dataTypes_.push_back(dataType);
        // Memory of no elements cannot be allocated; phase two wants an address all the same.
        tensors_.push_back(values.empty() ? Tensor::Describe(dataType, shape.data(), shape.size(),
                                                             tensors_.front().Memory().Data())
                                          : Tensor::Allocate(dataType, shape.data(), shape.size()));
        Write(tensors_.size() - 1, values);
    }
    const Tensor& operator[](size_t index) const { return tensors_[index]; }
    void Write(size_t index, const Values& values) const {
        if (values.empty()) {
            return;
        }
        if (dataTypes_[index] == ACL_INT64) {
            tensors_[index].Upload(values);
        } else if (dataTypes_[index] == ACL_INT32) {
            tensors_[index].Upload(std::vector<int32_t>(values.begin(), values.end()));
        } else {
            tensors_[index].Upload(std::vector<uint8_t>(values.begin(), values.end()));
        }
    }
    std::vector<Values> Read() const {
        std::vector<Values> all;
        for (size_t i = 0; i < tensors_.size(); ++i) {
            if (tensors_[i].Memory().Size() == 0) {
                all.emplace_back();
            } else if (dataTypes_[i] == ACL_INT64) {
                all.push_back(tensors_[i].Download<int64_t>());
            } else if (dataTypes_[i] == ACL_INT32) {
                const auto values = tensors_[i].Download<int32_t>();
                all.emplace_back(values.begin(), values.end());
            } else {
                const auto values = tensors_[i].Download<uint8_t>();
                all.emplace_back(values.begin(), values.end());
            }
        }
        return all;
    }

 private:
    std::vector<aclDataType> dataTypes_;
    std::vector<Tensor> tensors_;
};

Tensors TensorsOf(const reference::AdvanceStepData& data) {
    Tensors tensors;
    tensors.Add({data.numSeqs}, data.inputTokens);
    tensors.Add({data.numQueries, 1}, data.sampledTokenIds);
    tensors.Add({data.numSeqs}, data.inputPositions);
    tensors.Add({data.numSeqs}, data.seqLens);
    tensors.Add({data.numSeqs}, data.slotMapping);
    tensors.Add({data.numSeqs, data.maxBlocks}, data.blockTables);
    return tensors;
}

template <class Arguments>
void SetRows(Arguments& arguments, const Tensors& t, const reference::AdvanceStepData& data) {
    arguments.inputTokens = t[0];
    arguments.sampledTokenIds = t[1];
    arguments.inputPositions = t[2];
    arguments.seqLens = t[3];
    arguments.slotMapping = t[4];
    arguments.blockTables = t[5];
    arguments.numSeqs = data.numSeqs;
    arguments.numQueries = data.numQueries;
    arguments.blockSize = data.blockSize;
}

class CppOperatorsTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(DeviceTest::SetUp());
        stream_ = Stream::Create();
    }
    void TearDown() override { stream_ = Stream(); }
    // What the stream's synchronisation throws; 0 for nothing.
    int Outcome() const {
        try {
            stream_.Synchronize();
            return 0;
        } catch (const Error& error) {
            message_ = error.what();
            return error.Code();
        }
    }
    // Runs once by a call and, from the same values, once by a plan.
    template <class Operator, class Arguments>
    void ExpectBoth(const Arguments& arguments, const Tensors& tensors,
                    const std::vector<Values>& expected, int outcome = 0) {
        const std::vector<Values> before = tensors.Read();
        Operator call;
        call(arguments, stream_);
        EXPECT_EQ(Outcome(), outcome);
        EXPECT_EQ(tensors.Read(), expected);
        for (size_t i = 0; i < before.size(); ++i) {
            tensors.Write(i, before[i]);
        }
        const Executor plan = Operator::Plan(arguments);
        plan.Run(stream_);
        EXPECT_EQ(Outcome(), outcome);
        EXPECT_EQ(tensors.Read(), expected);
    }

    Stream stream_;
    mutable std::string message_;
};

TEST_F(CppOperatorsTest, AdvanceStepAsTheGoldenCases) {
    int bad = 0;
    for (const support::GoldenCase& golden :
         support::LoadGolden(ADVANCE_STEP_TEST_DATA "/advance_step.jsonl")) {
        if (golden.conformance != "standard" || golden.expect == "plan_error") {
            continue;
        }
        SCOPED_TRACE(golden.name);
        const Tensors tensors = TensorsOf(golden.in);
        advance_step::AdvanceStepArguments arguments;
        SetRows(arguments, tensors, golden.in);
        const bool isOk = golden.expect == "ok";
        ExpectBoth<advance_step::AdvanceStep>(arguments, tensors, support::ValuesOf(golden.out),
                                              isOk ? 0 : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
        if (!isOk) {
            ++bad;
            EXPECT_TRUE(
                support::NamesQuery(message_, std::stoll(support::NumbersIn(golden.reason).at(0))));
        }
    }
    EXPECT_GE(bad, 3);
}

TEST_F(CppOperatorsTest, StepAsTheGoldenCases) {
    for (const support::StepGoldenCase& golden :
         support::LoadStepGolden(ADVANCE_STEP_TEST_DATA "/step_standard.jsonl")) {
        SCOPED_TRACE(golden.name);
        Tensors t;
        for (size_t i = 0; i < support::kStepTensors; ++i) {
            t.Add(reference::StepShape(golden.in.dims, i), golden.in.tensors[i],
                  support::StepDtype(i));
        }
        const advance_step::StepArguments arguments = {t[0],
                                                       t[1],
                                                       t[2],
                                                       t[3],
                                                       t[4],
                                                       t[5],
                                                       t[6],
                                                       t[7],
                                                       t[8],
                                                       t[9],
                                                       t[10],
                                                       t[11],
                                                       t[12],
                                                       t[13],
                                                       t[14],
                                                       t[15],
                                                       t[16],
                                                       t[17],
                                                       t[18],
                                                       t[19],
                                                       t[20],
                                                       t[21],
                                                       golden.in.dims.blockSize,
                                                       1};
        const int outcome = golden.outcome == reference::StepOutcome::kOk ? 0
                            : golden.outcome == reference::StepOutcome::kNoProgress
                                ? ACL_ERROR_RT_RESOURCE_ALLOC_FAIL
                                : ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;
        ExpectBoth<advance_step::Step>(
            arguments, t, {golden.out.tensors.begin(), golden.out.tensors.end()}, outcome);
    }
}

TEST_F(CppOperatorsTest, AdvanceStepV2AsTheReference) {
    reference::AdvanceStepV2Data data = support::MakeV2Data(7, 3, 16, 5, 1);
    Tensors t;
    const int64_t w = data.RowsPerQuery();
    t.Add({7 * w}, data.inputTokens);
    t.Add({7, w}, data.sampledTokenIds);
    t.Add({7 * w}, data.inputPositions);
    t.Add({7 * w}, data.seqLens);
    t.Add({7 * w}, data.slotMapping);
    t.Add({7, 5}, data.blockTables);
    t.Add({7, 3}, data.specToken);
    t.Add({7}, data.acceptedNum);
    const advance_step::AdvanceStepV2Arguments arguments = {t[0], t[1], t[2], t[3], t[4], t[5],
                                                            t[6], t[7], 7,    7,    16};
    ASSERT_FALSE(reference::AdvanceStepV2(data, false).has_value());
    ExpectBoth<advance_step::AdvanceStepV2>(arguments, t, support::ValuesOf(data));
}

TEST_F(CppOperatorsTest, AdvanceStepMultiAsTheReference) {
    reference::MultiData data =
        support::MakeMultiData(support::WithRoom(support::MakeBatch(9, 7, 16, 5, 2), 4), 4, 3);
    Tensors t;
    t.Add({9}, data.one.inputTokens);
    t.Add({4, 7}, data.sampledTokenIds);
    t.Add({9}, data.one.inputPositions);
    t.Add({9}, data.one.seqLens);
    t.Add({4, 9}, data.slotMapping);
    t.Add({9, 5}, data.one.blockTables);
    advance_step::AdvanceStepMultiArguments arguments;
    SetRows(arguments, t, data.one);
    ASSERT_FALSE(reference::AdvanceStepMulti(data, 0).has_value());
    ExpectBoth<advance_step::AdvanceStepMulti>(arguments, t, support::ValuesOf(data));
}

TEST_F(CppOperatorsTest, AdvanceStepFlashInferAsTheReference) {
    reference::FlashInferData data =
        support::MakeFlashInferData(support::MakeBatch(9, 7, 16, 5, 4), 6);
    Tensors t = TensorsOf(data.rows);
    t.Add({static_cast<int64_t>(data.pagedKvIndices.size())}, data.pagedKvIndices, ACL_INT32);
    t.Add({10}, data.pagedKvIndptr, ACL_INT32);
    t.Add({9}, data.pagedKvLastPageLen, ACL_INT32);
    t.Add({9}, data.blockTableBound, ACL_INT32);
    advance_step::AdvanceStepFlashInferArguments arguments;
    SetRows(arguments, t, data.rows);
    arguments.pagedKvIndices = t[6];
    arguments.pagedKvIndptr = t[7];
    arguments.pagedKvLastPageLen = t[8];
    arguments.blockTableBound = t[9];
    ASSERT_FALSE(reference::AdvanceStepFlashInfer(data).has_value());
    ExpectBoth<advance_step::AdvanceStepFlashInfer>(arguments, t, support::ValuesOf(data));
}

}  // namespace
}  // namespace cpp_operators
