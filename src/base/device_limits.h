// SPDX-License-Identifier: Apache-2.0
// How many streams, events and other objects a device has, by SoC, for the sanitizer's check of
// limits.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace advstep {

/// What a device has a limited number of.
enum class DeviceResource : uint8_t {
    kStreams,  // of programs, and one for each branch of a captured model
    kEvents,
    kNotifies,
    kModels,
    kPinnedBytes,  // of the whole host
};

inline constexpr size_t kDeviceResources = 5;

/// Returns the name in ADVANCE_STEP_LIMITS and in findings.
const char* NameOf(DeviceResource resource);

/// The limits of a device. No value: not known, so there is none. 0: there is none.
class DeviceLimits {
 public:
    /// Returns the limits of a SoC that a public page tells.
    static DeviceLimits OfSoc(const std::string& soc);

    /// Reads NAME=NUMBER pairs with commas between them. Bytes may have K, M or G after the number.
    /// False: the text is none, and the limits have not changed.
    bool Read(const std::string& text);

    /// Takes the limits that `others` has.
    void Override(const DeviceLimits& others);

    std::optional<uint64_t> Of(DeviceResource resource) const {
        const std::optional<uint64_t>& limit = limits_[static_cast<size_t>(resource)];
        return limit && *limit == 0 ? std::nullopt : limit;
    }
    bool Any() const;
    bool operator==(const DeviceLimits& other) const { return limits_ == other.limits_; }

 private:
    std::array<std::optional<uint64_t>, kDeviceResources> limits_;
};

}  // namespace advstep
