// SPDX-License-Identifier: Apache-2.0
// Reads the arguments of a call.

#include "src/operators/entry/call_reader.h"

#include <cstring>
#include <type_traits>

namespace advstep_operators {
namespace {

const char* WordOf(Kind kind) {
    switch (kind) {
        case Kind::kTensor:
            return "a tensor";
        case Kind::kTensorList:
            return "a list of tensors";
        case Kind::kScalar:
            return "a scalar";
        case Kind::kScalarList:
            return "a list of scalars";
        case Kind::kText:
            return "a text";
        case Kind::kResult:
            return "a pointer";
        default:
            return "an array";
    }
}

bool IsObject(Kind kind) {
    return kind != Kind::kInt && kind != Kind::kReal && kind != Kind::kFlag &&
           kind != Kind::kDataType;
}

// Strides of dims of size 1 mean nothing, and clients leave anything there.
int64_t StrideOf(const AdvStepTensorView& view, int64_t axis) {
    return view.dims[axis] == 1 ? 0 : view.strides[axis];
}

template <typename List, typename Member>
using ReadList = aclnnStatus (*)(const List*, const Member* const**, uint64_t*);

// Adds the words of one call to a key.
class KeyReader {
 public:
    explicit KeyReader(CallKey* key) : key_(*key) {}

    Refusal Read(const ArgumentSpec& spec, const Argument& argument) {
        if (!IsObject(spec.kind)) {
            Add(static_cast<uint64_t>(argument.integer));
            return {};
        }
        if (argument.object == nullptr) {
            Add(kNull);
            return spec.optional ? Refusal()
                                 : Refusal{ACLNN_ERR_PARAM_NULLPTR, std::string(spec.name) +
                                                                        " is null; expected " +
                                                                        WordOf(spec.kind)};
        }
        hole_ = false;
        const bool isRead = ReadObject(spec.kind, argument.object);
        if (hole_) {
            return {ACLNN_ERR_PARAM_NULLPTR,
                    std::string(spec.name) + " has null as a member; expected a scalar"};
        }
        return isRead
                   ? Refusal()
                   : Refusal{ACLNN_ERR_PARAM_INVALID,
                             std::string(spec.name) + " is none, or has been destroyed; expected " +
                                 WordOf(spec.kind)};
    }

 private:
    static constexpr uint64_t kNull = 0;
    static constexpr uint64_t kPresent = uint64_t{1} << 63;

    void Add(uint64_t word) { key_.words.push_back(word); }

    void AddBytes(const void* bytes, size_t count) {
        const size_t begin = key_.words.size();
        Add(kPresent | count);
        key_.words.resize(begin + 1 + (count + sizeof(uint64_t) - 1) / sizeof(uint64_t));
        if (count > 0) {
            std::memcpy(key_.words.data() + begin + 1, bytes, count);
        }
    }

    bool ReadObject(Kind kind, const void* object) {
        switch (kind) {
            case Kind::kTensor:
                return ReadTensor(static_cast<const aclTensor*>(object));
            case Kind::kTensorList:
                return ReadMembers<aclTensorList, aclTensor>(
                    object, &advstepReadTensorList,
                    [&](const aclTensor* member) { return ReadTensor(member); });
            case Kind::kScalar:
                return ReadScalar(static_cast<const aclScalar*>(object));
            case Kind::kScalarList:
                return ReadMembers<aclScalarList, aclScalar>(
                    object, &advstepReadScalarList,
                    [&](const aclScalar* member) { return ReadScalar(member); });
            case Kind::kIntArray:
                return ReadArray<aclIntArray>(object, &advstepReadIntArray);
            case Kind::kFloatArray:
                return ReadArray<aclFloatArray>(object, &advstepReadFloatArray);
            case Kind::kBoolArray:
                return ReadArray<aclBoolArray>(object, &advstepReadBoolArray);
            case Kind::kText: {
                const auto* const text = static_cast<const char*>(object);
                AddBytes(text, std::strlen(text));
                return true;
            }
            default:
                Add(kPresent);
                return true;
        }
    }

    bool ReadTensor(const aclTensor* tensor) {
        AdvStepTensorView view;
        if (advstepReadTensor(tensor, &view) != ACLNN_SUCCESS) {
            return false;
        }
        Add(kPresent | static_cast<uint64_t>(view.rank) << 48 |
            static_cast<uint64_t>(static_cast<uint32_t>(view.format) & 0xFFFF) << 32 |
            static_cast<uint64_t>(static_cast<uint32_t>(view.dataType)));
        Add(static_cast<uint64_t>(view.offset));
        for (int64_t axis = 0; axis < view.rank; ++axis) {
            Add(static_cast<uint64_t>(view.dims[axis]));
            Add(static_cast<uint64_t>(StrideOf(view, axis)));
        }
        key_.addresses.push_back(view.data);
        return true;
    }

    bool ReadScalar(const aclScalar* scalar) {
        AdvStepScalarValue value;
        if (advstepReadScalar(scalar, &value) != ACLNN_SUCCESS) {
            return false;
        }
        Add(kPresent | static_cast<uint64_t>(static_cast<uint32_t>(value.dataType)));
        const size_t begin = key_.words.size();
        key_.words.resize(begin + sizeof value.bytes / sizeof(uint64_t));
        std::memcpy(key_.words.data() + begin, value.bytes, sizeof value.bytes);
        return true;
    }

    template <typename List, typename Member, typename Read>
    bool ReadMembers(const void* object, ReadList<List, Member> readList, Read&& read) {
        const Member* const* members = nullptr;
        uint64_t count = 0;
        if (readList(static_cast<const List*>(object), &members, &count) != ACLNN_SUCCESS) {
            return false;
        }
        Add(kPresent | count);
        for (uint64_t place = 0; place < count; ++place) {
            if (members[place] == nullptr && std::is_same_v<Member, aclScalar>) {
                hole_ = true;
                return false;
            }
            if (members[place] == nullptr) {
                Add(kNull);
            } else if (!read(members[place])) {
                return false;
            }
        }
        return true;
    }

    template <typename Array, typename T>
    bool ReadArray(const void* object,
                   aclnnStatus (*readArray)(const Array*, const T**, uint64_t*)) {
        const T* values = nullptr;
        uint64_t count = 0;
        if (readArray(static_cast<const Array*>(object), &values, &count) != ACLNN_SUCCESS) {
            return false;
        }
        AddBytes(values, count * sizeof(T));
        return true;
    }

    CallKey& key_;
    bool hole_ = false;  // the list of scalars that was read last has a null member
};

// Copies the values of one call. Everything has been read once, so nothing fails.
class ValueReader {
 public:
    explicit ValueReader(CallPlan* plan) : plan_(*plan) {}

    void Read(const ArgumentSpec& spec, const Argument& argument, Value* value) {
        if (!IsObject(spec.kind)) {
            value->isNull = false;
            value->integer = argument.integer;
            return;
        }
        const bool holdsTensors = spec.kind == Kind::kTensor || spec.kind == Kind::kTensorList;
        if (argument.object != nullptr) {
            value->isNull = false;
            ReadObject(spec, argument.object, value);
        }
        place_ += holdsTensors ? 1 : 0;
    }

 private:
    void ReadObject(const ArgumentSpec& spec, const void* object, Value* value) {
        switch (spec.kind) {
            case Kind::kTensor: {
                const int32_t place = AddTensor(spec, static_cast<const aclTensor*>(object), -1);
                value->count = 1;
                value->tensors = plan_.Keep(&place, 1);
                return;
            }
            case Kind::kTensorList:
                ReadTensors(spec, object, value);
                return;
            case Kind::kScalar: {
                const AdvStepScalarValue scalar = ScalarOf(static_cast<const aclScalar*>(object));
                value->count = 1;
                value->scalars = plan_.Keep(&scalar, 1);
                return;
            }
            case Kind::kScalarList:
                ReadScalars(object, value);
                return;
            case Kind::kIntArray:
                value->integers = KeepArray<aclIntArray>(object, &advstepReadIntArray, value);
                return;
            case Kind::kFloatArray:
                value->reals = KeepArray<aclFloatArray>(object, &advstepReadFloatArray, value);
                return;
            case Kind::kBoolArray:
                value->flags = KeepArray<aclBoolArray>(object, &advstepReadBoolArray, value);
                return;
            case Kind::kText: {
                const auto* const text = static_cast<const char*>(object);
                value->count = static_cast<uint32_t>(std::strlen(text));
                value->text = plan_.Keep(text, value->count + size_t{1});
                return;
            }
            default:
                return;
        }
    }

    int32_t AddTensor(const ArgumentSpec& spec, const aclTensor* tensor, int32_t member) {
        AdvStepHostTensor made{};
        (void)advstepReadTensor(tensor, &made.view);
        const AdvStepTensorView& view = made.view;
        std::vector<int64_t> strides(static_cast<size_t>(view.rank));
        for (int64_t axis = 0; axis < view.rank; ++axis) {
            strides[static_cast<size_t>(axis)] = StrideOf(view, axis);
        }
        made.view.dims = plan_.Keep(view.dims, strides.size());
        made.view.strides = plan_.Keep(strides.data(), strides.size());
        made.view.data = nullptr;
        made.name = spec.name;
        made.access = spec.access;
        made.argument = place_;
        made.member = member;
        plan_.tensors.push_back(made);
        plan_.views.push_back(made.view);
        return static_cast<int32_t>(plan_.tensors.size()) - 1;
    }

    static AdvStepScalarValue ScalarOf(const aclScalar* scalar) {
        AdvStepScalarValue value{};
        (void)advstepReadScalar(scalar, &value);
        return value;
    }

    void ReadTensors(const ArgumentSpec& spec, const void* object, Value* value) {
        const aclTensor* const* members = nullptr;
        uint64_t count = 0;
        (void)advstepReadTensorList(static_cast<const aclTensorList*>(object), &members, &count);
        std::vector<int32_t> places(count, -1);
        for (uint64_t place = 0; place < count; ++place) {
            if (members[place] != nullptr) {
                places[place] = AddTensor(spec, members[place], static_cast<int32_t>(place));
            }
        }
        value->count = static_cast<uint32_t>(count);
        value->tensors = plan_.Keep(places.data(), count);
    }

    void ReadScalars(const void* object, Value* value) {
        const aclScalar* const* members = nullptr;
        uint64_t count = 0;
        (void)advstepReadScalarList(static_cast<const aclScalarList*>(object), &members, &count);
        std::vector<AdvStepScalarValue> scalars;
        for (uint64_t place = 0; place < count; ++place) {
            scalars.push_back(members[place] != nullptr ? ScalarOf(members[place])
                                                        : AdvStepScalarValue{});
        }
        value->count = static_cast<uint32_t>(count);
        value->scalars = plan_.Keep(scalars.data(), count);
    }

    template <typename Array, typename T>
    const T* KeepArray(const void* object,
                       aclnnStatus (*readArray)(const Array*, const T**, uint64_t*), Value* value) {
        const T* values = nullptr;
        uint64_t count = 0;
        (void)readArray(static_cast<const Array*>(object), &values, &count);
        value->count = static_cast<uint32_t>(count);
        return plan_.Keep(values, count);
    }

    CallPlan& plan_;
    uint32_t place_ = 0;  // of the argument among tensors and lists
};

}  // namespace

uint64_t CallKey::Hash() const {
    constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
    uint64_t hash = words.size();
    for (const uint64_t word : words) {
        hash = (hash ^ word) * kOdd;
        hash ^= hash >> 29;
    }
    return hash;
}

Refusal ReadKey(const FunctionSpec& function, const Argument* arguments, CallKey* key) {
    key->words.clear();
    key->addresses.clear();
    key->words.push_back(reinterpret_cast<uint64_t>(&function));
    KeyReader reader(key);
    for (uint32_t place = 0; place < function.argumentCount; ++place) {
        if (Refusal refusal = reader.Read(function.arguments[place], arguments[place]);
            !refusal.ok()) {
            return refusal;
        }
    }
    return {};
}

void ReadValues(const FunctionSpec& function, const Argument* arguments, CallPlan* plan) {
    plan->values.resize(function.argumentCount);
    ValueReader reader(plan);
    for (uint32_t place = 0; place < function.argumentCount; ++place) {
        reader.Read(function.arguments[place], arguments[place], &plan->values[place]);
    }
    plan->call = {&function, plan->values.data()};
}

}  // namespace advstep_operators
