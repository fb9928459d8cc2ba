// SPDX-License-Identifier: Apache-2.0
// The arguments of aclrtMemcpyBatch and aclrtMemcpyBatchAsync.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_COPY_BATCH_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_COPY_BATCH_H_

#include <cstddef>
#include <vector>

#include "acl/acl.h"

namespace conformance {

inline constexpr size_t kUntouched = 7777;
inline constexpr aclrtMemLocation kHost{0, ACL_MEM_LOCATION_TYPE_HOST};
inline constexpr aclrtMemLocation kDevice0{0, ACL_MEM_LOCATION_TYPE_DEVICE};
inline constexpr aclrtMemLocation kDevice1{1, ACL_MEM_LOCATION_TYPE_DEVICE};

// The arguments of a batch call.
struct CopyBatch {
    std::vector<void*> dsts, srcs;
    std::vector<size_t> destMaxs, sizes;
    std::vector<aclrtMemcpyBatchAttr> attrs;
    std::vector<size_t> attrsIndexes;
    size_t failIndex = kUntouched;

    void Govern(aclrtMemLocation dst, aclrtMemLocation src) {
        aclrtMemcpyBatchAttr attr{};
        attr.dstLoc = dst;
        attr.srcLoc = src;
        attrs.push_back(attr);
        attrsIndexes.push_back(dsts.size());
    }
    void Add(void* dst, const void* src, size_t size) {
        dsts.push_back(dst);
        srcs.push_back(const_cast<void*>(src));
        destMaxs.push_back(size);
        sizes.push_back(size);
    }
    aclError Now() {
        return aclrtMemcpyBatch(dsts.data(), destMaxs.data(), srcs.data(), sizes.data(),
                                dsts.size(), attrs.data(), attrsIndexes.data(), attrs.size(),
                                &failIndex);
    }
    aclError InStream(aclrtStream stream) {
        return aclrtMemcpyBatchAsync(dsts.data(), destMaxs.data(), srcs.data(), sizes.data(),
                                     dsts.size(), attrs.data(), attrsIndexes.data(), attrs.size(),
                                     &failIndex, stream);
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_COPY_BATCH_H_
