// SPDX-License-Identifier: Apache-2.0
// The state of an operator while a program builds a graph: nodes, and groups of linked ones.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/gnode.h"
#include "graph/operator.h"
#include "graph/tensor.h"

namespace advstep::graph {

using AttrValue = std::variant<int64_t, float, bool, std::string, ge::DataType, ge::Tensor,
                               std::vector<int64_t>, std::vector<float>, std::vector<bool>,
                               std::vector<std::string>, std::vector<ge::DataType>,
                               std::vector<ge::Tensor>, std::vector<std::vector<int64_t>>>;

struct OperatorNode;

struct InputSlot {
    std::string name;
    bool isOptional = false;
    bool hasDesc = false;  // the program has set one
    ge::TensorDesc desc;
    OperatorNode* source = nullptr;  // null: not linked
    size_t sourceOutput = 0;
};

struct OutputSlot {
    std::string name;
    ge::TensorDesc desc;
};

/// All operators that are linked with each other. They are destroyed together, with the last handle
/// to any of them. No operator can own another, because links have both directions.
///
/// Any thread may copy and drop handles, but only one thread at a time may change the operators of
/// a group (graph/operator.h). The child of a fork never destroys groups of its parent.
struct OperatorGroup {
    // Guarded by a lock of all groups:
    size_t handles = 0;
    uint64_t generation = 0;  // of the process that made it, or of an older group linked with it
    bool isAbandoned = false;
    OperatorGroup* nextAbandoned = nullptr;

    std::vector<std::unique_ptr<OperatorNode>> members;
};

struct OperatorNode {
    OperatorGroup* group = nullptr;  // guarded by a lock of all groups
    std::string name;
    std::string type;
    std::vector<InputSlot> inputs;
    std::vector<OutputSlot> outputs;
    std::map<std::string, AttrValue> attrs;
    std::vector<std::string> requiredAttrs;
    std::vector<OperatorNode*> controlSources;
    std::vector<OperatorNode*> neighbours;  // over links of both kinds and directions, in order
    std::vector<std::string> faults;        // a run reports these
    std::vector<std::string> buildFaults;   // Session::AddGraph reports these
    std::map<std::string, uint32_t> dynamicInputs;  // how many inputs each has, once created

    InputSlot* FindInput(const std::string& inputName);
    OutputSlot* FindOutput(const std::string& outputName);
};

/// Makes a node in a group of its own, with one handle.
OperatorNode* MakeNode(const char* name, const char* type);
void AddHandle(OperatorNode* node) noexcept;
/// Destroys the group with its last handle, unless it is from before a fork.
void DropHandle(OperatorNode* node) noexcept;
/// Makes two nodes neighbours, and joins their groups, unless one is from before a fork: then
/// neither is ever destroyed. Throws std::bad_alloc, and changes nothing then.
void Connect(OperatorNode* one, OperatorNode* other);

/// Converts handles to nodes and nodes to handles.
class OperatorAccess {
 public:
    static OperatorNode* NodeOf(const ge::Operator& op) { return op.node_; }
    static ge::Operator HandleOf(OperatorNode* node);
    static ge::GNode MakeNodeOf(const ge::Operator& op);
    static ge::GNodePtr MakeGNode(OperatorNode* node);
};

}  // namespace advstep::graph
