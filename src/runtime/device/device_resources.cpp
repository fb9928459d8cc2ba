// SPDX-License-Identifier: Apache-2.0
// Counts what a device has a limited number of, and refuses more.

#include "src/runtime/device/device_resources.h"

#include <algorithm>

#include "src/base/sanitizer_scope.h"
#include "src/runtime/device/device.h"

namespace advstep {
namespace {

// Pinned memory is of the host, whatever device is current.
std::atomic<uint64_t> pinnedBytes{0};

const char* PluralOf(DeviceResource resource) {
    switch (resource) {
        case DeviceResource::kStreams:
            return "streams";
        case DeviceResource::kEvents:
            return "events";
        case DeviceResource::kNotifies:
            return "notifies";
        case DeviceResource::kModels:
            return "captured models";
        case DeviceResource::kPinnedBytes:
            break;
    }
    return "bytes of pinned host memory";
}

void ReportLimit(const Device& device, DeviceResource resource, uint64_t used, uint64_t amount,
                 uint64_t limit) {
    const SanitizerScope own;
    const CallStack stack = CallStack::Here();
    const std::string call = stack.EntryCall();
    const bool bytes = resource == DeviceResource::kPinnedBytes;
    Finding finding(
        SanitizerCheck::kLimits, NameOf(resource),
        fmt::format("{} is refused: {} has {} of at most {} {}, and {} more {} needed",
                    call.empty() ? "a call" : call,
                    bytes ? "the host"
                          : fmt::format("device {} ({})", device.id(), device.settings().soc.name),
                    used, limit, PluralOf(resource), amount, amount == 1 ? "is" : "are"));
    if (resource == DeviceResource::kStreams) {
        finding.Line("each branch of a captured model holds a stream until the model is destroyed");
    }
    finding.Line("expected fewer at a time, or another limit by ADVANCE_STEP_LIMITS");
    finding.Stack("work", "the call that is refused:", stack);
    finding.fields().Add("call", call);
    finding.fields().Add("device", static_cast<uint64_t>(device.id()));
    finding.fields().Add("used", used);
    finding.fields().Add("limit", limit);
    Report(finding);
}

}  // namespace

Status ResourceHold::TakeChecked(const Device* device, DeviceResource resource, int32_t code,
                                 ResourceHold* hold, uint64_t amount) {
    std::atomic<uint64_t>* const count =
        resource == DeviceResource::kPinnedBytes
            ? &pinnedBytes
            : &device->resources().counts_[static_cast<size_t>(resource)];
    const std::optional<uint64_t> limit = device->limitsOfObjects().Of(resource);
    const uint64_t used = count->fetch_add(amount, std::memory_order_relaxed);
    hold->GiveBack();
    hold->count_ = count;
    hold->amount_ = amount;
    if (!limit || (used <= *limit && amount <= *limit - used)) {
        return {};
    }
    hold->GiveBack();
    ReportLimit(*device, resource, used, amount, *limit);
    return Error(code, "device {} has {} {}, and {} has {}; expected fewer at a time", device->id(),
                 used, PluralOf(resource), device->settings().soc.name, *limit);
}

std::optional<uint64_t> AvailableResources(const Device& device, DeviceResource resource) {
    const std::optional<uint64_t> limit = device.limitsOfObjects().Of(resource);
    if (!Sanitizing(SanitizerCheck::kLimits) || !limit) {
        return std::nullopt;
    }
    return *limit - std::min(*limit, device.resources().Count(resource));
}

}  // namespace advstep
