// SPDX-License-Identifier: Apache-2.0
// The attributes of an operator that is called by name.

#pragma once

#include <map>
#include <string>

#include "acl/acl_op.h"

/// The attributes of one call, by name. Each value is kept as the text that messages show, because
/// no operator reads it. Only one thread at a time uses the object, so it has no lock.
struct aclopAttr {
    std::map<std::string, std::string> texts;
};
