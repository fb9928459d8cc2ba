// SPDX-License-Identifier: Apache-2.0
// Forwards to the header that this one was folded into.

#pragma once

#include "src/runtime/device/device.h"
