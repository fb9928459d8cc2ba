// SPDX-License-Identifier: Apache-2.0
// Scalars, arrays and lists. Operators of programs take scalars and arrays; the library's own
// operators take none of them.
#include <algorithm>
#include <memory>

#include "aclnn/acl_meta.h"
#include "advance_step/operator/core.h"
#include "src/aclnn/scalar.h"
#include "src/base/boundary.h"
#include "src/base/dtype.h"
#include "src/base/live_objects.h"

using namespace advstep;

namespace advstep {

template <typename T>
struct ArrayValues {
    // std::vector does not serve here, because std::vector<bool> packs bits.
    explicit ArrayValues(uint64_t count) : size(count), data(new T[count]) {}
    uint64_t size;
    std::unique_ptr<T[]> data;
};

}  // namespace advstep

struct aclIntArray : ArrayValues<int64_t> {
    using ArrayValues::ArrayValues;
};
struct aclFloatArray : ArrayValues<float> {
    using ArrayValues::ArrayValues;
};
struct aclBoolArray : ArrayValues<bool> {
    using ArrayValues::ArrayValues;
};
struct aclTensorList : ArrayValues<const aclTensor*> {
    using ArrayValues::ArrayValues;
};
struct aclScalarList : ArrayValues<const aclScalar*> {
    using ArrayValues::ArrayValues;
};

namespace {

template <typename Array, typename T>
Array* Create(const char* call, const T* value, uint64_t size) {
    Array* created = nullptr;
    (void)AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        if (value == nullptr && size > 0) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "value is null with size {}; expected {} values",
                         size, size);
        }
        auto array = std::make_unique<Array>(size);
        std::copy_n(value, size, array->data.get());
        created = array.release();
        NoteMade(ObjectKind::kArray, call, created);
        return {};
    });
    return created;
}

template <typename Array>
aclnnStatus Size(const char* call, const char* name, const Array* array, uint64_t* size) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        if (array == nullptr || size == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer",
                         array == nullptr ? name : "size");
        }
        *size = array->size;
        return {};
    });
}

template <typename Array, typename T>
aclnnStatus Read(const char* call, const Array* array, const T** values, uint64_t* count) {
    return AclnnBoundary(call, ACLNN_ERR_INNER, [&]() -> Status {
        if (array == nullptr || values == nullptr || count == nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, "{} is null; expected a pointer",
                         array == nullptr    ? "array"
                         : values == nullptr ? "values"
                                             : "count");
        }
        *values = array->data.get();
        *count = array->size;
        return {};
    });
}

template <typename Array>
aclnnStatus Destroy(const Array* array, ObjectKind kind = ObjectKind::kArray) {
    (void)Freeing(kind, array, [&] {
        delete array;
        return Status();
    });
    return ACLNN_SUCCESS;
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
        const auto* const bytes = static_cast<const unsigned char*>(value);
        created = new aclScalar{dataType, {bytes, bytes + size}};
        NoteMade(ObjectKind::kScalar, "aclCreateScalar", created);
        return {};
    });
    return created;
}

aclnnStatus aclDestroyScalar(const aclScalar* scalar) {
    return Destroy(scalar, ObjectKind::kScalar);
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
    return Create<aclIntArray>("aclCreateIntArray", value, size);
}
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return Destroy(array); }
aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
    return Size("aclGetIntArraySize", "array", array, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
    return Create<aclFloatArray>("aclCreateFloatArray", value, size);
}
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return Destroy(array); }
aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
    return Size("aclGetFloatArraySize", "array", array, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
    return Create<aclBoolArray>("aclCreateBoolArray", value, size);
}
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return Destroy(array); }
aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
    return Size("aclGetBoolArraySize", "array", array, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
    return Create<aclTensorList>("aclCreateTensorList", value, size);
}
aclnnStatus aclDestroyTensorList(const aclTensorList* array) {
    for (uint64_t index = 0; array != nullptr && index < array->size; ++index) {
        (void)aclDestroyTensor(array->data[index]);
    }
    return Destroy(array);
}
aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
    return Size("aclGetTensorListSize", "tensorList", tensorList, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
    return Create<aclScalarList>("aclCreateScalarList", value, size);
}
aclnnStatus aclDestroyScalarList(const aclScalarList* array) {
    for (uint64_t index = 0; array != nullptr && index < array->size; ++index) {
        (void)aclDestroyScalar(array->data[index]);
    }
    return Destroy(array);
}
aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
    return Size("aclGetScalarListSize", "scalarList", scalarList, size);
}

aclnnStatus advstepReadIntArray(const aclIntArray* array, const int64_t** values, uint64_t* count) {
    return Read("advstepReadIntArray", array, values, count);
}
aclnnStatus advstepReadFloatArray(const aclFloatArray* array, const float** values,
                                  uint64_t* count) {
    return Read("advstepReadFloatArray", array, values, count);
}
aclnnStatus advstepReadBoolArray(const aclBoolArray* array, const bool** values, uint64_t* count) {
    return Read("advstepReadBoolArray", array, values, count);
}
