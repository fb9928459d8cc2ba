// SPDX-License-Identifier: Apache-2.0
// Chooses the memory of every value of a run on a stream.

#include "src/graph/stream_plan.h"

#include <algorithm>
#include <utility>

namespace advstep::graph {
namespace {

class StreamPlanner {
 public:
    StreamPlanner(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                  std::vector<StreamStep>* steps)
        : model_(model), plan_(plan), memory_(memory), steps_(*steps), at_(plan.values.size()) {
        for (const PlannedValue& value : plan.values) {
            usesLeft_.push_back(value.uses);
        }
    }

    Outcome Make() {
        for (size_t source = 0; source < plan_.sources.size(); ++source) {
            at_[plan_.sources[source].value] = memory_.sources[source];
        }
        for (size_t call = 0; call < plan_.calls.size(); ++call) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanCall(call));
        }
        for (size_t output = 0; output < plan_.outputs.size(); ++output) {
            const size_t value = plan_.outputs[output];
            --usesLeft_[value];
            uint8_t* const to = memory_.outputs[output];
            if (at_[value] != to) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));
                Copy(value, to);
            }
        }
        return {};
    }

 private:
    void Copy(size_t value, uint8_t* to) {
        if (plan_.values[value].desc.bytes > 0) {
            StreamStep step;
            step.to = to;
            step.from = at_[value];
            step.bytes = plan_.values[value].desc.bytes;
            steps_.push_back(std::move(step));
        }
    }

    Outcome Save(size_t value) {
        uint8_t* saved = nullptr;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(plan_.values[value].desc.bytes, &saved));
        Copy(value, saved);
        at_[value] = saved;
        return {};
    }

    // Saves the values at an address that are still read later.
    Outcome Vacate(const uint8_t* address) {
        for (size_t value = 0; value < at_.size(); ++value) {
            if (at_[value] == address && usesLeft_[value] > 0) {
                ADVSTEP_GRAPH_RETURN_IF_ERROR(Save(value));
            }
        }
        return {};
    }

    // Finds the memory in which an operator updates the value, and puts the value there.
    Outcome BindUpdated(size_t value, size_t updated, void** bound) {
        const PlannedValue& before = plan_.values[value];
        const bool isSource = before.source && plan_.sources[*before.source].value == value;
        const bool isState =
            before.source && model_.nodes[plan_.sources[*before.source].node].IsState();
        const auto output = std::find(plan_.outputs.begin(), plan_.outputs.end(), updated);
        uint8_t* to = nullptr;
        if (isState || (usesLeft_[value] == 1 && !isSource && output == plan_.outputs.end())) {
            to = at_[value];
        } else if (output != plan_.outputs.end()) {
            to = memory_.outputs[static_cast<size_t>(output - plan_.outputs.begin())];
        } else {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(before.desc.bytes, &to));
        }
        const bool isThere = at_[value] == to;
        --usesLeft_[value];
        ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));  // of this value too, if others read it
        if (!isThere) {
            Copy(value, to);
        }
        *bound = to;
        return {};
    }

    // Finds the memory of an output that is no update.
    Outcome BindNew(size_t value, void** bound) {
        const auto output = std::find(plan_.outputs.begin(), plan_.outputs.end(), value);
        uint8_t* to = nullptr;
        if (output == plan_.outputs.end()) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.allocate(plan_.values[value].desc.bytes, &to));
        } else {
            to = memory_.outputs[static_cast<size_t>(output - plan_.outputs.begin())];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Vacate(to));
        }
        *bound = to;
        return {};
    }

    Outcome PlanCall(size_t index) {
        const PlannedCall& call = plan_.calls[index];
        const auto& rules = call.kind->outputs;
        StreamStep step;
        step.call = index;
        const size_t inputs = call.inputs.size();
        step.addresses.resize(inputs + rules.size());
        const auto place = [&](size_t output) {
            return rules[output].isNew() ? inputs + output : rules[output].input;
        };
        for (size_t output = 0; output < rules.size(); ++output) {
            void** const bound = &step.addresses[place(output)];
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                rules[output].isNew()
                    ? BindNew(call.outputs[output], bound)
                    : BindUpdated(*call.inputs[rules[output].input], call.outputs[output], bound));
        }
        for (size_t input = 0; input < call.inputs.size(); ++input) {
            const bool isUpdated =
                std::any_of(rules.begin(), rules.end(),
                            [&](const OutputRule& rule) { return rule.input == input; });
            if (call.inputs[input] && !isUpdated) {
                step.addresses[input] = at_[*call.inputs[input]];
                --usesLeft_[*call.inputs[input]];
            }
        }
        for (size_t output = 0; output < rules.size(); ++output) {
            at_[call.outputs[output]] = static_cast<uint8_t*>(step.addresses[place(output)]);
        }
        steps_.push_back(std::move(step));
        return {};
    }

    const GraphModel& model_;
    const RunPlan& plan_;
    const StreamMemory& memory_;
    std::vector<StreamStep>& steps_;
    std::vector<uint8_t*> at_;  // where each value is, at the step that is being planned
    std::vector<size_t> usesLeft_;
};

}  // namespace

Outcome PlanStream(const GraphModel& model, const RunPlan& plan, const StreamMemory& memory,
                   std::vector<StreamStep>* steps) {
    return StreamPlanner(model, plan, memory, steps).Make();
}

}  // namespace advstep::graph
