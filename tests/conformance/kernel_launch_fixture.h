// SPDX-License-Identifier: Apache-2.0
// Launches of kernels on rows of values.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_LAUNCH_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_LAUNCH_FIXTURE_H_

#include <string>
#include <vector>

#include "conformance/kernel_fixture.h"

namespace conformance {

inline constexpr int kFault = ACL_ERROR_RT_VECTOR_CORE_EXCEPTION;

// A row of values in device memory and the arguments that name it.
struct Values {
    explicit Values(std::vector<int64_t> values) : memory(values), count(values.size()) {}
    RowArguments With(int64_t number) const {
        return {static_cast<int64_t*>(memory.Get()), static_cast<int64_t>(count), number};
    }
    std::vector<int64_t> Read() const { return memory.Download<int64_t>(); }

    DeviceBuffer memory;
    size_t count;
};

inline aclrtLaunchKernelAttr Attribute(int id) {
    aclrtLaunchKernelAttr attribute{};
    attribute.id = static_cast<aclrtLaunchKernelAttrId>(id);
    return attribute;
}

class KernelLaunchTest : public KernelTest {
 protected:
    aclError LaunchAndWait(const char* name, uint32_t blocks, const RowArguments& arguments) const {
        const aclError launched = LaunchWith(Function(name), blocks, arguments, nullptr);
        return launched == ACL_SUCCESS ? aclrtSynchronizeStream(nullptr) : launched;
    }
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_KERNEL_LAUNCH_FIXTURE_H_
