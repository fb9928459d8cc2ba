// SPDX-License-Identifier: Apache-2.0
// The arguments of a function for a node of a graph.

#include "src/operators/entry/graph_node.h"

#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <utility>

#include "advance_step/host_call.h"

namespace advstep_operators {

AdvStepTensorView ViewOf(const aclTensor* tensor) {
    AdvStepTensorView view{};
    (void)advstepReadTensor(tensor, &view);
    return view;
}

void RefuseNode(const std::string& message) { throw std::invalid_argument(message); }

std::string TextOf(const NumberList& list) {
    std::string text = "[";
    for (const int64_t number : list) {
        text += (text.size() > 1 ? ", " : "") + std::to_string(number);
    }
    return text + "]";
}

GraphNode::GraphNode(const GraphType& type, const aclTensor* const* tensors,
                     const AdvStepGraphValue* values)
    : type_(type), tensors_(tensors), values_(values) {
    size_t first = 0;
    for (uint32_t place = 0; place < type.table.tensorCount; ++place) {
        firsts_.push_back(first);
        size_t count = 1;
        for (uint32_t fact = 0; fact < type.attributeCount; ++fact) {
            if (type.attributes[fact].kind == ADVSTEP_GRAPH_LIST_LENGTH &&
                std::strcmp(type.attributes[fact].name, type.table.tensors[place].name) == 0) {
                count = static_cast<size_t>(values[fact].integer);
            }
        }
        first += count;
    }
    firsts_.push_back(first);
}

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
        RefuseNode(std::string(list.name) + " has " + std::to_string(list.count) +
                   " numbers; expected one");
    }
    return list.values[0];
}

Number GraphNode::NumberOf(size_t place) const {
    const AdvStepGraphValue& value = values_[place];
    Number number;
    if (value.count > 1) {
        RefuseNode(std::string(type_.attributes[place].name) + " has " +
                   std::to_string(value.count) + " elements; expected one");
    }
    if (value.count == 1 && value.kind == ADVSTEP_GRAPH_LIST_DOUBLE) {
        number.isReal = true;
        number.real = *static_cast<const double*>(value.list);
    } else if (value.count == 1) {
        number.integer = *static_cast<const int64_t*>(value.list);
    }
    return number;
}

const aclTensorList* GraphNode::Tensors(const std::vector<const aclTensor*>& tensors) {
    return Tensors(TensorRun{tensors.data(), tensors.size(), ""});
}

const aclTensorList* GraphNode::Tensors(const TensorRun& run) {
    if (run.count == 0) {
        return nullptr;
    }
    std::vector<std::unique_ptr<const aclTensor, aclnnStatus (*)(const aclTensor*)>> members;
    std::vector<const aclTensor*> given;
    for (uint64_t place = 0; place < run.count; ++place) {
        const AdvStepTensorView view = ViewOf(run.first[place]);
        const auto rank = static_cast<uint64_t>(view.rank);
        members.emplace_back(aclCreateTensor(view.dims, rank, view.dataType, view.strides,
                                             view.offset, view.format, view.dims, rank, view.data),
                             &aclDestroyTensor);
        if (members.back() == nullptr) {
            throw std::bad_alloc();
        }
        given.push_back(members.back().get());
    }
    const aclTensorList* const list =
        Keep(aclCreateTensorList(given.data(), given.size()), &aclDestroyTensorList);
    for (auto& member : members) {
        (void)member.release();  // the list destroys them
    }
    return list;
}

TensorRun GraphNode::Counted(const TensorRun& run, const char* attribute, int64_t number,
                             int64_t byDefault) const {
    if (number != static_cast<int64_t>(run.count) && number != byDefault) {
        RefuseNode(std::string(attribute) + " is " + std::to_string(number) + "; expected " +
                   std::to_string(run.count) + ", the number of tensors of " + run.name);
    }
    return run;
}

const aclTensor* GraphNode::View(const aclTensor* tensor, const std::vector<int64_t>& dims,
                                 const std::vector<int64_t>& strides, int64_t offset) {
    const AdvStepTensorView view = ViewOf(tensor);
    if (dims.size() > ADVSTEP_GRAPH_MOST_DIMS) {
        RefuseNode("a tensor would have " + std::to_string(dims.size()) +
                   " dims; expected at most " + std::to_string(ADVSTEP_GRAPH_MOST_DIMS));
    }
    return Keep(aclCreateTensor(dims.data(), dims.size(), view.dataType, strides.data(),
                                view.offset + offset, view.format, view.dims,
                                static_cast<uint64_t>(view.rank), view.data),
                &aclDestroyTensor);
}

const aclTensor* GraphNode::Sized(const aclTensor* output, std::vector<int64_t> dims) {
    sized_.emplace_back(output, std::move(dims));
    return output;
}

const std::vector<int64_t>* GraphNode::SizeOf(const aclTensor* output) const {
    for (const auto& [tensor, dims] : sized_) {
        if (tensor == output) {
            return &dims;
        }
    }
    return nullptr;
}

aclDataType GraphNode::Type(const aclTensor* tensor) const { return ViewOf(tensor).dataType; }

const aclTensor* GraphNode::Turned(const aclTensor* tensor, bool isTurned) {
    if (!isTurned) {
        return tensor;
    }
    const AdvStepTensorView view = ViewOf(tensor);
    if (view.rank < 2) {
        RefuseNode("a factor has " + std::to_string(view.rank) +
                   " dims; expected at least 2, as it is "
                   "to be transposed");
    }
    std::vector<int64_t> dims(view.dims, view.dims + view.rank);
    std::vector<int64_t> strides(view.strides, view.strides + view.rank);
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
    return View(tensor, dims, strides, 0);
}

NumberList GraphNode::DimsFrom(const aclTensor* tensor, int64_t axis, int64_t ofParameters) {
    const AdvStepTensorView view = ViewOf(tensor);
    const int64_t begin = axis < 0 ? axis + view.rank : axis;
    const int64_t other = ofParameters < 0 ? ofParameters + view.rank : ofParameters;
    if (begin < 0 || begin >= view.rank || other != begin) {
        RefuseNode("the norm begins at axis " + std::to_string(axis) + " and its parameters at " +
                   std::to_string(ofParameters) + "; expected the same axis of " +
                   std::to_string(view.rank));
    }
    dims_.emplace_back(view.dims + begin, view.dims + view.rank);
    return {dims_.back().data(), dims_.back().size()};
}

NumberList GraphNode::Some(const NumberList& list) const {
    if (list.count == 0) {
        RefuseNode(std::string(list.name) + " has no numbers; expected at least one");
    }
    return list;
}

bool GraphNode::Without(const aclTensor* tensor, const char* name) const {
    if (tensor != nullptr) {
        RefuseNode(std::string(name) +
                   " is linked; expected no link, since it is not computed here");
    }
    return true;
}

bool GraphNode::IsFloating(const aclTensor* tensor, const char* name) const {
    if (IsWhole(tensor)) {
        RefuseNode(std::string(name) +
                   " has elements of whole numbers; expected FLOAT, FLOAT16 or BF16");
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
        RefuseNode(std::string(name) + " is " + std::to_string(value) + "; expected " +
                   std::to_string(expected) + ", since others are not computed here");
    }
}

void GraphNode::Default(const char* name, const char* value, const char* expected) const {
    if (std::strcmp(value, expected) != 0) {
        RefuseNode(std::string(name) + " is " + value + "; expected " + expected +
                   ", since others are not computed here");
    }
}

int64_t GraphNode::WordOf(const char* name, const char* value,
                          std::initializer_list<const char*> words) const {
    std::string expected;
    int64_t place = 0;
    for (const char* word : words) {
        if (std::strcmp(value, word) == 0) {
            return place;
        }
        expected += (place == 0                                        ? ""
                     : place + 1 == static_cast<int64_t>(words.size()) ? " or "
                                                                       : ", ");
        expected += word;
        ++place;
    }
    RefuseNode(std::string(name) + " is " + value + "; expected " + expected);
}

void GraphNode::Call(const FunctionSpec& called, PhaseTwoFunction run,
                     std::initializer_list<Argument> given) {
    function = &called;
    phaseTwo = run;
    arguments.assign(given);
}

}  // namespace advstep_operators
