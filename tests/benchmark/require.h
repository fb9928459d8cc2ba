// SPDX-License-Identifier: Apache-2.0
// Checks of return codes, and the device of a benchmark.

#pragma once

/// Ends the program, with the runtime's message, if a call failed.
void Require(int status);

/// Device 0 is set in this thread for as long as it lives.
class DeviceInUse {
 public:
    DeviceInUse();
    ~DeviceInUse();
    DeviceInUse(const DeviceInUse&) = delete;
    DeviceInUse& operator=(const DeviceInUse&) = delete;
};
