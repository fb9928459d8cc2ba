// SPDX-License-Identifier: Apache-2.0
// SetAttr and GetAttr. Integers are kept as int64_t, strings as std::string.

#include <algorithm>
#include <limits>

#include "graph/operator.h"
#include "src/graph/messages.h"
#include "src/graph/operator_node.h"

namespace ge {
namespace {

using advstep::graph::AttrValue;
using advstep::graph::Boundary;
using advstep::graph::OperatorNode;

Operator& Set(Operator& op, OperatorNode* node, const char* name, AttrValue value) {
    if (node != nullptr && name != nullptr) {
        node->attrs[name] = std::move(value);
    }
    return op;
}

// A program that reads a required attribute expects a value. get_attr_NAME cannot return a status,
// so only this message says that its zero is none.
void ReportIfRequired(const OperatorNode& node, const char* name) {
    const auto& required = node.requiredAttrs;
    if (std::find(required.begin(), required.end(), name) != required.end()) {
        Boundary("Operator::GetAttr", [&] {
            return Fail(advstep::graph::kInnerError,
                        "required attribute {} of operator {} of type {} was never set", name,
                        node.name, node.type);
        });
    }
}

// Returns the attribute, or null if it is missing or not a T.
template <class T>
const T* Find(const OperatorNode* node, const char* name) {
    if (node == nullptr || name == nullptr) {
        return nullptr;
    }
    const auto found = node->attrs.find(name);
    if (found == node->attrs.end()) {
        ReportIfRequired(*node, name);
        return nullptr;
    }
    return std::get_if<T>(&found->second);
}

template <class T>
graphStatus Get(const OperatorNode* node, const char* name, T& value) {
    const T* found = Find<T>(node, name);
    if (found == nullptr) {
        return GRAPH_FAILED;
    }
    value = *found;
    return GRAPH_SUCCESS;
}

template <class Narrow>
graphStatus GetNarrow(const OperatorNode* node, const char* name, Narrow& value) {
    const int64_t* found = Find<int64_t>(node, name);
    if (found == nullptr || *found < std::numeric_limits<Narrow>::min() ||
        *found > std::numeric_limits<Narrow>::max()) {
        return GRAPH_FAILED;
    }
    value = static_cast<Narrow>(*found);
    return GRAPH_SUCCESS;
}

AscendString ToAscend(const std::string& text) { return AscendString(text.data(), text.size()); }

std::string ToStd(const AscendString& text) { return {text.GetString(), text.GetLength()}; }

}  // namespace

Operator& Operator::SetAttr(const char* name, int64_t value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, int32_t value) {
    return Set(*this, node_, name, static_cast<int64_t>(value));
}
Operator& Operator::SetAttr(const char* name, uint32_t value) {
    return Set(*this, node_, name, static_cast<int64_t>(value));
}
Operator& Operator::SetAttr(const char* name, float value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, bool value) { return Set(*this, node_, name, value); }
Operator& Operator::SetAttr(const char* name, const char* value) {
    return Set(*this, node_, name, std::string(value == nullptr ? "" : value));
}
Operator& Operator::SetAttr(const char* name, const AscendString& value) {
    return Set(*this, node_, name, ToStd(value));
}
Operator& Operator::SetAttr(const char* name, const std::string& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const Tensor& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const DataType& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<int64_t>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<float>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<bool>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<AscendString>& value) {
    std::vector<std::string> texts;
    texts.reserve(value.size());
    for (const AscendString& text : value) {
        texts.push_back(ToStd(text));
    }
    return Set(*this, node_, name, std::move(texts));
}
Operator& Operator::SetAttr(const char* name, const std::vector<std::string>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<Tensor>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<DataType>& value) {
    return Set(*this, node_, name, value);
}
Operator& Operator::SetAttr(const char* name, const std::vector<std::vector<int64_t>>& value) {
    return Set(*this, node_, name, value);
}

graphStatus Operator::GetAttr(const char* name, int64_t& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, int32_t& value) const {
    return GetNarrow(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, uint32_t& value) const {
    return GetNarrow(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, float& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, bool& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, AscendString& value) const {
    const auto* text = Find<std::string>(node_, name);
    if (text == nullptr) {
        return GRAPH_FAILED;
    }
    value = ToAscend(*text);
    return GRAPH_SUCCESS;
}
graphStatus Operator::GetAttr(const char* name, std::string& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, Tensor& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, DataType& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<int64_t>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<float>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<bool>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<AscendString>& value) const {
    const auto* texts = Find<std::vector<std::string>>(node_, name);
    if (texts == nullptr) {
        return GRAPH_FAILED;
    }
    value.clear();
    for (const std::string& text : *texts) {
        value.push_back(ToAscend(text));
    }
    return GRAPH_SUCCESS;
}
graphStatus Operator::GetAttr(const char* name, std::vector<std::string>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<Tensor>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<DataType>& value) const {
    return Get(node_, name, value);
}
graphStatus Operator::GetAttr(const char* name, std::vector<std::vector<int64_t>>& value) const {
    return Get(node_, name, value);
}

}  // namespace ge
