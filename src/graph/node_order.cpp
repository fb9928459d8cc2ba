// SPDX-License-Identifier: Apache-2.0
// Sorts nodes by their dependencies.

#include "src/graph/node_order.h"

#include <functional>
#include <queue>

namespace advstep::graph {

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
        const auto& attrs = model.nodes[node].attrs;
        const auto attr = attrs.find("index");
        const auto* index = attr == attrs.end() ? nullptr : std::get_if<int64_t>(&attr->second);
        if (index == nullptr || *index < 0 || static_cast<size_t>(*index) >= count ||
            byIndex[static_cast<size_t>(*index)] != model.nodes.size()) {
            return inGraphOrder;
        }
        byIndex[static_cast<size_t>(*index)] = node;
    }
    return byIndex;
}

}  // namespace advstep::graph
