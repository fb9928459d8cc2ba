// SPDX-License-Identifier: Apache-2.0
// Arguments of an operator, of which the input may spoil some, and both of its phases on them.

#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_machine.h"
#include "support/handles.h"

/// The tensors of a legal call, with another description in the place of some.
class FuzzTensors {
 public:
    using Tensors = std::vector<const aclTensor*>;

    FuzzTensors(Tensors legal, FuzzInput* input) : tensors_(std::move(legal)) {
        for (const aclTensor*& tensor : tensors_) {
            switch (input->Byte()) {
                case 1:
                    tensor = nullptr;
                    isSpoilt_ = true;
                    break;
                case 2:
                    tensor = Other(tensor, input);
                    isSpoilt_ = true;
                    break;
                case 3:  // perhaps an overlap
                    tensor = tensors_[static_cast<size_t>(input->Byte()) % tensors_.size()];
                    isSpoilt_ = true;
                    break;
                default:
                    break;
            }
        }
    }
    FuzzTensors(const FuzzTensors&) = delete;
    FuzzTensors& operator=(const FuzzTensors&) = delete;
    ~FuzzTensors() {
        for (const aclTensor* tensor : made_) {
            FUZZ_REQUIRE(aclDestroyTensor(tensor) == ACL_SUCCESS);
        }
    }

    const Tensors& Get() const { return tensors_; }
    /// Whether a tensor is another than that of the legal call; it may be legal all the same.
    bool IsSpoilt() const { return isSpoilt_; }

 private:
    // The same memory with another shape, strides, offset, dtype or format.
    const aclTensor* Other(const aclTensor* tensor, FuzzInput* input) {
        if (tensor == nullptr) {
            return nullptr;
        }
        int64_t* views = nullptr;
        uint64_t rank = 0;
        FUZZ_REQUIRE(aclGetViewShape(tensor, &views, &rank) == ACL_SUCCESS);
        std::vector<int64_t> shape(views, views + rank);
        delete[] views;
        void* address = nullptr;
        FUZZ_REQUIRE(aclGetRawTensorAddr(tensor, &address) == ACL_SUCCESS);
        aclDataType dtype = ACL_DT_UNDEFINED;
        FUZZ_REQUIRE(aclGetDataType(tensor, &dtype) == ACL_SUCCESS);

        aclFormat format = ACL_FORMAT_ND;
        std::vector<int64_t> strides;
        int64_t offset = 0;
        switch (input->Byte() % 8) {
            case 0:
                shape.push_back(input->Value(2));
                break;
            case 1:
                dtype = static_cast<aclDataType>(input->In(-1, 45));
                break;
            case 2:
                offset = input->Value(3);
                break;
            case 3:
                format = static_cast<aclFormat>(input->In(-1, 50));
                break;
            case 4:
                address = input->Byte() % 2 == 0 ? nullptr : static_cast<char*>(address) + 1;
                break;
            case 5:
                for (size_t i = 0; i < shape.size(); ++i) {
                    strides.push_back(input->Value(9));
                }
                break;
            case 6:
                shape.clear();
                break;
            default:
                if (!shape.empty()) {
                    shape[static_cast<size_t>(input->Byte()) % shape.size()] = input->Value(30);
                }
                break;
        }
        aclTensor* other = aclCreateTensor(shape.data(), shape.size(), dtype,
                                           strides.empty() ? nullptr : strides.data(), offset,
                                           format, shape.data(), shape.size(), address);
        if (other != nullptr) {
            made_.push_back(other);
        }
        return other;
    }

    Tensors tensors_;
    std::vector<const aclTensor*> made_;
    bool isSpoilt_ = false;
};

/// What phase one must say of the arguments. kUnknown: spoilt tensors, which may be legal all the
/// same, such as an offset that stays inside the memory.
enum class FuzzVerdict { kLegal, kIllegal, kUnknown };

inline FuzzVerdict VerdictOf(const FuzzTensors& tensors, bool attributesFit) {
    return tensors.IsSpoilt() ? FuzzVerdict::kUnknown
           : attributesFit    ? FuzzVerdict::kLegal
                              : FuzzVerdict::kIllegal;
}

/// A call, and what it must do.
struct FuzzCall {
    FuzzVerdict verdict;
    std::function<int(uint64_t*, aclOpExecutor**)> phaseOne;
    int (*phaseTwo)(void*, uint64_t, aclOpExecutor*, aclrtStream);
    /// Whether a synchronisation after the launch may return this; with what holds then in mind.
    std::function<bool(int)> isRight;
    /// Whether the tensors are what they were before the call; and what they must be after it.
    std::function<bool()> isUntouched, holds;
};

/// A refusal: a code, a message, and no executor.
inline void RequireRefusal(int status, const aclOpExecutor* executor) {
    FUZZ_REQUIRE(executor == nullptr);
    const char* message = aclGetRecentErrMsg();
    FUZZ_REQUIRE(message != nullptr && *message != '\0');
    FUZZ_REQUIRE(status == 161001 || status == 161002 || status == 561002 || status == 561000);
}

/// Both phases. The input may want another phase two than that planned: all but the last of these
/// spend the executor without a launch.
inline void RunCall(const FuzzCall& call, FuzzInput* input) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const int planned = call.phaseOne(&size, &executor);
    if (planned != ACLNN_SUCCESS) {
        FUZZ_REQUIRE(call.verdict != FuzzVerdict::kLegal);
        RequireRefusal(planned, executor);
        FUZZ_REQUIRE(call.isUntouched());
        return;
    }
    FUZZ_REQUIRE(call.verdict != FuzzVerdict::kIllegal);
    const support::DeviceBuffer memory(size + 1);
    void* const workspace = memory.Get();
    bool isLaunched = false;
    const int choice = input->Byte();
    if (choice == 1 && size > 0) {
        FUZZ_REQUIRE(call.phaseTwo(workspace, size - 1, executor, nullptr) == 161002);
    } else if (choice == 2 && size > 0) {
        FUZZ_REQUIRE(call.phaseTwo(nullptr, size, executor, nullptr) == 161001);
    } else if (choice == 3) {  // no stream of the library's
        FUZZ_REQUIRE(call.phaseTwo(workspace, size, executor, &size) != ACL_SUCCESS);
    } else if (choice == 4) {
        FUZZ_REQUIRE(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS);
    } else {
        const int launched = call.phaseTwo(workspace, size, executor, nullptr);
        isLaunched = launched == ACLNN_SUCCESS;
        FUZZ_REQUIRE(isLaunched || call.verdict != FuzzVerdict::kLegal);
    }
    FUZZ_REQUIRE(call.phaseTwo(workspace, size, nullptr, nullptr) == 161001);
    FUZZ_REQUIRE(call.phaseTwo(workspace, size, executor, nullptr) == 161002);
    const int synchronised = aclrtSynchronizeStream(nullptr);
    if (!isLaunched) {
        FUZZ_REQUIRE(synchronised == ACL_SUCCESS);
        FUZZ_REQUIRE(call.isUntouched());
    } else if (call.verdict == FuzzVerdict::kLegal) {
        FUZZ_REQUIRE(call.isRight(synchronised));
        FUZZ_REQUIRE(call.holds());
    }
}
