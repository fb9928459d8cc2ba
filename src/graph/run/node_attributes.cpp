// SPDX-License-Identifier: Apache-2.0
// Reads the attributes of a node, the elements of inputs, and the lengths of lists.

#include "src/graph/run/node_attributes.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "acl/acl_base.h"

namespace advstep::graph {
namespace {

// Returns whether it is a fact of a tensor, and no attribute of the node.
bool IsFact(const AdvStepGraphAttribute& attribute) {
    return attribute.kind >= ADVSTEP_GRAPH_INPUT_INTS;
}

float FloatOfBfloat16(uint16_t bits) {
    const uint32_t wide = static_cast<uint32_t>(bits) << 16;
    float value = 0;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}

const char* KindName(int32_t kind) {
    static constexpr const char* kKindNames[] = {
        "Int",      "Float",  "Bool", "Int, Float or Bool", "ListInt", "ListFloat",
        "ListBool", "String", "Type"};
    return kKindNames[kind];
}

// Reads one attribute. False: it has another kind.
bool ReadValue(const AttrValue& from, const AdvStepGraphAttribute& attribute,
               AttributeValues* all) {
    AdvStepGraphValue value{};
    value.kind = attribute.kind;
    const bool isNumber = attribute.kind == ADVSTEP_GRAPH_NUMBER;
    if (const auto* integer = std::get_if<int64_t>(&from);
        integer != nullptr && (isNumber || attribute.kind == ADVSTEP_GRAPH_INT)) {
        value.kind = ADVSTEP_GRAPH_INT;
        value.integer = *integer;
    } else if (const auto* real = std::get_if<float>(&from);
               real != nullptr && (isNumber || attribute.kind == ADVSTEP_GRAPH_FLOAT)) {
        value.kind = ADVSTEP_GRAPH_FLOAT;
        value.real = *real;
    } else if (const auto* truth = std::get_if<bool>(&from);
               truth != nullptr && (isNumber || attribute.kind == ADVSTEP_GRAPH_BOOL)) {
        value.kind = ADVSTEP_GRAPH_BOOL;
        value.integer = *truth ? 1 : 0;
    } else if (const auto* integers = std::get_if<std::vector<int64_t>>(&from);
               integers != nullptr && attribute.kind == ADVSTEP_GRAPH_LIST_INT) {
        all->integers.push_back(*integers);
        value.list = all->integers.back().data();
        value.count = integers->size();
    } else if (const auto* reals = std::get_if<std::vector<float>>(&from);
               reals != nullptr && attribute.kind == ADVSTEP_GRAPH_LIST_FLOAT) {
        all->reals.push_back(*reals);
        value.list = all->reals.back().data();
        value.count = reals->size();
    } else if (const auto* truths = std::get_if<std::vector<bool>>(&from);
               truths != nullptr && attribute.kind == ADVSTEP_GRAPH_LIST_BOOL) {
        all->truths.push_back(std::make_unique<bool[]>(truths->size()));
        std::copy(truths->begin(), truths->end(), all->truths.back().get());
        value.list = all->truths.back().get();
        value.count = truths->size();
    } else if (const auto* text = std::get_if<std::string>(&from);
               text != nullptr && attribute.kind == ADVSTEP_GRAPH_TEXT) {
        value.list = all->texts.emplace_back(*text).c_str();
        value.count = text->size();
    } else if (const auto* type = std::get_if<ge::DataType>(&from);
               type != nullptr && attribute.kind == ADVSTEP_GRAPH_TYPE) {
        value.integer = static_cast<int64_t>(*type);
    } else {
        return false;
    }
    all->values.push_back(value);
    return true;
}

// Refuses attributes that the call does not take, because their values would be lost silently,
// unless the operator is tolerant. Attributes that begin with an underscore are the framework's.
Outcome CheckTaken(const ModelNode& node, const AdvStepGraphOperator& tie) {
    for (const auto& attr : node.attrs) {
        const std::string& name = attr.first;
        const bool isTaken = std::any_of(tie.attributes, tie.attributes + tie.attributeCount,
                                         [&](const AdvStepGraphAttribute& taken) {
                                             return !IsFact(taken) && IsNameOf(name, taken.name);
                                         });
        if (!isTaken && name.front() != '_' && !IsTolerant(tie)) {
            return Fail(kInnerError, "{} has an attribute {}, which {} does not take",
                        Describe(node), name, tie.table->call);
        }
    }
    return {};
}

// Reads an attribute that the node has.
Outcome ReadAttribute(const ModelNode& node, const OperatorKind& kind,
                      const AdvStepGraphAttribute& attribute, AttributeValues* read) {
    const auto found = std::find_if(node.attrs.begin(), node.attrs.end(), [&](const auto& attr) {
        return IsNameOf(attr.first, attribute.name);
    });
    if (found == node.attrs.end()) {
        return Fail(kInnerError,
                    "{} has no attribute {}, which {} takes; expected one in its "
                    "IR",
                    Describe(node), attribute.name, kind.tie->table->call);
    }
    if (!ReadValue(found->second, attribute, read)) {
        return Fail(kInnerError, "attribute {} of {} has another kind; expected {}", found->first,
                    Describe(node), KindName(attribute.kind));
    }
    const int64_t integer = read->values.back().integer;
    if (attribute.kind == ADVSTEP_GRAPH_INT &&
        (integer < attribute.least || integer > attribute.most)) {
        return Fail(kInnerError, "attribute {} of {} is {}; expected {} <= {} <= {}", found->first,
                    Describe(node), integer, attribute.least, found->first, attribute.most);
    }
    return {};
}

// Copies elements of one type into a list of another.
template <typename From, typename To>
const To* Widened(const uint8_t* bytes, size_t count, std::vector<std::vector<To>>* lists) {
    std::vector<To>& list = lists->emplace_back(count);
    for (size_t place = 0; place < count; ++place) {
        From element;
        std::memcpy(&element, bytes + place * sizeof element, sizeof element);
        list[place] = static_cast<To>(element);
    }
    return list.data();
}

// Reads the elements of an input as whole numbers. Null: its data type is no such.
const int64_t* ReadWhole(ge::DataType type, const uint8_t* bytes, size_t count,
                         AttributeValues* all) {
    switch (type) {
        case ge::DT_INT64:
            return Widened<int64_t>(bytes, count, &all->integers);
        case ge::DT_INT32:
            return Widened<int32_t>(bytes, count, &all->integers);
        case ge::DT_INT16:
            return Widened<int16_t>(bytes, count, &all->integers);
        case ge::DT_INT8:
            return Widened<int8_t>(bytes, count, &all->integers);
        case ge::DT_UINT8:
        case ge::DT_BOOL:
            return Widened<uint8_t>(bytes, count, &all->integers);
        default:
            return nullptr;
    }
}

// Reads the elements of an input as real numbers. Null: its data type is no such.
const double* ReadReal(ge::DataType type, const uint8_t* bytes, size_t count,
                       AttributeValues* all) {
    if (type == ge::DT_DOUBLE) {
        return Widened<double>(bytes, count, &all->doubles);
    }
    if (type == ge::DT_FLOAT) {
        return Widened<float>(bytes, count, &all->doubles);
    }
    if (type != ge::DT_FLOAT16 && type != ge::DT_BF16) {
        return nullptr;
    }
    std::vector<double>& list = all->doubles.emplace_back(count);
    for (size_t place = 0; place < count; ++place) {
        uint16_t bits = 0;
        std::memcpy(&bits, bytes + place * sizeof bits, sizeof bits);
        list[place] = type == ge::DT_BF16 ? static_cast<double>(FloatOfBfloat16(bits))
                                          : static_cast<double>(aclFloat16ToFloat(bits));
    }
    return list.data();
}

// Reads the elements of an input of the node.
Outcome ReadInput(const ModelNode& node, const AdvStepGraphAttribute& fact, const KnownInput& input,
                  AttributeValues* all) {
    AdvStepGraphValue value{};
    value.kind = ADVSTEP_GRAPH_LIST_INT;
    if (input.desc != nullptr) {
        const ge::DataType type = input.desc->dataType;
        const size_t size = ByteSize({}, type).value_or(0);
        const size_t count = input.bytes == nullptr || size == 0 ? 0 : input.desc->bytes / size;
        const bool isIndex = type == ge::DT_INT32 || type == ge::DT_INT64;
        const bool isInts = fact.kind == ADVSTEP_GRAPH_INPUT_INTS;
        value.list = isIndex || !isInts ? ReadWhole(type, input.bytes, count, all) : nullptr;
        if (value.list == nullptr && !isInts) {
            value.list = ReadReal(type, input.bytes, count, all);
            value.kind = ADVSTEP_GRAPH_LIST_DOUBLE;
        }
        if (value.list == nullptr && count > 0) {
            return Fail(kInnerError, "input {} of {} has data type {}; expected {}", fact.name,
                        Describe(node), NameOf(type),
                        isInts ? "INT32 or INT64" : "numbers that are not complex");
        }
        value.count = count;
    }
    all->values.push_back(value);
    return {};
}

// Reads a fact of a tensor of the tie's table.
Outcome ReadFact(const ModelNode& node, const OperatorKind& kind, const AdvStepGraphAttribute& fact,
                 const std::vector<KnownInput>& inputs, AttributeValues* all) {
    const AdvStepOperatorTable& table = *kind.tie->table;
    size_t first = 0;
    uint32_t tensor = 0;
    for (; std::strcmp(table.tensors[tensor].name, fact.name) != 0; ++tensor) {
        first += kind.counts[tensor];
    }
    if (fact.kind == ADVSTEP_GRAPH_LIST_LENGTH) {
        AdvStepGraphValue value{};
        value.kind = ADVSTEP_GRAPH_INT;
        value.integer = kind.counts[tensor];
        all->values.push_back(value);
        return {};
    }
    const std::optional<size_t> place = kind.places[first].input;
    const KnownInput input = place ? inputs[*place] : KnownInput();
    if (fact.kind == ADVSTEP_GRAPH_INPUT_DIMS) {
        AdvStepGraphValue value{};
        value.kind = ADVSTEP_GRAPH_LIST_INT;
        if (input.desc != nullptr) {
            value.list = all->integers.emplace_back(input.desc->dims).data();
            value.count = input.desc->dims.size();
        }
        all->values.push_back(value);
        return {};
    }
    return ReadInput(node, fact, input, all);
}

}  // namespace

Outcome ReadAttributes(const ModelNode& node, const OperatorKind& kind,
                       const std::vector<KnownInput>& inputs,
                       std::shared_ptr<const AttributeValues>* values) {
    const AdvStepGraphOperator& tie = *kind.tie;
    auto read = std::make_shared<AttributeValues>();
    for (uint32_t place = 0; place < tie.attributeCount; ++place) {
        const AdvStepGraphAttribute& attribute = tie.attributes[place];
        ADVSTEP_GRAPH_RETURN_IF_ERROR(IsFact(attribute)
                                          ? ReadFact(node, kind, attribute, inputs, read.get())
                                          : ReadAttribute(node, kind, attribute, read.get()));
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckTaken(node, tie));
    *values = std::move(read);
    return {};
}

}  // namespace advstep::graph
