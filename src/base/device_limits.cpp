// SPDX-License-Identifier: Apache-2.0
// The table of limits by SoC, and the reading of other limits.

#include "src/base/device_limits.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

namespace advstep {
namespace {

constexpr const char* kResourceNames[kDeviceResources] = {"streams", "events", "notifies", "models",
                                                          "pinned_bytes"};

// A SoC by the beginning of its name. A number is one that a public page tells
// (docs/internals/provenance.md); kUnknown is a number that none tells, so it is no limit.
constexpr uint64_t kUnknown = 0;

struct SocLimits {
    std::string_view prefix;
    uint64_t limits[kDeviceResources];
};

constexpr SocLimits kSocs[] = {
    // streams, events, notifies, models, pinned_bytes
    {"Ascend910B", {1984, kUnknown, kUnknown, kUnknown, kUnknown}},
    {"Ascend910_93", {1984, kUnknown, kUnknown, kUnknown, kUnknown}},
};

std::optional<uint64_t> ReadNumber(std::string_view text, bool bytes) {
    int shift = 0;
    if (bytes && !text.empty()) {
        shift = text.back() == 'K' ? 10 : text.back() == 'M' ? 20 : text.back() == 'G' ? 30 : 0;
        text.remove_suffix(shift != 0 ? 1 : 0);
    }
    uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [last, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && last == end && !text.empty() &&
                   number <= (std::numeric_limits<uint64_t>::max() >> shift)
               ? std::optional<uint64_t>(number << shift)
               : std::nullopt;
}

}  // namespace

const char* NameOf(DeviceResource resource) {
    return kResourceNames[static_cast<size_t>(resource)];
}

DeviceLimits DeviceLimits::OfSoc(const std::string& soc) {
    DeviceLimits found;
    for (const SocLimits& row : kSocs) {
        if (soc.compare(0, row.prefix.size(), row.prefix) == 0) {
            for (size_t resource = 0; resource < kDeviceResources; ++resource) {
                found.limits_[resource] = row.limits[resource];
            }
        }
    }
    return found;
}

bool DeviceLimits::Read(const std::string& text) {
    DeviceLimits read;
    std::string_view rest = text;
    for (bool more = true; more;) {
        const size_t comma = rest.find(',');
        const std::string_view pair = rest.substr(0, comma);
        const size_t equals = pair.find('=');
        const auto* const name =
            std::find(std::begin(kResourceNames), std::end(kResourceNames), pair.substr(0, equals));
        if (name == std::end(kResourceNames) || equals == std::string_view::npos) {
            return false;
        }
        const auto place = static_cast<size_t>(name - kResourceNames);
        read.limits_[place] = ReadNumber(
            pair.substr(equals + 1), place == static_cast<size_t>(DeviceResource::kPinnedBytes));
        if (!read.limits_[place]) {
            return false;
        }
        more = comma != std::string_view::npos;
        rest.remove_prefix(more ? comma + 1 : 0);
    }
    *this = read;
    return true;
}

void DeviceLimits::Override(const DeviceLimits& others) {
    for (size_t resource = 0; resource < kDeviceResources; ++resource) {
        if (others.limits_[resource]) {
            limits_[resource] = others.limits_[resource];
        }
    }
}

bool DeviceLimits::Any() const {
    return std::any_of(limits_.begin(), limits_.end(),
                       [](const auto& limit) { return limit.has_value(); });
}

}  // namespace advstep
