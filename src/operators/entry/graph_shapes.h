// SPDX-License-Identifier: Apache-2.0
// Arguments for nodes that change shapes, select and join: views of tensors, and sizes of outputs.
// The functions throw std::invalid_argument for a node that is not computed.

#pragma once

#include <cstdint>
#include <vector>

#include "src/operators/entry/graph_node.h"

namespace advstep_operators {

/// Returns the axis counted from the front. `name` is that of the attribute or input for messages.
int64_t AxisOf(const char* name, int64_t axis, int64_t rank);

/// Facts of a shape. `IndexOf` checks that the numbers fit an index of a dtype, INT32 or INT64.
std::vector<int64_t> RankOf(const NumberList& dims);
std::vector<int64_t> SizeOf(const NumberList& dims);
std::vector<int64_t> IndexOf(const std::vector<int64_t>& numbers, int64_t dtype);

/// Views of a contiguous tensor with another shape.
const aclTensor* Reshaped(GraphNode& node, const aclTensor* x, const NumberList& shape);
const aclTensor* WithAxes(GraphNode& node, const aclTensor* x, const NumberList& axes);
const aclTensor* Squeezed(GraphNode& node, const aclTensor* x, const NumberList& axes);
const aclTensor* Flattened(GraphNode& node, const aclTensor* x, int64_t axis, int64_t end);
/// The dims in front of axis are one, and those from axis on another.
const aclTensor* AsMatrix(GraphNode& node, const aclTensor* x, int64_t axis);

/// Views of a part of a contiguous tensor.
const aclTensor* PartOf(GraphNode& node, const aclTensor* x, const NumberList& offsets,
                        const NumberList& size);
/// The masks of a strided slice have a bit for each number of begin, end and strides.
struct SliceMasks {
    int64_t begin;
    int64_t end;
    int64_t ellipsis;
    int64_t newAxis;
    int64_t shrinkAxis;
};
/// A part whose dims go forward, and those of its dims that are to be turned round.
struct StridedPart {
    const aclTensor* x;
    std::vector<int64_t> backward;
};
bool IsForward(const NumberList& strides);
StridedPart StridedPartOf(GraphNode& node, const aclTensor* x, const NumberList& begin,
                          const NumberList& end, const NumberList& strides,
                          const SliceMasks& masks);

/// Returns the sizes of the parts of a tensor along an axis, and sizes the outputs: equal parts, or
/// sizes of which one may be -1.
std::vector<int64_t> EqualParts(GraphNode& node, const aclTensor* x, int64_t axis,
                                const TensorRun& outputs);
std::vector<int64_t> GivenParts(GraphNode& node, const aclTensor* x, const NumberList& sizes,
                                int64_t axis, const TensorRun& outputs);
/// Returns views of the outputs that have the axis, with size 1, and sizes the outputs.
std::vector<const aclTensor*> Unpacked(GraphNode& node, const aclTensor* x, int64_t axis,
                                       const TensorRun& outputs);

/// Sizes the outputs of products of groups: one for each x; one with all rows; or for groups of
/// columns, whose type is 2, one with a dim for the groups.
TensorRun ProductsOf(GraphNode& node, const TensorRun& x, const TensorRun& weight,
                     const TensorRun& y, int64_t groupType, const aclTensor* groups);

/// Returns pads, two for each dim of x in order, as ConstantPadNd takes them: from the last dim on.
std::vector<int64_t> PadsOf(const aclTensor* x, const NumberList& paddings);
/// How a mode pads: 0 by a number; 1 to 3 by reflection of as many dims at the end; 11 to 13 by
/// their edges.
int64_t PadKind(const char* mode, const aclTensor* x, const NumberList& paddings);
/// Returns the pads of the last dims that PadKind has counted.
std::vector<int64_t> LastPads(const aclTensor* x, const NumberList& paddings);

/// Sizes the output of a series.
const aclTensor* SeriesOf(GraphNode& node, const aclTensor* y, const Number& start,
                          const Number& limit, const Number& delta);
/// Gives an output the shape of a tensor.
const aclTensor* SizedAs(GraphNode& node, const aclTensor* y, const aclTensor* x);

/// Sizes the numbers that x is rounded to, of which an INT32 has eight, and the scales of its rows,
/// or with the mode pertensor the one of all. Groups of rows are data, so kernels cannot tell them.
const aclTensor* RoundedAs(GraphNode& node, const aclTensor* y, const aclTensor* x,
                           int64_t dstType);
const aclTensor* RowScalesOf(GraphNode& node, const aclTensor* scale, const aclTensor* x,
                             const char* mode);

}  // namespace advstep_operators
