// SPDX-License-Identifier: Apache-2.0
// Parses the options of processes, sessions and graphs.

#include "src/graph/options.h"

#include <charconv>
#include <cstring>

#include "acl/acl.h"
#include "ge/ge_api_types.h"
#include "src/graph/messages.h"

namespace advstep::graph {
namespace {

Outcome ParseInteger(const char* key, const char* text, int32_t* value) {
    const char* end = text + std::strlen(text);
    const auto [rest, error] = std::from_chars(text, end, *value);
    if (error != std::errc() || rest != end) {
        return Fail(kBadOption, "option {} is \"{}\"; expected an integer", key, text);
    }
    return {};
}

// Warns of a device that does not exist, which no later call reports.
void WarnIfMissing(const char* key, int32_t deviceId) {
    uint32_t count = 0;
    if (deviceId >= 0 && aclrtGetDeviceCount(&count) == ACL_SUCCESS &&
        static_cast<uint32_t>(deviceId) >= count) {
        ReportWarning(
            fmt::format("Unknown_Device(W10059): option {} is {}; there are {} devices, and "
                        "device 0 runs the graphs",
                        key, deviceId, count));
    }
}

}  // namespace

Outcome ParseOptions(const OptionMap& options, Options* parsed) {
    Options read;
    for (const auto& [key, value] : options) {
        if (key.GetLength() == 0) {
            return Fail(kBadOption, "the key of an option is empty; its value is \"{}\"",
                        value.GetString());
        }
        int32_t number = 0;
        if (key == ge::OPTION_GRAPH_RUN_MODE) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                ParseInteger(key.GetString(), value.GetString(), &number));
        } else if (key == ge::OPTION_EXEC_DEVICE_ID) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                ParseInteger(key.GetString(), value.GetString(), &number));
            if (number < -1) {
                return Fail(kBadOption, "option {} is {}; expected -1 or a device's number",
                            key.GetString(), number);
            }
            WarnIfMissing(key.GetString(), number);
            read.deviceId = number;
        } else if (key != ge::ir_option::SOC_VERSION && key != ge::ir_option::PRECISION_MODE) {
            ReportWarning(fmt::format("Unknown_Option(W10059): option {} is unknown and ignored",
                                      key.GetString()));
        }
    }
    *parsed = read;
    return {};
}

}  // namespace advstep::graph
