// SPDX-License-Identifier: Apache-2.0
// Ends an example if a call fails, or if something that it claims does not hold. C and C++.
#ifndef EXAMPLES_CHECK_H_
#define EXAMPLES_CHECK_H_

#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"

static inline void Check(int code, const char* call) {
    if (code != ACL_SUCCESS) {
        const char* message = aclGetRecentErrMsg();
        fprintf(stderr, "%s returned %d: %s\n", call, code, message ? message : "no message");
        exit(EXIT_FAILURE); /* NOLINT(concurrency-mt-unsafe): nothing else exits */
    }
}
#define CHECK(call) Check((call), #call)

/* The device 0 of a program that needs one stream. */
static inline aclrtStream OpenStream(void) {
    aclrtStream stream = NULL;
    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    CHECK(aclrtCreateStream(&stream));
    return stream;
}
static inline void CloseStream(aclrtStream stream) {
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
}

static inline void Require(int holds, const char* what) {
    if (!holds) {
        fprintf(stderr, "not so: %s\n", what);
        exit(EXIT_FAILURE); /* NOLINT(concurrency-mt-unsafe): nothing else exits */
    }
}
#define REQUIRE(what) Require((what), #what)

#endif /* EXAMPLES_CHECK_H_ */
