// SPDX-License-Identifier: Apache-2.0
// Arguments for nodes that are layers over images: windows, strides and pads, by the dims of NCHW
// or NHWC. The functions throw std::invalid_argument for a node that is not computed.

#pragma once

#include <cstdint>
#include <vector>

#include "src/operators/entry/graph_node.h"

namespace advstep_operators {

/// A convolution of images of NCHW with a filter of NCHW.
struct ConvolutionOf {
    std::vector<int64_t> strides;
    std::vector<int64_t> pads;  // top, left, bottom, right
    std::vector<int64_t> dilations;
};
ConvolutionOf ReadConvolution(const GraphNode& node, const aclTensor* x, const aclTensor* offset,
                              const NumberList& strides, const NumberList& pads,
                              const NumberList& dilations, const char* dataFormat);

/// How a pooling chooses its windows: the attributes of its type.
struct PoolRule {
    NumberList kernel;
    NumberList strides;
    const char* padding;  // SAME, VALID, or CALCULATED by pads
    NumberList pads;      // top, bottom, left, right; no values: the type has none
    const char* dataFormat;
    bool isGlobal;
    bool isCeil;
};

/// A pooling of images, which are views of NCHW.
struct PoolOf {
    const aclTensor* x;
    const aclTensor* y;
    std::vector<int64_t> kernel;
    std::vector<int64_t> strides;
    std::vector<int64_t> pads;  // top, left, bottom, right
    bool isCeil;
};
/// Sizes y.
PoolOf ReadPool(GraphNode& node, const aclTensor* x, const aclTensor* y, const PoolRule& rule);
PoolOf ReadGlobalPool(GraphNode& node, const aclTensor* x, const aclTensor* y);

/// Returns a view of a bias that is added to x: of its channels.
const aclTensor* BiasOf(GraphNode& node, const aclTensor* x, const aclTensor* bias,
                        const char* dataFormat);

}  // namespace advstep_operators
