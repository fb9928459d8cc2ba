// SPDX-License-Identifier: Apache-2.0
// The secret that the engines of one user on one host share.

#pragma once

#include "src/adxl/outcome.h"
#include "src/runtime/memory/share_key.h"

namespace advstep::transfer {

/// Reads the user's secret, a file in memory that only this user can read, and makes it if there is
/// none. Processes without it, such as those of containers that share only the network, find no
/// engine of this user.
Outcome ReadUserSecret(ShareKey* secret);

}  // namespace advstep::transfer
