// SPDX-License-Identifier: Apache-2.0
// Finds the library of an address, and keeps it loaded.

#include "src/aclnn/kept_library.h"

#include <dlfcn.h>
#include <link.h>

#include "aclnn/acl_meta.h"

namespace advstep {

std::string LibraryOf(const void* address) {
    Dl_info info;
    link_map* object = nullptr;
    const int found = dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP);
    return found == 0 || object == nullptr || object->l_name == nullptr ? "" : object->l_name;
}

Status KeepLoaded(const std::string& file) {
    if (file.empty()) {
        return {};  // the program itself is never unloaded
    }
    if (dlopen(file.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE) == nullptr) {
        const char* const why = dlerror();
        return Error(ACLNN_ERR_PARAM_INVALID,
                     "its library {} cannot be kept loaded: {}; expected one that dlopen finds",
                     file, why != nullptr ? why : "unknown reason");
    }
    return {};
}

}  // namespace advstep
