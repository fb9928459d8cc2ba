// SPDX-License-Identifier: Apache-2.0
// The attributes of an operator that is called by name.

#pragma once

#include <map>
#include <string>

#include "acl/acl_op.h"

/// Each value is kept as the text that a message shows, because no operator reads it. The object
/// belongs to one thread at a time, so it has no lock.
struct aclopAttr {
    std::map<std::string, std::string> texts;
};
