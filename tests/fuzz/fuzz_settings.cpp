// aclInit with any bytes as its configuration file: a documented code, and a message when it fails.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "acl/acl.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    static char path[64];
    if (path[0] == '\0') {
        std::snprintf(path, sizeof(path), "/tmp/advance_step_fuzz_settings_%d.json",
                      static_cast<int>(getpid()));
        std::atexit([] { std::remove(path); });
    }
    std::FILE* const file = std::fopen(path, "wb");
    if (file == nullptr || std::fwrite(bytes, 1, size, file) != size || std::fclose(file) != 0) {
        std::abort();
    }
    switch (aclInit(path)) {
        case ACL_SUCCESS:
            if (aclrtGetSocName() == nullptr || aclFinalize() != ACL_SUCCESS) {
                std::abort();
            }
            return 0;
        case ACL_ERROR_PARSE_FILE:
        case ACL_ERROR_FILE_ATTR_INVALID:
            if (aclGetRecentErrMsg() == nullptr) {
                std::abort();
            }
            return 0;
        default:
            std::abort();
    }
}
