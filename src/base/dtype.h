// SPDX-License-Identifier: Apache-2.0
// Sizes and names of data types and formats.

#pragma once

#include <cstddef>
#include <string>

#include "acl/acl_base.h"

namespace advstep {

/// Returns the bytes of one element; 0 for types without a whole number of bytes and for unknown
/// values.
size_t SizeOf(aclDataType dataType);

/// Returns the name as the public header spells it, static text; null for unknown values.
const char* KnownNameOf(aclDataType dataType);
const char* KnownNameOf(aclFormat format);

/// Returns the name as the public header spells it, or the number for unknown values.
std::string NameOf(aclDataType dataType);
std::string NameOf(aclFormat format);

}  // namespace advstep
