// SPDX-License-Identifier: Apache-2.0
// Compares a node with the tie of its type, reads its attributes, and asks the operator for shapes.

#include "src/graph/run/operator_kind.h"

#include <algorithm>
#include <cstddef>

#include "src/base/thread_exit.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/run/device.h"
#include "src/graph/run/operator_library.h"

namespace advstep::graph {
namespace {

char LowerOf(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// Returns the name of an argument as IRs spell it: block_tables for blockTables.
std::string IrNameOf(const char* argument) {
    std::string name;
    for (; *argument != '\0'; ++argument) {
        name += LowerOf(*argument) == *argument ? "" : "_";
        name += LowerOf(*argument);
    }
    return name;
}

const ModelInput* InputFor(const ModelNode& node, const char* argument) {
    const auto found =
        std::find_if(node.inputs.begin(), node.inputs.end(),
                     [&](const ModelInput& input) { return IsNameOf(input.name, argument); });
    return found == node.inputs.end() ? nullptr : &*found;
}

const std::string* OutputFor(const ModelNode& node, const char* argument) {
    const auto found =
        std::find_if(node.outputs.begin(), node.outputs.end(),
                     [&](const std::string& output) { return IsNameOf(output, argument); });
    return found == node.outputs.end() ? nullptr : &*found;
}

// Returns whether a tie has the members choose and isTolerant, which those of older libraries lack.
bool HasChoice(const AdvStepGraphOperator& tie) {
    return tie.structBytes > offsetof(AdvStepGraphOperator, choose);
}

// Adds the rules of one tensor of the table.
Outcome AddTensor(const ModelNode& node, const AdvStepOperatorTensor& tensor, OperatorKind* kind) {
    const char* const call = kind->tie->table->call;
    const bool isWritten = tensor.isWritten != 0;
    const bool isOptional = tensor.isOptional != 0;
    const ModelInput* const input = InputFor(node, tensor.name);
    const std::string* output = isWritten ? OutputFor(node, tensor.name) : nullptr;
    if (isWritten && input != nullptr && output == nullptr) {
        output = OutputFor(node, (std::string(tensor.name) + "_out").c_str());
        if (output == nullptr && IsTolerant(*kind->tie)) {
            output = &input->name;  // of a value that nothing reads
        } else if (output == nullptr) {
            return Fail(kInnerError,
                        "{} has an input {}, which {} writes, and no output for it; expected an "
                        "output {} or {}_out",
                        Describe(node), input->name, call, input->name, input->name);
        }
    }
    OperatorKind::Place place;
    if (input != nullptr) {
        if (isWritten && !input->source && input->isOptional) {
            return Fail(kUnlinkedInput,
                        "input {} of {} is not linked; expected a link, since output {} is an "
                        "update of it",
                        input->name, Describe(node), *output);
        }
        place.input = kind->inputs.size();
        kind->inputs.push_back({input->name, isOptional});
    }
    if (output != nullptr) {
        place.output = kind->outputs.size();
        kind->outputs.push_back({*output, place.input.value_or(OutputRule::kNew)});
    }
    if (input == nullptr && output == nullptr && !isOptional) {
        if (!IsTolerant(*kind->tie)) {
            return Fail(kInnerError, "{} has no {} {}, which {} {}; expected one in its IR",
                        Describe(node), isWritten ? "output" : "input", tensor.name, call,
                        isWritten ? "writes" : "reads");
        }
        kind->inputs.push_back({IrNameOf(tensor.name), false});  // which is not linked
    }
    kind->places.push_back(place);
    return {};
}

// Adds the rules of the tensors of a dynamic input or output, whose names in the node are x0, x1
// and so on.
Outcome AddList(const ModelNode& node, const AdvStepOperatorTensor& list, OperatorKind* kind) {
    uint32_t count = 0;
    for (;; ++count) {
        const std::string name = list.name + std::to_string(count);
        const bool isThere = list.isWritten != 0 ? OutputFor(node, name.c_str()) != nullptr
                                                 : InputFor(node, name.c_str()) != nullptr;
        if (!isThere) {
            break;
        }
        AdvStepOperatorTensor member = list;
        member.name = name.c_str();
        ADVSTEP_GRAPH_RETURN_IF_ERROR(AddTensor(node, member, kind));
    }
    if (count == 0 && list.isOptional == 0) {
        return Fail(kUnlinkedInput,
                    "dynamic {} {} of {} has no tensors; expected a call of create_dynamic_{}_{}",
                    list.isWritten != 0 ? "output" : "input", list.name, Describe(node),
                    list.isWritten != 0 ? "output" : "input", list.name);
    }
    kind->counts.push_back(count);
    return {};
}

bool IsFact(const AdvStepGraphOperator& tie, const AdvStepOperatorTensor& tensor, int32_t kind) {
    return std::any_of(tie.attributes, tie.attributes + tie.attributeCount,
                       [&](const AdvStepGraphAttribute& fact) {
                           return fact.kind == kind && IsNameOf(fact.name, tensor.name);
                       });
}

Outcome MakeKind(const ModelNode& node, const AdvStepGraphOperator& tie, OperatorKind* kind) {
    kind->type = node.type;
    kind->tie = &tie;
    for (uint32_t place = 0; place < tie.table->tensorCount; ++place) {
        const AdvStepOperatorTensor& tensor = tie.table->tensors[place];
        if (IsFact(tie, tensor, ADVSTEP_GRAPH_LIST_LENGTH)) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(AddList(node, tensor, kind));
            continue;
        }
        ADVSTEP_GRAPH_RETURN_IF_ERROR(AddTensor(node, tensor, kind));
        kind->counts.push_back(1);
        if (kind->places.back().input) {
            InputRule& rule = kind->inputs[*kind->places.back().input];
            rule.isRead = IsFact(tie, tensor, ADVSTEP_GRAPH_INPUT_INTS) ||
                          IsFact(tie, tensor, ADVSTEP_GRAPH_INPUT_NUMBERS);
            rule.hasDimsOnly = IsFact(tie, tensor, ADVSTEP_GRAPH_INPUT_DIMS);
        }
    }
    for (const OutputRule& rule : kind->outputs) {
        if (rule.isNew() && tie.infer == nullptr) {
            return Fail(kInnerError,
                        "output {} of {} is no update of an input, and {} has no function Infer; "
                        "expected one",
                        rule.name, Describe(node), tie.table->call);
        }
    }
    return {};
}

AdvStepTensorView ViewOfValue(const ValueDesc& desc, std::vector<int64_t>* strides) {
    strides->assign(desc.dims.size(), 1);
    for (size_t axis = desc.dims.size(); axis-- > 1;) {
        // An empty tensor may have dimensions whose product is too large; nothing reads its
        // strides.
        (void)__builtin_mul_overflow((*strides)[axis], std::max<int64_t>(desc.dims[axis], 1),
                                     &(*strides)[axis - 1]);
    }
    AdvStepTensorView view{};
    view.dataType = static_cast<aclDataType>(desc.dataType);
    view.format = ACL_FORMAT_ND;
    view.rank = static_cast<int64_t>(desc.dims.size());
    view.dims = desc.dims.data();
    view.strides = strides->data();
    view.itemSize = static_cast<int64_t>(ByteSize({}, desc.dataType).value_or(1));
    view.packedBytes = static_cast<int64_t>(desc.bytes);
    return view;
}

// The views of a node's inputs, one for each tensor of the tie's table.
class Views {
 public:
    Views(const OperatorKind& kind, const std::vector<const ValueDesc*>& inputs)
        : views_(kind.places.size(), AdvStepTensorView{}), strides_(kind.places.size()) {
        for (size_t place = 0; place < views_.size(); ++place) {
            const std::optional<size_t> input = kind.places[place].input;
            views_[place].dataType = ACL_DT_UNDEFINED;
            if (input && inputs[*input] != nullptr) {
                views_[place] = ViewOfValue(*inputs[*input], &strides_[place]);
            }
        }
    }
    const AdvStepTensorView* data() const { return views_.data(); }

 private:
    std::vector<AdvStepTensorView> views_;
    std::vector<std::vector<int64_t>> strides_;
};

// Calls a function of the operator, which has a buffer for the words of a failure.
template <typename Function>
aclnnStatus Ask(const Function& function, std::string* words) {
    char message[1020] = "";
    try {
        const aclnnStatus code = function(message, sizeof(message));
        *words = message;
        return code;
    } catch (...) {  // the operator's library catches each std::exception
        *words = StopThreadExit() ? "it called pthread_exit; expected it to return"
                                  : "unknown exception";
        return ACLNN_ERR_INNER;
    }
}

Outcome TakeShape(const ModelNode& node, const OutputRule& rule, const AdvStepGraphShape& shape,
                  ValueDesc* desc) {
    const std::string output = fmt::format("output {} of {}", rule.name, Describe(node));
    if (shape.dataType == ACL_DT_UNDEFINED || shape.rank < 0 ||
        shape.rank > ADVSTEP_GRAPH_MOST_DIMS) {
        return Fail(kInnerError, "Infer sets no shape for {}; expected one of at most {} axes",
                    output, ADVSTEP_GRAPH_MOST_DIMS);
    }
    desc->dims.assign(shape.dims, shape.dims + shape.rank);
    desc->dataType = static_cast<ge::DataType>(shape.dataType);
    const std::optional<size_t> bytes = ByteSize(desc->dims, desc->dataType);
    if (!bytes) {
        return Fail(kInnerError,
                    "Infer sets shape {} and data type {} for {}; expected dimensions >= 0, "
                    "elements of a known size and fewer than 2^63 bytes",
                    ShapeText(desc->dims), NameOf(desc->dataType), output);
    }
    desc->bytes = *bytes;
    return {};
}

// Makes the kind of a node from the tie of its type, or null if there is none.
Outcome FindKind(const ModelNode& node, std::shared_ptr<const OperatorKind>* kind) {
    const AdvStepGraphOperator* tie = nullptr;
    aclnnStatus code = advstepFindGraphOperator(node.type.c_str(), &tie);
    if (code == ACLNN_SUCCESS && tie == nullptr && LoadOperators()) {
        code = advstepFindGraphOperator(node.type.c_str(), &tie);
    }
    if (code != ACLNN_SUCCESS) {
        return Fail(kUnsupported, "{} cannot run: {}", Describe(node), TakeAclMessage(code));
    }
    kind->reset();
    if (tie == nullptr) {
        return {};
    }
    auto made = std::make_shared<OperatorKind>();
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakeKind(node, *tie, made.get()));
    *kind = std::move(made);
    return {};
}

Outcome CheckLinks(const ModelNode& node, const OperatorKind& kind) {
    for (const ModelInput& input : node.inputs) {
        if (!input.source && input.isOptional && input.hasDesc) {
            return Fail(kUnlinkedInput,
                        "optional input {} of {} has a description and no link; expected both "
                        "or none",
                        input.name, Describe(node));
        }
        if (!input.source && !input.isOptional) {
            return Fail(kUnlinkedInput, "input {} of {} is not linked", input.name, Describe(node));
        }
        if (std::none_of(kind.inputs.begin(), kind.inputs.end(),
                         [&](const InputRule& rule) { return input.name == rule.name; })) {
            return Fail(kInnerError, "{} has an input {}, which its kernel does not know",
                        Describe(node), input.name);
        }
    }
    for (const InputRule& rule : kind.inputs) {
        const bool isDeclared =
            std::any_of(node.inputs.begin(), node.inputs.end(),
                        [&](const ModelInput& input) { return input.name == rule.name; });
        if (!rule.isOptional && (!isDeclared || !FindSource(node, rule.name))) {
            return Fail(kUnlinkedInput, "input {} of {} is not linked", rule.name, Describe(node));
        }
    }
    for (const std::string& output : node.outputs) {
        if (std::none_of(kind.outputs.begin(), kind.outputs.end(),
                         [&](const OutputRule& rule) { return output == rule.name; })) {
            return Fail(kInnerError, "{} has an output {}, which its kernel does not know",
                        Describe(node), output);
        }
    }
    return {};
}

}  // namespace

bool IsNameOf(const std::string& name, const char* argument) {
    for (const char* letter = name.c_str();; ++letter, ++argument) {
        while (*letter == '_') {
            ++letter;
        }
        while (*argument == '_') {
            ++argument;
        }
        if (LowerOf(*letter) != LowerOf(*argument)) {
            return false;
        }
        if (*letter == '\0') {
            return true;
        }
    }
}

bool IsTolerant(const AdvStepGraphOperator& tie) { return HasChoice(tie) && tie.isTolerant != 0; }

Outcome CheckNode(const ModelNode& node, std::shared_ptr<const OperatorKind>* kind) {
    if (node.IsSource()) {
        return node.outputs.size() == 1 ? Outcome()
                                        : Fail(kInnerError, "{} has {} outputs; expected 1",
                                               Describe(node), node.outputs.size());
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindKind(node, kind));
    if (*kind == nullptr) {
        return Fail(kUnsupported,
                    "{} has no kernel here; expected a loaded library that ties the type (linkers "
                    "drop a library that the program does not call, unless --no-as-needed is set)",
                    Describe(node));
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckLinks(node, **kind));
    for (const std::string& attr : node.requiredAttrs) {
        if (node.attrs.count(attr) == 0) {
            return Fail(kInnerError, "required attribute {} of {} is not set", attr,
                        Describe(node));
        }
    }
    return {};
}

Outcome InferOutputs(const ModelNode& node, const OperatorKind& kind,
                     const AdvStepGraphValue* values, const std::vector<const ValueDesc*>& inputs,
                     const std::vector<ValueDesc*>& outputs) {
    if (kind.tie->infer == nullptr) {
        return {};
    }
    const Views views(kind, inputs);
    std::vector<AdvStepGraphShape> shapes(kind.places.size(), AdvStepGraphShape{});
    for (AdvStepGraphShape& shape : shapes) {
        shape.dataType = ACL_DT_UNDEFINED;
    }
    std::string words;
    const aclnnStatus code = Ask(
        [&](char* message, uint64_t bytes) {
            return kind.tie->infer(views.data(), values, shapes.data(), message, bytes);
        },
        &words);
    if (code != ACLNN_SUCCESS) {
        return Fail(kInnerError, "the shapes of {} cannot be inferred: code {}: {}", Describe(node),
                    code, words);
    }
    for (size_t place = 0; place < shapes.size(); ++place) {
        const std::optional<size_t> output = kind.places[place].output;
        if (output && (kind.outputs[*output].isNew() ||
                       (HasChoice(*kind.tie) && shapes[place].dataType != ACL_DT_UNDEFINED))) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                TakeShape(node, kind.outputs[*output], shapes[place], outputs[*output]));
        }
    }
    return {};
}

Outcome ChooseCalls(const OperatorKind& kind, const AdvStepGraphValue* values,
                    const std::vector<const ValueDesc*>& inputs, AdvStepGraphCalls* calls) {
    *calls = {kind.tie->plan, kind.tie->run};
    if (!HasChoice(*kind.tie) || kind.tie->choose == nullptr) {
        return {};
    }
    const Views views(kind, inputs);
    std::string words;
    const aclnnStatus code = Ask(
        [&](char* message, uint64_t bytes) {
            return kind.tie->choose(views.data(), values, calls, message, bytes);
        },
        &words);
    if (code != ACLNN_SUCCESS) {
        return Fail(kInnerError, "Tiling func of op {} failed: {}", kind.type, words);
    }
    if (calls->plan == nullptr || calls->run == nullptr) {
        return Fail(kInnerError, "choose of op {} has set a null call; expected both", kind.type);
    }
    return {};
}

}  // namespace advstep::graph
