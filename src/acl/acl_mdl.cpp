// SPDX-License-Identifier: Apache-2.0
// The calls of the dump of operators, which check their arguments and dump nothing.
#include "acl/acl_mdl.h"
#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/base/settings.h"
#include "src/runtime/lifecycle/process_options.h"

using namespace advstep;

namespace {

Status CheckDumping() {
    return TheProcessOptions().dumping.load()
               ? Status()
               : Error(ACL_ERROR_DUMP_NOT_RUN, "no dump has begun; expected aclmdlInitDump before");
}

}  // namespace

aclError aclmdlInitDump(void) {
    return AclBoundary("aclmdlInitDump", []() -> Status {
        if (TheProcessOptions().dumping.exchange(true)) {
            return Error(ACL_ERROR_REPEAT_INITIALIZE,
                         "a dump has begun already; expected aclmdlFinalizeDump before");
        }
        Log(LogLevel::kWarn, "aclmdlInitDump: the emulated device dumps nothing");
        return {};
    });
}

aclError aclmdlSetDump(const char* dumpCfgPath) {
    return AclBoundary("aclmdlSetDump", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(dumpCfgPath, "dumpCfgPath"));
        ADVSTEP_RETURN_IF_ERROR(CheckDumping());
        return CheckDumpFile(dumpCfgPath);
    });
}

aclError aclmdlFinalizeDump(void) {
    return AclBoundary("aclmdlFinalizeDump", []() -> Status {
        return TheProcessOptions().dumping.exchange(false) ? Status() : CheckDumping();
    });
}
