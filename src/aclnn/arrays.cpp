// SPDX-License-Identifier: Apache-2.0
// Scalars, arrays and lists. Operators of programs take scalars and arrays; the library's own
// operators take none of them.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "aclnn/acl_meta.h"
#include "advance_step/operator/core.h"
#include "src/aclnn/object_pool.h"
#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"
#include "src/base/live_objects.h"

using namespace advstep;

namespace {

// A live object has one of these numbers, and a destroyed one has kNone.
enum class ValuesKind : uint32_t {
    kNone = 0,
    kScalar = 0x7E45A101,
    kIntArray,
    kFloatArray,
    kBoolArray,
    kTensorList,
    kScalarList,
};

// The object of the opaque handles of scalars, arrays and lists. It belongs to its creator. kind is
// atomic, because a program may use a destroyed object while another thread reuses it. One pool for
// all kinds costs each thread less memory than a pool for each.
struct Values {
    std::atomic<ValuesKind> kind{ValuesKind::kNone};
    aclDataType dataType = ACL_DT_UNDEFINED;  // of a scalar
    uint64_t count = 0;                       // values; of a scalar, bytes
    std::unique_ptr<unsigned char[]> bytes;
    Values* nextFree = nullptr;  // belongs to the ObjectPool
};

const char* WordOf(ValuesKind kind) {
    return kind == ValuesKind::kScalar                                          ? "scalar"
           : kind == ValuesKind::kTensorList || kind == ValuesKind::kScalarList ? "list"
                                                                                : "array";
}

ObjectKind ObjectOf(ValuesKind kind) {
    return kind == ValuesKind::kScalar ? ObjectKind::kScalar : ObjectKind::kArray;
}

template <typename Handle>
Values* ValuesOf(const Handle* handle) {
    return reinterpret_cast<Values*>(const_cast<Handle*>(handle));
}

Status DestroyedError(ValuesKind kind, const char* name) {
    return Error(ACLNN_ERR_PARAM_INVALID, "{} has been destroyed; expected a live {}", name,
                 WordOf(kind));
}

// Makes the object of a handle. Its bytes are aligned for each type of value.
template <typename Handle>
void Make(const char* call, ValuesKind kind, const void* bytes, size_t byteCount, uint64_t count,
          aclDataType dataType, Handle** created) {
    auto copied = std::make_unique<unsigned char[]>(byteCount);
    if (byteCount > 0) {
        std::memcpy(copied.get(), bytes, byteCount);
    }
    Values* const values = ObjectPool<Values>::Acquire();
    values->dataType = dataType;
    values->count = count;
    values->bytes = std::move(copied);
    values->kind.store(kind, std::memory_order_relaxed);
    *created = reinterpret_cast<Handle*>(values);
    NoteMade(ObjectOf(kind), call, values);
    DropRecentMessage();
}

template <typename Handle, typename T>
Handle* Create(const char* call, ValuesKind kind, const T* value, uint64_t size) {
    Handle* created = nullptr;
    (void)AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        if (value == nullptr && size > 0) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "value is null with size {}; expected {} values",
                         size, size);
        }
        if (size > std::numeric_limits<ptrdiff_t>::max() / sizeof(T)) {
            throw std::bad_alloc();
        }
        Make(call, kind, value, size * sizeof(T), size, ACL_DT_UNDEFINED, &created);
        return {};
    });
    return created;
}

template <typename Handle>
Status Find(ValuesKind kind, const char* name, const Handle* handle, const Values** found) {
    if (handle == nullptr) {
        return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer", name);
    }
    *found = ValuesOf(handle);
    return (*found)->kind.load(std::memory_order_relaxed) == kind ? Status()
                                                                  : DestroyedError(kind, name);
}

template <typename Handle>
aclnnStatus Size(const char* call, ValuesKind kind, const char* name, const Handle* handle,
                 uint64_t* size) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        const Values* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(Find(kind, name, handle, &found));
        if (size == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "size is null; expected a pointer");
        }
        *size = found->count;
        return {};
    });
}

template <typename Handle, typename T>
aclnnStatus Read(const char* call, ValuesKind kind, const Handle* array, const T** values,
                 uint64_t* count, const char* name = "values") {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        const Values* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(Find(kind, WordOf(kind), array, &found));
        if (values == nullptr || count == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer",
                         values == nullptr ? name : "count");
        }
        *values = reinterpret_cast<const T*>(found->bytes.get());
        *count = found->count;
        return {};
    });
}

// Ends a live object and takes its values. Returns whether it was alive.
template <typename Handle>
bool End(ValuesKind kind, const Handle* handle, Values* taken) {
    return Freeing(ObjectOf(kind), handle,
                   [&]() -> Status {
                       Values* const values = ValuesOf(handle);
                       ValuesKind alive = kind;
                       if (!values->kind.compare_exchange_strong(alive, ValuesKind::kNone,
                                                                 std::memory_order_relaxed)) {
                           return Status(ACLNN_ERR_PARAM_INVALID);
                       }
                       taken->count = values->count;
                       taken->bytes = std::move(values->bytes);
                       ObjectPool<Values>::Release(values);
                       return {};
                   })
        .ok();
}

template <typename Handle>
aclnnStatus Destroy(const char* call, ValuesKind kind, const Handle* handle) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        Values taken;
        return handle == nullptr || End(kind, handle, &taken) ? Status()
                                                              : DestroyedError(kind, WordOf(kind));
    });
}

// Destroys a list, and calls endMember for each member. A member that was destroyed before is left
// alone.
template <typename Member, typename Handle, typename EndMember>
aclnnStatus DestroyList(const char* call, ValuesKind kind, const Handle* list,
                        EndMember&& endMember) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        Values taken;
        if (list == nullptr) {
            return {};
        }
        if (!End(kind, list, &taken)) {
            return DestroyedError(kind, "array");
        }
        const auto* const members = reinterpret_cast<const Member* const*>(taken.bytes.get());
        for (uint64_t index = 0; index < taken.count; ++index) {
            if (members[index] != nullptr) {
                endMember(members[index]);
            }
        }
        return {};
    });
}

}  // namespace

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
    aclScalar* created = nullptr;
    (void)AclnnBoundary("aclCreateScalar", ACLNN_ERR_INNER, [&]() -> Status {
        if (value == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "value is null; expected a pointer");
        }
        const size_t size = SizeOf(dataType);
        if (size == 0) {
            return Error(ACLNN_ERR_PARAM_INVALID, "dataType is {}; expected one of whole bytes",
                         NameOf(dataType));
        }
        Make("aclCreateScalar", ValuesKind::kScalar, value, size, size, dataType, &created);
        return {};
    });
    return created;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
    return Destroy("aclDestroyScalar", ValuesKind::kScalar, scalar);
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
    return Create<aclIntArray>("aclCreateIntArray", ValuesKind::kIntArray, value, size);
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) {
    return Destroy("aclDestroyIntArray", ValuesKind::kIntArray, array);
}
aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    return Size("aclGetIntArraySize", ValuesKind::kIntArray, "array", array, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
    return Create<aclFloatArray>("aclCreateFloatArray", ValuesKind::kFloatArray, value, size);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) {
    return Destroy("aclDestroyFloatArray", ValuesKind::kFloatArray, array);
}
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
    return Size("aclGetFloatArraySize", ValuesKind::kFloatArray, "array", array, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
    return Create<aclBoolArray>("aclCreateBoolArray", ValuesKind::kBoolArray, value, size);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) {
    return Destroy("aclDestroyBoolArray", ValuesKind::kBoolArray, array);
}
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
    return Size("aclGetBoolArraySize", ValuesKind::kBoolArray, "array", array, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    return Create<aclTensorList>("aclCreateTensorList", ValuesKind::kTensorList, value, size);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
    return DestroyList<aclTensor>("aclDestroyTensorList", ValuesKind::kTensorList, array,
                                  [](const aclTensor* tensor) { (void)DestroyTensor(tensor); });
}
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
    return Size("aclGetTensorListSize", ValuesKind::kTensorList, "tensorList", tensorList, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
    return Create<aclScalarList>("aclCreateScalarList", ValuesKind::kScalarList, value, size);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
    return DestroyList<aclScalar>("aclDestroyScalarList", ValuesKind::kScalarList, array,
                                  [](const aclScalar* scalar) {
                                      Values taken;
                                      (void)End(ValuesKind::kScalar, scalar, &taken);
                                  });
}
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
    return Size("aclGetScalarListSize", ValuesKind::kScalarList, "scalarList", scalarList, size);
}

aclnnStatus advstepReadScalar(const aclScalar* scalar, AdvStepScalarValue* value) {
    return AclnnBoundary("advstepReadScalar", ACLNN_ERR_INNER, [&]() -> Status {
        const Values* found = nullptr;
        ADVSTEP_RETURN_IF_ERROR(Find(ValuesKind::kScalar, "scalar", scalar, &found));
        if (value == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "value is null; expected a pointer");
        }
        *value = {};
        value->dataType = found->dataType;
        value->byteCount = static_cast<uint32_t>(found->count);
        std::memcpy(value->bytes, found->bytes.get(), found->count);
        return {};
    });
}

aclnnStatus advstepReadTensorList(const aclTensorList* list, const aclTensor* const** tensors,
                                  uint64_t* count) {
    return Read("advstepReadTensorList", ValuesKind::kTensorList, list, tensors, count, "tensors");
}
aclnnStatus advstepReadScalarList(const aclScalarList* list, const aclScalar* const** scalars,
                                  uint64_t* count) {
    return Read("advstepReadScalarList", ValuesKind::kScalarList, list, scalars, count, "scalars");
}

aclnnStatus advstepReadIntArray(const aclIntArray* array, const int64_t** values, uint64_t* count) {
    return Read("advstepReadIntArray", ValuesKind::kIntArray, array, values, count);
}
aclnnStatus advstepReadFloatArray(const aclFloatArray* array, const float** values,
                                  uint64_t* count) {
    return Read("advstepReadFloatArray", ValuesKind::kFloatArray, array, values, count);
}
aclnnStatus advstepReadBoolArray(const aclBoolArray* array, const bool** values, uint64_t* count) {
    return Read("advstepReadBoolArray", ValuesKind::kBoolArray, array, values, count);
}
