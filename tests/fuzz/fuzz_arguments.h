// Arguments of both phases of an operator, of which the input may spoil some.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/aclnn_base.h"
#include "fuzz/fuzz_input.h"
#include "fuzz/fuzz_machine.h"

/// The tensors of a legal call, with another description in the place of some.
class FuzzArguments {
 public:
    using Tensors = std::vector<const aclTensor*>;

    FuzzArguments(Tensors legal, FuzzInput* input) : tensors_(std::move(legal)) {
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
    FuzzArguments(const FuzzArguments&) = delete;
    FuzzArguments& operator=(const FuzzArguments&) = delete;
    ~FuzzArguments() {
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

/// Phase two as the input wants it, with an executor that is not repeatable. Returns what the
/// launch as planned returned; nothing if the input made another call, which spends the executor,
/// too. `workspace` is device memory of workspaceSize bytes.
template <typename PhaseTwo>
std::optional<int> LaunchSomehow(PhaseTwo phaseTwo, void* workspace, uint64_t workspaceSize,
                                 aclOpExecutor* executor, FuzzInput* input) {
    const int choice = input->Byte();
    std::optional<int> launched;
    if (choice == 1 && workspaceSize > 0) {
        FUZZ_REQUIRE(phaseTwo(workspace, workspaceSize - 1, executor, nullptr) == 161002);
    } else if (choice == 2 && workspaceSize > 0) {
        FUZZ_REQUIRE(phaseTwo(nullptr, workspaceSize, executor, nullptr) == 161001);
    } else if (choice == 3) {  // no stream of the library's
        FUZZ_REQUIRE(phaseTwo(workspace, workspaceSize, executor, &workspaceSize) != 0);
    } else if (choice == 4) {
        FUZZ_REQUIRE(aclDestroyAclOpExecutor(executor) == ACL_SUCCESS);
    } else {
        launched = phaseTwo(workspace, workspaceSize, executor, nullptr);
    }
    FUZZ_REQUIRE(phaseTwo(workspace, workspaceSize, nullptr, nullptr) == 161001);
    FUZZ_REQUIRE(phaseTwo(workspace, workspaceSize, executor, nullptr) == 161002);
    return launched;
}
