// SPDX-License-Identifier: Apache-2.0
// Goes back from a value to the calls and sources that it is computed of.

#include "src/graph/run/plan_part.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

namespace advstep::graph {
namespace {

// Copies calls and sources, whose values get places of their own.
class Copier {
 public:
    Copier(const RunPlan& plan, RunPlan* part) : plan_(plan), part_(*part) {}

    size_t PlaceOf(size_t value) {
        const auto [found, isNew] = places_.emplace(value, part_.values.size());
        if (isNew) {
            part_.values.emplace_back().desc = plan_.values[value].desc;
        }
        return found->second;
    }

    size_t Use(size_t value) {
        const size_t place = PlaceOf(value);
        ++part_.values[place].uses;
        return place;
    }

    void CopySource(const PlannedSource& source) {
        PlannedSource& copy = part_.sources.emplace_back(source);
        copy.value = PlaceOf(source.value);
        copy.last = copy.value;
    }

    void CopyCall(const PlannedCall& call) {
        PlannedCall& copy = part_.calls.emplace_back(call);
        for (std::optional<size_t>& input : copy.inputs) {
            input = input ? std::optional(Use(*input)) : input;
        }
        for (size_t& output : copy.outputs) {
            output = PlaceOf(output);
        }
    }

 private:
    const RunPlan& plan_;
    RunPlan& part_;
    std::unordered_map<size_t, size_t> places_;  // of values of the plan in the part
};

// Returns the calls that a value is computed by, in order, and notes all values that they take.
std::vector<size_t> CallsFor(const RunPlan& plan, std::vector<bool>* isTaken) {
    std::vector<size_t> calls;
    for (size_t index = plan.calls.size(); index-- > 0;) {
        const PlannedCall& call = plan.calls[index];
        if (std::none_of(call.outputs.begin(), call.outputs.end(),
                         [&](size_t output) { return (*isTaken)[output]; })) {
            continue;
        }
        calls.push_back(index);
        for (size_t input = 0; input < call.inputs.size(); ++input) {
            if (call.inputs[input] && !call.kind->inputs[input].hasDimsOnly) {
                (*isTaken)[*call.inputs[input]] = true;
            }
        }
    }
    std::reverse(calls.begin(), calls.end());
    return calls;
}

Outcome CheckSource(const ModelNode& node, const std::string& reader) {
    return node.IsVariable()
               ? Fail(kInnerError,
                      "{} is read before the run, and comes from {}; expected a Const or a Data, "
                      "or what operators make of these",
                      reader, Describe(node))
               : Outcome();
}

}  // namespace

Outcome PartFor(const GraphModel& model, const RunPlan& plan, size_t value,
                const std::string& reader, RunPlan* part) {
    *part = {};
    Copier copier(plan, part);
    const std::optional<size_t> own = plan.values[value].source;
    if (own &&
        plan.sources[*own].value == value) {  // most are constants, whatever the graph's size
        ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckSource(model.nodes[plan.sources[*own].node], reader));
        copier.CopySource(plan.sources[*own]);
    } else {
        std::vector<bool> isTaken(plan.values.size());
        isTaken[value] = true;
        const std::vector<size_t> calls = CallsFor(plan, &isTaken);
        for (const PlannedSource& source : plan.sources) {
            if (isTaken[source.value]) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckSource(model.nodes[source.node], reader));
                copier.CopySource(source);
            }
        }
        for (const size_t call : calls) {
            copier.CopyCall(plan.calls[call]);
        }
    }
    part->outputs = {copier.Use(value)};
    return {};
}

}  // namespace advstep::graph
