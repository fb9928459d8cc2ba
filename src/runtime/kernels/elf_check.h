// SPDX-License-Identifier: Apache-2.0
// The check of a shared object before the dynamic linker sees it.

#pragma once

#include <cstddef>

#include "src/base/status.h"

namespace advstep {

/// 107000: the bytes are no complete ELF shared object for this machine, or a part is damaged over
/// which the dynamic linker would crash, such as a tail of zeros. `name` is the argument.
Status CheckElf(const char* name, const unsigned char* bytes, size_t length);

}  // namespace advstep
