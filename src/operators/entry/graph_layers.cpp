// SPDX-License-Identifier: Apache-2.0
// Windows, strides and pads of layers over images.

#include "src/operators/entry/graph_layers.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace advstep_operators {
namespace {

using Dims = std::vector<int64_t>;

// Returns whether the last dim has the channels.
bool IsChannelsLast(const char* dataFormat) {
    if (std::strcmp(dataFormat, "NHWC") != 0 && std::strcmp(dataFormat, "NCHW") != 0) {
        RefuseNode(std::string("data_format is ") + dataFormat + "; expected NCHW or NHWC");
    }
    return std::strcmp(dataFormat, "NHWC") == 0;
}

void RequireImages(const char* name, const AdvStepTensorView& view) {
    if (view.rank != 4) {
        RefuseNode(std::string(name) + " has " + std::to_string(view.rank) + " dims; expected 4");
    }
}

// Returns the numbers for height and width. Those for images and channels must be 1.
Dims PairOf(const NumberList& list, bool isChannelsLast) {
    const uint64_t first = isChannelsLast ? 1 : 2;
    const bool isRight = list.count == 4 && list.values[0] == 1 &&
                         list.values[isChannelsLast ? 3 : 1] == 1 && list.values[first] > 0 &&
                         list.values[first + 1] > 0;
    if (!isRight) {
        RefuseNode(std::string(list.name) + " is " + TextOf(list) +
                   "; expected four numbers of at least 1, of which those of N and C are 1");
    }
    return {list.values[first], list.values[first + 1]};
}

void RequirePads(const NumberList& pads) {
    if (pads.count != 4 ||
        std::any_of(pads.begin(), pads.end(), [](int64_t pad) { return pad < 0; })) {
        RefuseNode(std::string(pads.name) + " is " + TextOf(pads) +
                   "; expected four numbers of at least 0");
    }
}

// Returns pads that are top, bottom, left and right as top, left, bottom and right.
Dims FrontsThenBacks(const NumberList& pads) {
    return {pads.values[0], pads.values[2], pads.values[1], pads.values[3]};
}

Dims PadsOfRule(const PoolRule& rule, const Dims& images, const Dims& kernel, const Dims& strides) {
    if (std::strcmp(rule.padding, "VALID") == 0) {
        return {0, 0, 0, 0};
    }
    Dims pads(4, 0);
    if (std::strcmp(rule.padding, "SAME") == 0) {
        for (size_t axis = 0; axis < 2; ++axis) {
            const int64_t windows = (images[axis] + strides[axis] - 1) / strides[axis];
            const int64_t both =
                std::max<int64_t>((windows - 1) * strides[axis] + kernel[axis] - images[axis], 0);
            pads[axis] = both / 2;
            pads[axis + 2] = both - both / 2;
        }
        return pads;
    }
    if (rule.pads.values == nullptr || std::strcmp(rule.padding, "CALCULATED") != 0) {
        RefuseNode(std::string("padding is ") + rule.padding + "; expected SAME" +
                   (rule.pads.values == nullptr ? " or VALID" : ", VALID or CALCULATED"));
    }
    RequirePads(rule.pads);
    return FrontsThenBacks(rule.pads);
}

// Returns the number of windows along one dim.
int64_t WindowsOf(const PoolOf& pool, int64_t size, size_t axis) {
    const int64_t pads = pool.pads[axis] + pool.pads[axis + 2];
    const int64_t room = size + pads - pool.kernel[axis];
    if (room < 0) {
        RefuseNode("ksize has " + std::to_string(pool.kernel[axis]) + "; expected at most " +
                   std::to_string(size + pads) + ", the size of x with its pads");
    }
    const int64_t stride = pool.strides[axis];
    int64_t windows = room / stride + 1;
    // A last window that is not full must begin in x or in the pads in front of it.
    if (pool.isCeil && room % stride != 0 && windows * stride < size + pool.pads[axis]) {
        ++windows;
    }
    return windows;
}

// Returns a view as NCHW of a packed tensor of the given dims of NHWC.
const aclTensor* AsNchw(GraphNode& node, const aclTensor* tensor, const Dims& nhwc) {
    const int64_t n = nhwc[0];
    const int64_t h = nhwc[1];
    const int64_t w = nhwc[2];
    const int64_t c = nhwc[3];
    return node.View(tensor, {n, c, h, w}, {h * w * c, 1, w * c, c}, 0);
}

// Returns how many windows of a convolution lie along one dim. Phase one checks the sizes.
int64_t ConvolvedSize(const ConvolutionOf& conv, size_t axis, int64_t size, int64_t kernel) {
    int64_t wide = 0;
    int64_t window = 0;
    if (__builtin_add_overflow(conv.pads[axis], conv.pads[axis + 2], &wide) ||
        __builtin_add_overflow(wide, size, &wide) ||
        __builtin_mul_overflow(conv.dilations[axis], kernel - 1, &window) || kernel < 1 ||
        window >= wide) {
        RefuseNode("filter has " + std::to_string(kernel) + " numbers along an axis, dilated by " +
                   std::to_string(conv.dilations[axis]) + "; expected one or more, within " +
                   std::to_string(size) + " of x with pads of " + std::to_string(conv.pads[axis]) +
                   " and " + std::to_string(conv.pads[axis + 2]));
    }
    return (wide - window - 1) / conv.strides[axis] + 1;
}

// Makes the views of a convolution of NHWC, and sizes y.
void TurnConvolution(GraphNode& node, ConvolutionOf* conv) {
    const AdvStepTensorView x = ViewOf(conv->x);
    const AdvStepTensorView filter = ViewOf(conv->filter);
    RequireImages("filter", filter);
    const Dims made{x.dims[0], ConvolvedSize(*conv, 0, x.dims[1], filter.dims[0]),
                    ConvolvedSize(*conv, 1, x.dims[2], filter.dims[1]), filter.dims[3]};
    conv->x = AsNchw(node, conv->x, {x.dims, x.dims + 4});
    conv->y = AsNchw(node, node.Sized(conv->y, made), made);
    const int64_t h = filter.dims[0];
    const int64_t w = filter.dims[1];
    const int64_t c = filter.dims[2];
    const int64_t n = filter.dims[3];
    conv->filter = node.View(conv->filter, {n, c, h, w}, {1, n, w * c * n, c * n}, 0);
}

}  // namespace

ConvolutionOf ReadConvolution(GraphNode& node, const aclTensor* x, const aclTensor* filter,
                              const aclTensor* y, const aclTensor* offset,
                              const ConvolutionRule& rule) {
    (void)node.Without(offset);
    RequireImages("x", ViewOf(x));
    (void)node.IsFloating(x, "x");
    RequirePads(rule.pads);
    const bool isLast = IsChannelsLast(rule.dataFormat);
    ConvolutionOf conv{x,
                       filter,
                       y,
                       PairOf(rule.strides, isLast),
                       FrontsThenBacks(rule.pads),
                       PairOf(rule.dilations, isLast)};
    if (isLast) {
        TurnConvolution(node, &conv);
    }
    return conv;
}

PoolOf ReadPool(GraphNode& node, const aclTensor* x, const aclTensor* y, const PoolRule& rule) {
    const AdvStepTensorView view = ViewOf(x);
    RequireImages("x", view);
    const bool isLast = IsChannelsLast(rule.dataFormat);
    const Dims images{view.dims[isLast ? 1 : 2], view.dims[isLast ? 2 : 3]};
    PoolOf pool{x, y, images, images, {0, 0, 0, 0}, rule.isCeil};
    if (!rule.isGlobal) {
        pool.kernel = PairOf(rule.kernel, isLast);
        pool.strides = PairOf(rule.strides, isLast);
        pool.pads = PadsOfRule(rule, images, pool.kernel, pool.strides);
    }
    if (images[0] < 1 || images[1] < 1) {
        RefuseNode("x has images of " + std::to_string(images[0]) + " x " +
                   std::to_string(images[1]) + "; expected at least 1 x 1");
    }
    const int64_t height = WindowsOf(pool, images[0], 0);
    const int64_t width = WindowsOf(pool, images[1], 1);
    const int64_t channels = view.dims[isLast ? 3 : 1];
    if (!isLast) {
        node.Sized(y, {view.dims[0], channels, height, width});
        return pool;
    }
    const Dims made{view.dims[0], height, width, channels};
    pool.x = AsNchw(node, x, {view.dims, view.dims + 4});
    pool.y = AsNchw(node, node.Sized(y, made), made);
    return pool;
}

PoolOf ReadGlobalPool(GraphNode& node, const aclTensor* x, const aclTensor* y) {
    return ReadPool(node, x, y, {{}, {}, "VALID", {}, "NCHW", true, false});
}

const aclTensor* BiasOf(GraphNode& node, const aclTensor* x, const aclTensor* bias,
                        const char* dataFormat) {
    const AdvStepTensorView view = ViewOf(x);
    const AdvStepTensorView added = ViewOf(bias);
    const int64_t axis = IsChannelsLast(dataFormat) ? view.rank - 1 : 1;
    if (view.rank < 2 || added.rank != 1 || added.dims[0] != view.dims[axis]) {
        RefuseNode("bias has " + std::to_string(added.rank) +
                   " dims; expected one, of the size of x " + "along axis " + std::to_string(axis));
    }
    const auto after = static_cast<size_t>(view.rank - axis);
    Dims dims(after, 1);
    dims[0] = added.dims[0];
    return node.View(bias, dims, Dims(after, 1), 0);
}

}  // namespace advstep_operators
