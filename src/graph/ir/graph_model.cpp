// SPDX-License-Identifier: Apache-2.0
// Finds the sources of a node, and sorts nodes by their dependencies.

#include "src/graph/ir/graph_model.h"

#include <functional>
#include <queue>

namespace advstep::graph {

std::string Describe(const ModelNode& node) {
    return fmt::format("operator {} of type {}", node.name, node.type);
}

std::optional<ValueId> FindSource(const ModelNode& node, const std::string& name) {
    for (const ModelInput& input : node.inputs) {
        if (input.name == name) {
            return input.source;
        }
    }
    return std::nullopt;
}

Outcome OrderNodes(const GraphModel& model, std::vector<size_t>* order) {
    std::vector<size_t> missing(model.nodes.size(), 0);
    std::vector<std::vector<size_t>> followers(model.nodes.size());
    const auto depend = [&](size_t node, size_t source) {
        followers[source].push_back(node);
        ++missing[node];
    };
    for (size_t node = 0; node < model.nodes.size(); ++node) {
        for (const ModelInput& input : model.nodes[node].inputs) {
            if (input.source) {
                depend(node, input.source->node);
            }
        }
        for (const size_t source : model.nodes[node].controlSources) {
            depend(node, source);
        }
    }
    std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
    for (size_t node = 0; node < model.nodes.size(); ++node) {
        if (missing[node] == 0) {
            ready.push(node);
        }
    }
    order->clear();
    while (!ready.empty()) {
        const size_t node = ready.top();
        ready.pop();
        order->push_back(node);
        for (const size_t follower : followers[node]) {
            if (--missing[follower] == 0) {
                ready.push(follower);
            }
        }
    }
    if (order->size() < model.nodes.size()) {
        return Fail(kInnerError, "graph {}: {} of its operators depend on themselves", model.name,
                    model.nodes.size() - order->size());
    }
    return {};
}

std::vector<size_t> OrderData(const GraphModel& model) {
    std::vector<size_t> inGraphOrder;
    for (size_t node = 0; node < model.nodes.size(); ++node) {
        if (model.nodes[node].IsData()) {
            inGraphOrder.push_back(node);
        }
    }
    // The indices are used only if they are a permutation.
    const size_t count = inGraphOrder.size();
    std::vector<size_t> byIndex(count, model.nodes.size());
    for (const size_t node : inGraphOrder) {
        const auto* index = FindAttr<int64_t>(model.nodes[node], "index");
        if (index == nullptr || *index < 0 || static_cast<size_t>(*index) >= count ||
            byIndex[static_cast<size_t>(*index)] != model.nodes.size()) {
            return inGraphOrder;
        }
        byIndex[static_cast<size_t>(*index)] = node;
    }
    return byIndex;
}

}  // namespace advstep::graph
