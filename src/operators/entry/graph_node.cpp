// SPDX-License-Identifier: Apache-2.0
// The arguments of a function for a node of a graph.

#include "src/operators/entry/graph_node.h"

#include <new>
#include <stdexcept>
#include <utility>

#include "advance_step/host_call.h"

namespace advstep_operators {
namespace {

AdvStepTensorView ViewOf(const aclTensor* tensor) {
    AdvStepTensorView view{};
    (void)advstepReadTensor(tensor, &view);
    return view;
}

[[noreturn]] void Refuse(const std::string& message) { throw std::invalid_argument(message); }

}  // namespace

GraphNode::~GraphNode() {
    for (const std::function<void()>& end : ends_) {
        end();
    }
}

template <typename Object>
Object* GraphNode::Keep(Object* made, aclnnStatus (*destroy)(const Object*)) {
    if (made == nullptr) {
        throw std::bad_alloc();
    }
    ends_.emplace_back([=] { (void)destroy(made); });
    return made;
}

const aclScalar* GraphNode::Scalar(double value) {
    return Keep(aclCreateScalar(&value, ACL_DOUBLE), &aclDestroyScalar);
}

const aclScalar* GraphNode::Scalar(int64_t value) {
    return Keep(aclCreateScalar(&value, ACL_INT64), &aclDestroyScalar);
}

const aclIntArray* GraphNode::Array(const NumberList& list) {
    return Keep(aclCreateIntArray(list.values, list.count), &aclDestroyIntArray);
}

int64_t GraphNode::Integer(const NumberList& list) const {
    if (list.count != 1) {
        Refuse("axes has " + std::to_string(list.count) + " numbers; expected one");
    }
    return list.values[0];
}

aclDataType GraphNode::Type(const aclTensor* tensor) const { return ViewOf(tensor).dataType; }

const aclTensor* GraphNode::Turned(const aclTensor* tensor, bool isTurned) {
    if (!isTurned) {
        return tensor;
    }
    const AdvStepTensorView view = ViewOf(tensor);
    if (view.rank < 2) {
        Refuse("a factor has " + std::to_string(view.rank) +
               " dims; expected at least 2, as it is "
               "to be transposed");
    }
    std::vector<int64_t> dims(view.dims, view.dims + view.rank);
    std::vector<int64_t> strides(view.strides, view.strides + view.rank);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
    return Keep(aclCreateTensor(dims.data(), dims.size(), view.dataType, strides.data(),
                                view.offset, view.format, view.dims, dims.size(), view.data),
                &aclDestroyTensor);
}

NumberList GraphNode::DimsFrom(const aclTensor* tensor, int64_t axis, int64_t ofParameters) {
    const AdvStepTensorView view = ViewOf(tensor);
    const int64_t begin = axis < 0 ? axis + view.rank : axis;
    const int64_t other = ofParameters < 0 ? ofParameters + view.rank : ofParameters;
    if (begin < 0 || begin >= view.rank || other != begin) {
        Refuse("the norm begins at axis " + std::to_string(axis) + " and its parameters at " +
               std::to_string(ofParameters) + "; expected the same axis of " +
               std::to_string(view.rank));
    }
    dims_.emplace_back(view.dims + begin, view.dims + view.rank);
    return {dims_.back().data(), dims_.back().size()};
}

NumberList GraphNode::Some(const NumberList& list) const {
    if (list.count == 0) {
        Refuse("axes has no numbers; expected at least one");
    }
    return list;
}

bool GraphNode::Without(const aclTensor* tensor) const {
    if (tensor != nullptr) {
        Refuse("offset_w is linked; expected no link, since it is not computed here");
    }
    return true;
}

bool GraphNode::IsWhole(const aclTensor* tensor) const {
    switch (Type(tensor)) {
        case ACL_INT8:
        case ACL_INT16:
        case ACL_INT32:
        case ACL_INT64:
        case ACL_UINT8:
            return true;
        default:
            return false;
    }
}

void GraphNode::Default(const char* name, double value, double expected) const {
    if (static_cast<float>(value) != static_cast<float>(expected)) {
        Refuse(std::string(name) + " is " + std::to_string(value) + "; expected " +
               std::to_string(expected) + ", since others are not computed here");
    }
}

void GraphNode::Call(const FunctionSpec& called, PhaseTwoFunction run,
                     std::initializer_list<Argument> given) {
    function = &called;
    phaseTwo = run;
    arguments.assign(given);
}

}  // namespace advstep_operators
