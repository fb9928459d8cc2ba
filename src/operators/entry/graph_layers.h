// SPDX-License-Identifier: Apache-2.0
// Arguments for nodes that are layers over images: windows, strides and pads, by the dims of NCHW
// or NHWC. The functions throw std::invalid_argument for a node that is not computed.

#pragma once

#include <cstdint>
#include <vector>

#include "src/operators/entry/graph_node.h"

namespace advstep_operators {

/// A convolution: the attributes of its type.
struct ConvolutionRule {
    NumberList strides;
    NumberList pads;  // top, bottom, left, right
    NumberList dilations;
    const char* dataFormat;
};

/// A convolution whose images and filter are views of NCHW. With NHWC the filter's own dims are
/// those of HWCN.
struct ConvolutionOf {
    const aclTensor* x;
    const aclTensor* filter;
    const aclTensor* y;
    std::vector<int64_t> strides;
    std::vector<int64_t> pads;  // top, left, bottom, right
    std::vector<int64_t> dilations;
};
/// Sizes y with NHWC.
ConvolutionOf ReadConvolution(GraphNode& node, const aclTensor* x, const aclTensor* filter,
                              const aclTensor* y, const aclTensor* offset,
                              const ConvolutionRule& rule);

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
