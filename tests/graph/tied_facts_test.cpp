// SPDX-License-Identifier: Apache-2.0
// Ties that take elements of inputs, dynamic inputs and outputs, texts and data types. The operator
// of the test refuses each node, and its message has what it was given.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "advance_step/graph_operator.h"
#include "advance_step/host_call.h"
#include "graph/stream_run_fixture.h"

namespace {

std::string Written(const AdvStepGraphValue& value) {
    std::string text;
    for (uint64_t place = 0; place < value.count; ++place) {
        text += value.kind == ADVSTEP_GRAPH_LIST_DOUBLE
                    ? std::to_string(static_cast<const double*>(value.list)[place]).substr(0, 4)
                    : std::to_string(static_cast<const int64_t*>(value.list)[place]);
        text += ",";
    }
    return text;
}

std::string Written(const AdvStepGraphValue* values) {
    return "label=" + std::string(static_cast<const char*>(values[0].list), values[0].count) +
           " kind=" + std::to_string(values[1].integer) + " axes=" + Written(values[2]) +
           " number=" + Written(values[3]) + " parts=" + std::to_string(values[4].integer) +
           " made=" + std::to_string(values[5].integer);
}

aclnnStatus Plan(const aclTensor* const* /*tensors*/, const AdvStepGraphValue* values,
                 uint64_t* /*workspaceSize*/, aclOpExecutor** /*executor*/) {
    return advstepRefuseHostCall("aclnnTestFacts", ACLNN_ERR_PARAM_INVALID,
                                 ("planned with " + Written(values)).c_str());
}

aclnnStatus Run(void* /*workspace*/, uint64_t /*workspaceSize*/, aclOpExecutor* /*executor*/,
                aclrtStream /*stream*/) {
    return ACLNN_ERR_INNER;
}

// The outputs have as many elements as the first number of axes says, unless the label is "ask".
aclnnStatus Infer(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                  AdvStepGraphShape* shapes, char* message, uint64_t messageBytes) {
    if (std::string(static_cast<const char*>(values[0].list)) == "ask") {
        std::snprintf(message, messageBytes, "%s last=%d", Written(values).c_str(),
                      static_cast<int>(views[1 + values[4].integer].dataType));
        return ACLNN_ERR_PARAM_INVALID;
    }
    const int64_t first = 2 + values[4].integer;
    for (int64_t place = 0; place < values[5].integer; ++place) {
        shapes[first + place].dataType = ACL_INT64;
        shapes[first + place].rank = 1;
        shapes[first + place].dims[0] = static_cast<const int64_t*>(values[2].list)[0];
    }
    return ACLNN_SUCCESS;
}

constexpr AdvStepOperatorTensor kTensors[] = {
    {"axes", 0, 0, 0}, {"parts", 8, 0, 0}, {"number", 16, 0, 1}, {"made", 24, 1, 0}};
constexpr AdvStepOperatorTable kTable = {
    sizeof(AdvStepOperatorTable), ADVSTEP_OPERATOR_INTERFACE, "aclnnTestFacts", kTensors, 4, 32, 0};
constexpr AdvStepGraphAttribute kAttributes[] = {
    {"label", ADVSTEP_GRAPH_TEXT, 0, 0},        {"kind", ADVSTEP_GRAPH_TYPE, 0, 0},
    {"axes", ADVSTEP_GRAPH_INPUT_INTS, 0, 0},   {"number", ADVSTEP_GRAPH_INPUT_NUMBERS, 0, 0},
    {"parts", ADVSTEP_GRAPH_LIST_LENGTH, 0, 0}, {"made", ADVSTEP_GRAPH_LIST_LENGTH, 0, 0}};
constexpr AdvStepGraphOperator kTie = {sizeof(AdvStepGraphOperator),
                                       6,
                                       "TestFacts",
                                       &kTable,
                                       kAttributes,
                                       &Plan,
                                       &Run,
                                       &Infer,
                                       nullptr,
                                       0};
const advance_step::op::GraphRegistration kTied(&kTie);

}  // namespace

namespace ge {

REG_OP(TestFacts)
    .INPUT(axes, TensorType::ALL())
    .DYNAMIC_INPUT(parts, TensorType::ALL())
    .OPTIONAL_INPUT(number, TensorType::ALL())
    .DYNAMIC_OUTPUT(made, TensorType::ALL())
    .ATTR(label, String, "ask")
    .ATTR(kind, Type, DT_BF16)
    .OP_END_FACTORY_REG(TestFacts)

}  // namespace ge

namespace {

using namespace graphs;

template <typename T>
ge::Tensor TensorOf(ge::DataType type, const std::vector<T>& values) {
    const ge::TensorDesc desc(ge::Shape({static_cast<int64_t>(values.size())}), ge::FORMAT_ND,
                              type);
    return ge::Tensor(desc, reinterpret_cast<const uint8_t*>(values.data()),
                      values.size() * sizeof(T));
}

class TiedFactsTest : public StreamRunTest {
 protected:
    static constexpr int kParts = 2;

    // Adds a graph whose axes come from a Data.
    void AddGraph(const char* label) { AddGraph(label, ge::op::Data("axes")); }
    void AddGraph(const char* label, ge::Operator axes) {
        ge::op::TestFacts op("facts");
        op.create_dynamic_input_parts(kParts).create_dynamic_output_made(3);
        op.set_attr_label(label).set_attr_kind(ge::DT_INT8);
        op.SetInput("axes", axes);
        std::vector<ge::Operator> sources = {axes};
        for (int part = 0; part < kParts; ++part) {
            sources.push_back(ge::op::Data(("part" + std::to_string(part)).c_str()));
            op.SetInput(("parts" + std::to_string(part)).c_str(), sources.back());
        }
        ge::Graph graph("facts");
        graph.SetInputs(sources).SetOutputs(std::vector<ge::Operator>{op});
        Session().RemoveGraph(1);
        ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    }
    ge::Status RunWith(const ge::Tensor& axes) {
        std::vector<ge::Tensor> outputs;
        return Session().RunGraph(1, {axes, part_, part_}, outputs);
    }
    const ge::Tensor part_ = TensorOf<int64_t>(ge::DT_INT64, {1, 2});
};

TEST_F(TiedFactsTest, AnOperatorGetsElementsOfInputsLengthsOfListsTextsAndTypes) {
    AddGraph("ask");
    EXPECT_TRUE(Failed(RunWith(TensorOf<int32_t>(ge::DT_INT32, {7, -9})),
                       {"E19999", "facts", "label=ask kind=2 axes=7,-9, number= parts=2 made=3"}));
    EXPECT_TRUE(Failed(RunWith(TensorOf<int64_t>(ge::DT_INT64, {})), {"axes= number= parts=2"}));
}

TEST_F(TiedFactsTest, ElementsOfAnotherTypeAreRefused) {
    AddGraph("ask");
    EXPECT_TRUE(Failed(RunWith(TensorOf<float>(ge::DT_FLOAT, {7})),
                       {"E19999", "input axes of operator facts of type TestFacts",
                        "has data type FLOAT; expected INT32 or INT64"}));
}

TEST_F(TiedFactsTest, NumbersOfEveryTypeAreRead) {
    const auto said = [&](const ge::Tensor& number) {
        ge::op::TestFacts op("facts");
        op.create_dynamic_input_parts(1).create_dynamic_output_made(1);
        ge::op::Data data("data");
        auto value = ge::op::Const("value").set_attr_value(number);
        op.set_input_axes(data).set_input_number(value).SetInput("parts0", data);
        ge::Graph graph("numbers");
        graph.SetInputs({data, value}).SetOutputs(std::vector<ge::Operator>{op});
        Session().RemoveGraph(1);
        EXPECT_TRUE(Succeeded(Session().AddGraph(1, graph)));
        std::vector<ge::Tensor> outputs;
        EXPECT_EQ(Session().RunGraph(1, {part_}, outputs), ge::FAILED);
        return std::string(ge::GEGetErrorMsgV2().GetString());
    };
    const std::vector<std::pair<ge::Tensor, std::string>> cases = {
        {TensorOf<double>(ge::DT_DOUBLE, {0.25}), "number=0.25,"},
        {TensorOf<float>(ge::DT_FLOAT, {-1.5F}), "number=-1.5,"},
        {TensorOf<uint16_t>(ge::DT_FLOAT16, {0x3e00}), "number=1.50,"},
        {TensorOf<uint16_t>(ge::DT_BF16, {0x3fc0}), "number=1.50,"},
        {TensorOf<int16_t>(ge::DT_INT16, {-3}), "number=-3,"},
        {TensorOf<int8_t>(ge::DT_INT8, {-3}), "number=-3,"},
        {TensorOf<uint8_t>(ge::DT_UINT8, {253}), "number=253,"},
        {TensorOf<uint8_t>(ge::DT_BOOL, {1}), "number=1,"},
        {TensorOf<uint64_t>(ge::DT_COMPLEX64, {1}),
         "has data type COMPLEX64; expected numbers that are not complex"},
    };
    for (const auto& [number, says] : cases) {
        const std::string message = said(number);
        EXPECT_NE(message.find(says), std::string::npos) << message;
    }
}

TEST_F(TiedFactsTest, ElementsComeFromAConstOrADataOnly) {
    AddGraph("ask", ge::op::Const("axes").set_attr_value(TensorOf<int64_t>(ge::DT_INT64, {5})));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, {part_, part_}, outputs), {"axes=5,"}));
    AddGraph("ask", ge::op::Variable("axes").set_attr_value(part_));
    EXPECT_TRUE(
        Failed(Session().RunGraph(1, {part_, part_}, outputs),
               {"E19999", "input axes of operator facts", "is read before the run",
                "comes from operator axes of type Variable", "expected a Const or a Data"}));
}

// An operator that makes elements is called while the graph is planned, with what it takes alone.
TEST_F(TiedFactsTest, ElementsThatAnOperatorMakesAreComputed) {
    const auto made = [](ge::Operator source) {
        ge::op::TestFacts op("maker");
        op.create_dynamic_input_parts(1).create_dynamic_output_made(1);
        op.set_attr_label("made").set_attr_kind(ge::DT_INT8).SetInput("parts0", source);
        auto axes = ge::op::Const("axes").set_attr_value(TensorOf<int64_t>(ge::DT_INT64, {2}));
        op.set_input_axes(axes);
        return op;
    };
    AddGraph("ask", made(ge::op::Data("source")));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, {part_, part_, part_}, outputs),
                       {"E19999", "operator maker", "planned with label=made kind=2 axes=2,"}));
    const ge::Tensor shapeOnly(part_.GetTensorDesc());
    EXPECT_TRUE(Succeeded(Session().BuildGraph(1, {shapeOnly, shapeOnly, shapeOnly})));
    AddGraph("ask", made(ge::op::Variable("state").set_attr_value(part_)));
    EXPECT_TRUE(Failed(Session().RunGraph(1, {part_, part_}, outputs),
                       {"E19999", "input axes of operator facts", "is read before the run",
                        "comes from operator state of type Variable"}));
}

TEST_F(TiedFactsTest, AListWithoutTensorsIsRefused) {
    ge::op::TestFacts op("facts");
    ge::op::Data data("data");
    op.set_input_axes(data);
    ge::Graph graph("facts");
    graph.SetInputs({data}).SetOutputs(std::vector<ge::Operator>{op});
    ASSERT_TRUE(Succeeded(Session().AddGraph(1, graph)));
    std::vector<ge::Tensor> outputs;
    EXPECT_TRUE(Failed(Session().RunGraph(1, {part_}, outputs),
                       {"E11019", "dynamic input parts of operator facts",
                        "has no tensors; expected a call of create_dynamic_input_parts"}));
}

TEST_F(TiedFactsTest, ABuildWithoutElementsMakesTheOtherChecks) {
    AddGraph("shape");
    const ge::Tensor shapeOnly(part_.GetTensorDesc());
    EXPECT_TRUE(Succeeded(Session().BuildGraph(1, {shapeOnly, part_, part_})));
    EXPECT_TRUE(Succeeded(Session().BuildGraph(1, {part_, part_, part_})));
    EXPECT_TRUE(
        Failed(Session().BuildGraph(1, {part_, part_}), {"E13025", "inputs has 2 tensors"}));
    ASSERT_TRUE(Succeeded(Session().CompileGraph(1)));
    EXPECT_FALSE(Session().GetCompiledGraphSummary(1)->IsStatic());
}

// The elements in device memory are read by each run, after the work in the stream.
TEST_F(TiedFactsTest, ARunOnAStreamReadsElementsInDeviceMemory) {
    AddGraph("shape");
    const DeviceTensor axes({1}, {4});
    const DeviceTensor part({2}, {1, 2});
    const Tensors inputs = {axes.Tensor(), part.Tensor(), part.Tensor()};
    results_.pop_back();
    EXPECT_TRUE(Failed(Run(1, inputs, Of(results_)), {"planned with label=shape kind=2 axes=4,"}));
    const std::vector<int64_t> next = {3};
    ge::Tensor written = axes.Tensor();
    ASSERT_EQ(
        aclrtMemcpyAsync(written.GetData(), 8, next.data(), 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
        ACL_SUCCESS);
    EXPECT_TRUE(Failed(Run(1, inputs, Of(results_)), {"planned with label=shape kind=2 axes=3,"}));
    EXPECT_TRUE(Failed(Run(1, {inputs[0], inputs[1]}, Of(results_)), {"inputs has 2 tensors"}));
    std::vector<int64_t> host = {3};
    ge::Tensor wrong(inputs[0].GetTensorDesc());
    wrong.SetData(reinterpret_cast<uint8_t*>(host.data()), 8, [](uint8_t*) {});
    EXPECT_TRUE(Failed(Run(1, {wrong, inputs[1], inputs[2]}, Of(results_)),
                       {"E13025", "inputs[0] has 8 bytes", "expected device memory"}));
}

TEST_F(TiedFactsTest, ACaptureCannotReadElements) {
    AddGraph("shape");
    const DeviceTensor axes({1}, {4});
    const Tensors inputs = {axes.Tensor(), axes.Tensor(), axes.Tensor()};
    ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
    EXPECT_TRUE(Failed(Run(1, inputs, Of(results_)),
                       {"E19999", "elements of inputs[0]", "in a capture", "expected a Const"}));
    aclmdlRI model = nullptr;
    ASSERT_EQ(aclmdlRICaptureEnd(stream_, &model), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIDestroy(model), ACL_SUCCESS);
}

}  // namespace
