// SPDX-License-Identifier: Apache-2.0
// Checks the tensors of a run on a stream: device memory, and which of them may overlap.

#include "src/graph/device.h"
#include "src/graph/stream_run.h"

namespace advstep::graph {
namespace {

bool IsDeviceMemory(const uint8_t* address) {
    aclrtPtrAttributes attributes{};
    return aclrtPointerGetAttributes(address, &attributes) == ACL_SUCCESS &&
           attributes.location.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

// Looks at the first and the last of the bytes.
bool AreDeviceMemory(const uint8_t* address, size_t bytes) {
    uintptr_t last = 0;
    return !__builtin_add_overflow(reinterpret_cast<uintptr_t>(address), bytes - 1, &last) &&
           IsDeviceMemory(address) && IsDeviceMemory(reinterpret_cast<const uint8_t*>(last));
}

}  // namespace

Outcome StreamBinding::WrongTensor(const char* kind, size_t index, const std::string& what) {
    return Fail(kBadTensor, "{}[{}] {}", kind, index, what);
}

// Checks the tensors' memory. It does so again before each run, so that no part of a run is queued
// if memory has been freed.
Outcome StreamBinding::CheckMemory() const {
    for (const auto* places : {&inputs_, &outputs_}) {
        for (size_t index = 0; index < places->size(); ++index) {
            const Place& place = (*places)[index];
            if (place.bytes > 0 && !AreDeviceMemory(place.address, place.bytes)) {
                return WrongTensor(
                    places == &inputs_ ? "inputs" : "outputs", index,
                    fmt::format("has {} bytes at {}; expected device memory", place.bytes,
                                static_cast<const void*>(place.address)));
            }
        }
    }
    return {};
}

bool StreamBinding::Overlap(const Place& a, const Place& b) {
    return a.bytes > 0 && b.bytes > 0 && a.address < b.address + b.bytes &&
           b.address < a.address + a.bytes;
}

// Checks that tensors do not overlap. Only an output and the input of which it is an update may
// have the same memory.
Outcome StreamBinding::CheckOverlaps() const {
    for (size_t output = 0; output < outputs_.size(); ++output) {
        for (size_t other = 0; other < output; ++other) {
            if (Overlap(outputs_[output], outputs_[other])) {
                return WrongTensor(
                    "outputs", output,
                    fmt::format("overlaps outputs[{}]; expected memory apart", other));
            }
        }
        const auto source = plan_.values[plan_.outputs[output]].source;
        for (size_t input = 0; input < inputs_.size(); ++input) {
            const bool isSame = inputs_[input].address == outputs_[output].address && source &&
                                plan_.sources[*source].input == input;
            if (!isSame && Overlap(outputs_[output], inputs_[input])) {
                return WrongTensor("outputs", output,
                                   fmt::format("overlaps inputs[{}]; expected memory apart, or the "
                                               "memory of the input that the output updates",
                                               input));
            }
        }
    }
    return CheckUpdatedInputs();
}

// Checks that a RefData which the graph updates overlaps no other input. One that is not updated
// may begin at the same address, since PlanStream saves its value.
Outcome StreamBinding::CheckUpdatedInputs() const {
    std::vector<bool> isUpdated(inputs_.size());
    for (const PlannedSource& source : plan_.sources) {
        if (source.input) {
            isUpdated[*source.input] = source.last != source.value;
        }
    }
    for (size_t input = 0; input < inputs_.size(); ++input) {
        for (size_t other = 0; other < inputs_.size(); ++other) {
            const bool isSaved =
                !isUpdated[other] && inputs_[input].address == inputs_[other].address;
            if (isUpdated[input] && other != input && !isSaved &&
                Overlap(inputs_[input], inputs_[other])) {
                return WrongTensor(
                    "inputs", input,
                    fmt::format("is updated, and overlaps inputs[{}]; expected memory apart",
                                other));
            }
        }
    }
    return {};
}

}  // namespace advstep::graph
