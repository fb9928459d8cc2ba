// SPDX-License-Identifier: Apache-2.0
// A device for a test: settings, tensors in its memory, and the two calls of an operator.

#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "advance_step/advance_step.hpp"

namespace own {

/// Emulated machines, which must not change a result: cores, threads and orders of cores.
struct Machine {
    const char* soc;
    const char* threads;
    const char* order;
};
inline constexpr Machine kMachines[] = {{"Ascend910B3", "2", "ascending"},
                                        {"sim:1", "1", "ascending"},
                                        {"sim:7", "3", "2"},
                                        {"sim:13", "4", "5"},
                                        {"sim:48", "2", "9"}};

/// Device 0, from the start of the runtime to its end.
class OwnDevice {
 public:
    explicit OwnDevice(const Machine& machine = kMachines[0]) {
        setenv("ADVANCE_STEP_SOC", machine.soc, 1);
        setenv("ADVANCE_STEP_THREADS", machine.threads, 1);
        setenv("ADVANCE_STEP_CORE_ORDER", machine.order, 1);
        EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
        EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    }
    OwnDevice(const OwnDevice&) = delete;
    OwnDevice& operator=(const OwnDevice&) = delete;
    ~OwnDevice() {
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
        EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
        unsetenv("ADVANCE_STEP_SOC");
        unsetenv("ADVANCE_STEP_THREADS");
        unsetenv("ADVANCE_STEP_CORE_ORDER");
    }
};

inline int64_t CountOf(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t dim : shape) {
        count *= dim;
    }
    return count;
}

/// A contiguous tensor of T in memory of its own.
template <typename T>
class OwnTensor {
 public:
    OwnTensor(std::vector<int64_t> shape, const std::vector<T>& values)
        : shape_(std::move(shape)),
          memory_(advance_step::Buffer::Allocate(values.empty() ? 1 : values.size() * sizeof(T))),
          count_(values.size()) {
        EXPECT_EQ(CountOf(shape_), static_cast<int64_t>(count_));
        if (count_ > 0) {
            memory_.Upload(values.data(), count_);
        }
        tensor_ = aclCreateTensor(shape_.data(), shape_.size(), advance_step::kDataType<T>, nullptr,
                                  0, ACL_FORMAT_ND, shape_.data(), shape_.size(), memory_.Data());
    }
    OwnTensor(const OwnTensor&) = delete;
    OwnTensor& operator=(const OwnTensor&) = delete;
    ~OwnTensor() { aclDestroyTensor(tensor_); }

    aclTensor* get() const { return tensor_; }
    void* address() const { return memory_.Data(); }
    void Upload(const std::vector<T>& values) { memory_.Upload(values.data(), values.size()); }
    std::vector<T> Values() const {
        std::vector<T> values(count_);
        if (count_ > 0) {
            memory_.Download(values.data(), count_);
        }
        return values;
    }

 private:
    std::vector<int64_t> shape_;
    advance_step::Buffer memory_;
    size_t count_;
    aclTensor* tensor_ = nullptr;
};

/// A scalar of T.
template <typename T>
class OwnScalar {
 public:
    explicit OwnScalar(T value) : scalar_(aclCreateScalar(&value, advance_step::kDataType<T>)) {}
    OwnScalar(const OwnScalar&) = delete;
    OwnScalar& operator=(const OwnScalar&) = delete;
    ~OwnScalar() { aclDestroyScalar(scalar_); }

    aclScalar* get() const { return scalar_; }

 private:
    aclScalar* scalar_;
};

/// Takes the thread's message; empty if there is none.
inline std::string Message() {
    const char* const message = aclGetRecentErrMsg();
    return message != nullptr ? message : "";
}

}  // namespace own
