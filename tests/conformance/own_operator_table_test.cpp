// SPDX-License-Identifier: Apache-2.0
// Tables of operators that are wrong: what registering them says, and what their calls say then.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/own_table.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

namespace conformance {
namespace {

using namespace support;

struct WrongTable {
    const char* name;
    AdvStepOperatorTable table;
    const char* says;
};

AdvStepOperatorTable With(void (*change)(AdvStepOperatorTable*)) {
    AdvStepOperatorTable table = kOwnTable;
    change(&table);
    return table;
}

constexpr AdvStepOperatorTensor kNameless[] = {kOwnTensors[0], {"", 24, 0, 0}};
constexpr AdvStepOperatorTensor kTwice[] = {kOwnTensors[0], {"in", 24, 0, 0}};
constexpr AdvStepOperatorTensor kSamePlace[] = {kOwnTensors[0], {"b", 16, 0, 0}};
constexpr AdvStepOperatorTensor kFar[] = {{"a", UINT64_MAX - 7, 0, 0}};
constexpr AdvStepOperatorTensor kOutside[] = {{"a", 44, 0, 0}, {"b", 48, 0, 0}};

const std::vector<WrongTable>& WrongTables() {
    static const std::vector<WrongTable> tables = {
        {"Version", With([](auto* t) { t->interfaceVersion = 7; }),
         "it was compiled for version 7 of the operator interface (40 bytes); expected version 2 "
         "(40 bytes): compile it with the headers of this library"},
        {"Size", With([](auto* t) { t->structBytes = 16; }),
         "it was compiled for version 2 of the operator interface (16 bytes); expected version 2 "
         "(40 bytes): compile it with the headers of this library"},
        {"NoRoomForItsName", With([](auto* t) { t->structBytes = 8; }),
         "it was compiled for version 2 of the operator interface (8 bytes); expected version 2 "
         "(40 bytes): compile it with the headers of this library"},
        {"NoCall", With([](auto* t) { t->call = nullptr; }),
         "call is null; expected a name that begins with aclnn"},
        {"OtherCall", With([](auto* t) { t->call = "Add"; }),
         "call is Add; expected a name that begins with aclnn"},
        {"NoTensors", With([](auto* t) { t->tensorCount = 0; }),
         "tensorCount is 0; expected 1 to 24 tensors"},
        {"ManyTensors", With([](auto* t) { t->tensorCount = 25; }),
         "tensorCount is 25; expected 1 to 24 tensors"},
        {"LargePayload", With([](auto* t) { t->payloadBytes = 513; }),
         "payloadBytes is 513; expected at most 512"},
        {"Nameless", With([](auto* t) { t->tensors = kNameless, t->tensorCount = 2; }),
         "tensor 1, without a name, is in the table; expected a name"},
        {"SameName", With([](auto* t) { t->tensors = kTwice, t->tensorCount = 2; }),
         "tensor 1, in, has the name of tensor 0; expected its own"},
        {"SamePlace", With([](auto* t) { t->tensors = kSamePlace, t->tensorCount = 2; }),
         "tensor 1, b, has its address where in has it, at byte 16; expected a pointer of its own"},
        {"Crooked", With([](auto* t) { t->tensors = kOutside, t->tensorCount = 2; }),
         "tensor 0, a, has its address at byte 44 of a payload of 48; expected an aligned pointer "
         "inside it"},
        {"Outside", With([](auto* t) { t->tensors = kOutside + 1, t->tensorCount = 1; }),
         "tensor 0, b, has its address at byte 48 of a payload of 48; expected an aligned pointer "
         "inside it"},
        {"Far", With([](auto* t) { t->tensors = kFar, t->tensorCount = 1; }),
         "tensor 0, a, has its address at byte 18446744073709551608 of a payload of 48; expected "
         "an aligned pointer inside it"}};
    return tables;
}

class WrongTableTest : public support::DeviceTest,
                       public testing::WithParamInterface<WrongTable> {};

TEST_P(WrongTableTest, IsSaidAtLoadAndByEveryCall) {
    const AdvStepOperatorTable& table = GetParam().table;
    const AdvStepOperator* op = nullptr;
    std::string log;
    {
        const support::StderrCapture capture;
        EXPECT_TRUE(IsCode(ACLNN_ERR_PARAM_INVALID, advstepRegisterOperator(&table, &op)));
        log = capture.Text();
    }
    const bool isNamed = table.structBytes >= 16 && table.call != nullptr;
    const std::string call = isNamed ? table.call : "without a name";
    const std::string phaseOne = isNamed ? call + "GetWorkspaceSize" : call;
    const std::string message = TakeMessage();
    const std::string expected =
        "the table of operator " + call + " in the program is wrong: " + GetParam().says;
    EXPECT_EQ(message, "advstepRegisterOperator: " + expected);
    EXPECT_NE(log.find(expected), std::string::npos) << log;
    ASSERT_NE(op, nullptr);
    support::OwnCall own(nullptr, nullptr, nullptr, 0, 0);
    own.call.op = op;
    EXPECT_EQ(own.Begin(), ACLNN_ERR_INNER);
    EXPECT_EQ(TakeMessage(), phaseOne + ": " + expected);
    EXPECT_EQ(advstepRunOperator(op, nullptr, 0, nullptr, nullptr), ACLNN_ERR_INNER);
    EXPECT_EQ(TakeMessage(), call + ": " + expected);
}

INSTANTIATE_TEST_SUITE_P(Tables, WrongTableTest, testing::ValuesIn(WrongTables()),
                         [](const auto& test) { return std::string(test.param.name); });

using OwnTableTest = support::DeviceTest;

TEST_F(OwnTableTest, NullArgumentsAreRefused) {
    const AdvStepOperator* op = support::OwnOperator();
    EXPECT_EQ(advstepRegisterOperator(&kOwnTable, nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(TakeMessage(), "advstepRegisterOperator: op is null; expected a pointer");
    EXPECT_EQ(advstepRegisterOperator(nullptr, &op), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(op, nullptr);
    EXPECT_EQ(advstepRunOperator(nullptr, nullptr, 0, nullptr, nullptr), ACLNN_ERR_INNER);
    EXPECT_EQ(TakeMessage(),
              "an operator that is not registered: op is null; expected one of "
              "advstepRegisterOperator");
    EXPECT_EQ(advstepReadScalar(nullptr, nullptr), ACLNN_ERR_PARAM_NULLPTR);
    EXPECT_EQ(advstepRefuseCall(nullptr, 0, nullptr), ACLNN_ERR_INNER);
}

TEST_F(OwnTableTest, ATableIsRegisteredOnce) {
    EXPECT_EQ(support::OwnOperator(), support::OwnOperator());
}

TEST_F(OwnTableTest, NamesAreThoseOfTheHeader) {
    EXPECT_STREQ(advstepDataTypeName(ACL_BF16), "ACL_BF16");
    EXPECT_EQ(advstepDataTypeName(static_cast<aclDataType>(777)), nullptr);
    EXPECT_STREQ(advstepFormatName(ACL_FORMAT_NCHW), "ACL_FORMAT_NCHW");
    EXPECT_EQ(advstepFormatName(static_cast<aclFormat>(777)), nullptr);
}

}  // namespace
}  // namespace conformance
