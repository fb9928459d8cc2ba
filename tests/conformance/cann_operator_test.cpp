// SPDX-License-Identifier: Apache-2.0
// Operators by name in the prefix's libraries: attributes, compiler options, refusals.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "acl/acl_op.h"
#include "acl/acl_op_compiler.h"

namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string Message() {
    const char* const message = aclGetRecentErrMsg();
    return message == nullptr ? "" : message;
}

aclError Execute(const char* name, aclopAttr* attr) {
    return aclopExecuteV2(name, 0, nullptr, nullptr, 0, nullptr, nullptr, attr, nullptr);
}

TEST(OperatorByName, RefusalNamesOperatorAndAttributes) {
    aclopAttr* const attr = aclopCreateAttr();
    ASSERT_NE(attr, nullptr);
    const uint8_t bools[] = {0, 2};
    const int64_t ints[] = {-1, int64_t{1} << 40};
    const float floats[] = {0.5F, -2};
    const char* texts[] = {"a", ""};
    const aclDataType types[] = {ACL_FLOAT, ACL_INT64};
    const int lengths[] = {2, 0};
    const int64_t* const lists[] = {ints, nullptr};
    EXPECT_EQ(aclopSetAttrBool(attr, "b", 7), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrInt(attr, "i", 5), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrInt(attr, "i", 6), ACL_SUCCESS);  // the last one counts
    EXPECT_EQ(aclopSetAttrFloat(attr, "f", 1.5F), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrString(attr, "s", "x y"), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrDataType(attr, "t", ACL_FLOAT16), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListBool(attr, "lb", 2, bools), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListInt(attr, "li", 2, ints), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListFloat(attr, "lf", 2, floats), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListString(attr, "ls", 2, texts), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListDataType(attr, "lt", 2, types), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListListInt(attr, "ll", 2, lengths, lists), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrListInt(attr, "none", 0, nullptr), ACL_SUCCESS);
    EXPECT_EQ(Execute("ReduceMax", attr), ACL_ERROR_API_NOT_SUPPORT);
    EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS) << "no call of the runtime";
    const std::string message = Message();
    EXPECT_THAT(message, HasSubstr("aclopExecuteV2: operator ReduceMax cannot run by its name"));
    EXPECT_THAT(message, HasSubstr("aclnn"));
    for (const char* text :
         {"b = true", "i = 6", "f = 1.5", "s = \"x y\"", "t = dtype 1", "lb = [false, true]",
          "li = [-1, 1099511627776]", "lf = [0.5, -2]", "ls = [\"a\", \"\"]",
          "lt = [dtype 0, dtype 9]", "ll = [[-1, 1099511627776], []]", "none = []"}) {
        EXPECT_THAT(message, HasSubstr(text));
    }
    aclopDestroyAttr(attr);
    aclopDestroyAttr(nullptr);
}

TEST(OperatorByName, BadAttributesChangeNothing) {
    aclopAttr* const attr = aclopCreateAttr();
    const int64_t ints[] = {1};
    const char* texts[] = {"a", nullptr};
    const int lengths[] = {-2};
    const int64_t* const lists[] = {ints};
    EXPECT_EQ(aclopSetAttrInt(attr, "kept", 3), ACL_SUCCESS);
    EXPECT_EQ(aclopSetAttrInt(nullptr, "kept", 4), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(Message(), "aclopSetAttrInt: attr is null; expected a pointer");
    EXPECT_EQ(aclopSetAttrInt(attr, nullptr, 4), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrString(attr, "kept", nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrListInt(attr, "kept", -1, ints), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(Message(), "aclopSetAttrListInt: numValues is -1; expected at least 0");
    EXPECT_EQ(aclopSetAttrListInt(attr, "kept", 1, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrListString(attr, "kept", 2, texts), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrListListInt(attr, "kept", 1, lengths, lists), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetAttrListListInt(attr, "kept", 1, nullptr, lists), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(Execute("Add", attr), ACL_ERROR_API_NOT_SUPPORT);
    EXPECT_THAT(Message(), HasSubstr("its attributes: kept = 3"));
    aclopDestroyAttr(attr);
}

TEST(OperatorByName, NoAttributeIsSetWithoutPlaceNameOrValues) {
    using Set = std::function<aclError(aclopAttr*, const char*)>;
    const std::pair<const char*, Set> calls[] = {
        {"aclopSetAttrBool", [](auto* a, auto* n) { return aclopSetAttrBool(a, n, 1); }},
        {"aclopSetAttrInt", [](auto* a, auto* n) { return aclopSetAttrInt(a, n, 1); }},
        {"aclopSetAttrFloat", [](auto* a, auto* n) { return aclopSetAttrFloat(a, n, 1); }},
        {"aclopSetAttrString", [](auto* a, auto* n) { return aclopSetAttrString(a, n, "1"); }},
        {"aclopSetAttrDataType",
         [](auto* a, auto* n) { return aclopSetAttrDataType(a, n, ACL_INT64); }},
        {"aclopSetAttrListBool",
         [](auto* a, auto* n) { return aclopSetAttrListBool(a, n, 1, nullptr); }},
        {"aclopSetAttrListInt",
         [](auto* a, auto* n) { return aclopSetAttrListInt(a, n, 1, nullptr); }},
        {"aclopSetAttrListFloat",
         [](auto* a, auto* n) { return aclopSetAttrListFloat(a, n, 1, nullptr); }},
        {"aclopSetAttrListString",
         [](auto* a, auto* n) { return aclopSetAttrListString(a, n, 1, nullptr); }},
        {"aclopSetAttrListDataType",
         [](auto* a, auto* n) { return aclopSetAttrListDataType(a, n, 1, nullptr); }},
        {"aclopSetAttrListListInt",
         [](auto* a, auto* n) { return aclopSetAttrListListInt(a, n, 1, nullptr, nullptr); }},
    };
    aclopAttr* const attr = aclopCreateAttr();
    EXPECT_EQ(aclopSetAttrInt(attr, "kept", 3), ACL_SUCCESS);
    for (const auto& [name, set] : calls) {
        const std::string call = name;
        EXPECT_EQ(set(nullptr, "kept"), ACL_ERROR_INVALID_PARAM);
        EXPECT_EQ(Message(), call + ": attr is null; expected a pointer");
        EXPECT_EQ(set(attr, nullptr), ACL_ERROR_INVALID_PARAM);
        EXPECT_EQ(Message(), call + ": attrName is null; expected a pointer");
        if (call.find("List") != std::string::npos) {
            EXPECT_EQ(set(attr, "kept"), ACL_ERROR_INVALID_PARAM);
            EXPECT_THAT(Message(), HasSubstr("null; expected a pointer"));
        }
    }
    EXPECT_EQ(Execute("Add", attr), ACL_ERROR_API_NOT_SUPPORT);
    EXPECT_THAT(Message(), HasSubstr("its attributes: kept = 3"));
    aclopDestroyAttr(attr);
}

TEST(OperatorByName, EveryExecutionIsRefused) {
    const auto expect = [](aclError code, const char* call) {
        EXPECT_EQ(code, ACL_ERROR_API_NOT_SUPPORT) << call;
        const std::string message = Message();
        EXPECT_THAT(message, HasSubstr(std::string(call) + ": "));
        EXPECT_THAT(message, Not(HasSubstr("attributes:")));
    };
    expect(Execute("Add", nullptr), "aclopExecuteV2");
    expect(aclopCompile("Add", 0, nullptr, 0, nullptr, nullptr, ACL_ENGINE_SYS, ACL_COMPILE_SYS,
                        nullptr),
           "aclopCompile");
    expect(aclopCompileAndExecute("Add", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                  ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
           "aclopCompileAndExecute");
    expect(aclopCompileAndExecuteV2("Add", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                    ACL_ENGINE_SYS, ACL_COMPILE_SYS, nullptr, nullptr),
           "aclopCompileAndExecuteV2");
    expect(aclGenGraphAndDumpForOp("Add", 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr,
                                   ACL_ENGINE_SYS, "path", nullptr),
           "aclGenGraphAndDumpForOp");
    expect(aclopSetModelDir("folder"), "aclopSetModelDir");
    expect(aclopStartDumpArgs(0, "folder"), "aclopStartDumpArgs");
    expect(aclopStopDumpArgs(0), "aclopStopDumpArgs");
    EXPECT_EQ(Execute(nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopExecuteV2("Add", -1, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr),
              ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopSetModelDir(nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclopStartDumpArgs(0, nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST(CompilerOptions, AreKeptAndReadBack) {
    char text[64];
    for (int opt = ACL_PRECISION_MODE; opt <= ACL_OP_DEBUG_OPTION; ++opt) {
        const auto option = static_cast<aclCompileOpt>(opt);
        const std::string first = opt == ACL_OP_JIT_COMPILE ? "disable" : "";
        ASSERT_EQ(aclGetCompileoptSize(option), first.size() + 1) << opt;
        ASSERT_EQ(aclGetCompileopt(option, text, first.size() + 1), ACL_SUCCESS);
        EXPECT_EQ(text, first);
        const std::string value = "value " + std::to_string(opt);
        EXPECT_EQ(aclSetCompileopt(option, value.c_str()), ACL_SUCCESS);
        EXPECT_EQ(aclGetCompileoptSize(option), value.size() + 1);
        EXPECT_EQ(aclGetCompileopt(option, text, sizeof(text)), ACL_SUCCESS);
        EXPECT_EQ(text, value);
        EXPECT_EQ(aclSetCompileopt(option, first.c_str()), ACL_SUCCESS);
    }
}

TEST(CompilerOptions, BadArguments) {
    char text[8] = "before";
    for (int opt : {-1, ACL_OP_DEBUG_OPTION + 1}) {
        const auto option = static_cast<aclCompileOpt>(opt);
        EXPECT_EQ(aclGetCompileoptSize(option), 0U);
        EXPECT_EQ(aclSetCompileopt(option, "x"), ACL_ERROR_INVALID_PARAM);
        EXPECT_EQ(aclGetCompileopt(option, text, 8), ACL_ERROR_INVALID_PARAM);
        EXPECT_THAT(Message(), HasSubstr("opt is " + std::to_string(opt)));
    }
    EXPECT_EQ(aclSetCompileopt(ACL_OP_JIT_COMPILE, nullptr), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, nullptr, 8), ACL_ERROR_INVALID_PARAM);
    EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, text, 7), ACL_ERROR_INVALID_PARAM);
    EXPECT_STREQ(text, "before");
    EXPECT_EQ(aclGetCompileopt(ACL_OP_JIT_COMPILE, text, 8), ACL_SUCCESS);
    EXPECT_STREQ(text, "disable");
    EXPECT_EQ(aclopSetCompileFlag(ACL_OP_COMPILE_FUZZ), ACL_SUCCESS);
    EXPECT_EQ(aclopSetCompileFlag(ACL_OP_COMPILE_DEFAULT), ACL_SUCCESS);
    EXPECT_EQ(aclopSetCompileFlag(static_cast<aclOpCompileFlag>(2)), ACL_ERROR_INVALID_PARAM);
    aclGraphDumpOption* const options = aclCreateGraphDumpOpt();
    EXPECT_NE(options, nullptr);
    EXPECT_EQ(aclDestroyGraphDumpOpt(options), ACL_SUCCESS);
    EXPECT_EQ(aclDestroyGraphDumpOpt(nullptr), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
