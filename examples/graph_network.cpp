// SPDX-License-Identifier: Apache-2.0
// Graph mode: a small network of CANN's operators. Two filters look for edges in an image, and the
// odds of upright and level follow from the strongest edges. Plain loops compute the same.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "all_ops.h"
#include "ge/ge_api.h"

namespace {

constexpr int kSize = 6;             // of the image
constexpr int kWindow = 3;           // of a filter
constexpr int kEdges = kSize - 2;    // places of a filter in a row
constexpr int kPooled = kEdges / 2;  // of the places in a row, two by two
constexpr int kFilters = 2;
constexpr int kFeatures = kFilters * kPooled * kPooled;
constexpr int kClasses = 2;

using Image = std::array<float, kSize * kSize>;
using Odds = std::array<float, kClasses>;

constexpr std::array<float, kFilters* kWindow* kWindow> kFilterValues = {
    -1, 0,  1,  -2, 0, 2, -1, 0, 1,   // grows from left to right
    -1, -2, -1, 0,  0, 0, 1,  2, 1};  // grows from top to bottom

// Row f of the weights: how much feature f speaks for each class.
float WeightOf(int feature, int group) {
    return feature / (kPooled * kPooled) == group ? 0.25F : -0.125F;
}

void Check(ge::Status status, const char* call) {
    if (status != ge::SUCCESS) {
        std::fprintf(stderr, "%s: %s\n", call, ge::GEGetErrorMsgV2().GetString());
        std::exit(EXIT_FAILURE);  // NOLINT(concurrency-mt-unsafe): nothing else exits
    }
}
#define CHECK(call) Check((call), #call)

template <typename T>
ge::Tensor TensorOf(const std::vector<int64_t>& shape, ge::DataType type, const T* values,
                    size_t count) {
    return ge::Tensor(ge::TensorDesc(ge::Shape(shape), ge::FORMAT_ND, type),
                      reinterpret_cast<const uint8_t*>(values), count * sizeof(T));
}

ge::Graph MakeGraph() {
    std::vector<float> weights;
    for (int feature = 0; feature < kFeatures; ++feature) {
        for (int group = 0; group < kClasses; ++group) {
            weights.push_back(WeightOf(feature, group));
        }
    }
    const std::array<int64_t, 2> row = {1, -1};
    auto image = ge::op::Data("image").set_attr_index(0);
    auto filter = ge::op::Const("filter").set_attr_value(TensorOf(
        {kFilters, 1, kWindow, kWindow}, ge::DT_FLOAT, kFilterValues.data(), kFilterValues.size()));
    auto weight = ge::op::Const("weight").set_attr_value(
        TensorOf({kFeatures, kClasses}, ge::DT_FLOAT, weights.data(), weights.size()));
    // The shape is an input, whose elements are read while the graph is planned.
    auto shape =
        ge::op::Const("shape").set_attr_value(TensorOf({2}, ge::DT_INT64, row.data(), row.size()));

    auto edges = ge::op::Conv2D("edges")
                     .set_input_x(image)
                     .set_input_filter(filter)
                     .set_attr_strides({1, 1, 1, 1})
                     .set_attr_pads({0, 0, 0, 0})
                     .set_attr_data_format("NCHW");
    auto strong = ge::op::Relu("strong").set_input_x(edges);
    auto pooled = ge::op::MaxPool("pooled")
                      .set_input_x(strong)
                      .set_attr_ksize({1, 1, 2, 2})
                      .set_attr_strides({1, 1, 2, 2})
                      .set_attr_padding("VALID")
                      .set_attr_data_format("NCHW");
    auto features = ge::op::Reshape("features").set_input_x(pooled).set_input_shape(shape);
    auto logits = ge::op::MatMulV2("logits").set_input_x1(features).set_input_x2(weight);
    auto odds = ge::op::SoftmaxV2("odds").set_input_x(logits);
    ge::Graph graph("edges");
    graph.SetInputs({image, filter, weight, shape}).SetOutputs(std::vector<ge::Operator>{odds});
    return graph;
}

float EdgeAt(const Image& image, int filter, int row, int column) {
    float sum = 0;
    for (int y = 0; y < kWindow; ++y) {
        for (int x = 0; x < kWindow; ++x) {
            sum += image[static_cast<size_t>((row + y) * kSize + column + x)] *
                   kFilterValues[static_cast<size_t>((filter * kWindow + y) * kWindow + x)];
        }
    }
    return std::max(sum, 0.0F);
}

Odds PlainOdds(const Image& image) {
    Odds odds = {0, 0};
    for (int feature = 0; feature < kFeatures; ++feature) {
        const int filter = feature / (kPooled * kPooled);
        const int row = feature / kPooled % kPooled * 2;
        const int column = feature % kPooled * 2;
        const float best = std::max(
            {EdgeAt(image, filter, row, column), EdgeAt(image, filter, row, column + 1),
             EdgeAt(image, filter, row + 1, column), EdgeAt(image, filter, row + 1, column + 1)});
        for (int group = 0; group < kClasses; ++group) {
            odds[static_cast<size_t>(group)] += best * WeightOf(feature, group);
        }
    }
    const float sum = std::exp(odds[0]) + std::exp(odds[1]);
    return {std::exp(odds[0]) / sum, std::exp(odds[1]) / sum};
}

// An image with an edge in the middle.
Image ImageOf(bool isUpright) {
    Image image{};
    for (int row = 0; row < kSize; ++row) {
        for (int column = 0; column < kSize; ++column) {
            const int place = isUpright ? column : row;
            image[static_cast<size_t>(row * kSize + column)] = place < kSize / 2 ? 0.0F : 0.5F;
        }
    }
    return image;
}

}  // namespace

int main() {
    CHECK(ge::GEInitialize({}));
    bool areEqual = true;
    {
        ge::Session session({});
        CHECK(session.AddGraph(1, MakeGraph()));
        for (const bool isUpright : {true, false}) {
            const Image image = ImageOf(isUpright);
            std::vector<ge::Tensor> outputs;
            CHECK(session.RunGraph(
                1, {TensorOf({1, 1, kSize, kSize}, ge::DT_FLOAT, image.data(), image.size())},
                outputs));
            const auto* odds = reinterpret_cast<const float*>(outputs[0].GetData());
            const Odds plain = PlainOdds(image);
            std::printf("%s: odds of upright %.4f, of level %.4f; plain loops: %.4f, %.4f\n",
                        isUpright ? "an upright edge" : "a level edge", odds[0], odds[1], plain[0],
                        plain[1]);
            areEqual = areEqual && std::abs(odds[0] - plain[0]) < 1e-5F &&
                       std::abs(odds[1] - plain[1]) < 1e-5F;
        }
    }
    CHECK(ge::GEFinalize());
    std::puts(areEqual ? "the graph's odds are those of plain loops" : "the odds differ");
    return areEqual ? EXIT_SUCCESS : EXIT_FAILURE;
}
