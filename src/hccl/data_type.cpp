// SPDX-License-Identifier: Apache-2.0
// The table of data types.

#include "src/hccl/data_type.h"

namespace advstep::hccl {
namespace {

struct TypeRow {
    HcclDataType type;
    const char* name;
    uint32_t size;
    bool reduces;
    bool reducesV;
};

constexpr TypeRow kTypes[] = {
    {HCCL_DATA_TYPE_INT8, "HCCL_DATA_TYPE_INT8", 1, true, true},
    {HCCL_DATA_TYPE_INT16, "HCCL_DATA_TYPE_INT16", 2, true, true},
    {HCCL_DATA_TYPE_INT32, "HCCL_DATA_TYPE_INT32", 4, true, true},
    {HCCL_DATA_TYPE_FP16, "HCCL_DATA_TYPE_FP16", 2, true, true},
    {HCCL_DATA_TYPE_FP32, "HCCL_DATA_TYPE_FP32", 4, true, true},
    {HCCL_DATA_TYPE_INT64, "HCCL_DATA_TYPE_INT64", 8, true, true},
    {HCCL_DATA_TYPE_UINT64, "HCCL_DATA_TYPE_UINT64", 8, true, false},
    {HCCL_DATA_TYPE_UINT8, "HCCL_DATA_TYPE_UINT8", 1, false, false},
    {HCCL_DATA_TYPE_UINT16, "HCCL_DATA_TYPE_UINT16", 2, false, false},
    {HCCL_DATA_TYPE_UINT32, "HCCL_DATA_TYPE_UINT32", 4, false, false},
    {HCCL_DATA_TYPE_FP64, "HCCL_DATA_TYPE_FP64", 8, true, false},
    {HCCL_DATA_TYPE_BFP16, "HCCL_DATA_TYPE_BFP16", 2, true, true},
    {HCCL_DATA_TYPE_INT128, "HCCL_DATA_TYPE_INT128", 16, false, false},
    {HCCL_DATA_TYPE_HIF8, "HCCL_DATA_TYPE_HIF8", 1, false, false},
    {HCCL_DATA_TYPE_FP8E4M3, "HCCL_DATA_TYPE_FP8E4M3", 1, false, false},
    {HCCL_DATA_TYPE_FP8E5M2, "HCCL_DATA_TYPE_FP8E5M2", 1, false, false},
    {HCCL_DATA_TYPE_FP8E8M0, "HCCL_DATA_TYPE_FP8E8M0", 1, false, false},
};

const TypeRow* RowOf(HcclDataType type) noexcept {
    for (const TypeRow& row : kTypes) {
        if (row.type == type) {
            return &row;
        }
    }
    return nullptr;
}

const char* Expected(Handling handling) {
    switch (handling) {
        case Handling::kReduces:
            return "expected INT8, INT16, INT32, INT64, UINT64, FP16, FP32, FP64 or BFP16";
        case Handling::kReducesV:
            return "expected INT8, INT16, INT32, INT64, FP16, FP32 or BFP16";
        case Handling::kCopies:
            break;
    }
    return "expected a type of 1, 2, 4 or 8 bytes";
}

}  // namespace

uint32_t SizeOf(HcclDataType type) noexcept {
    const TypeRow* const row = RowOf(type);
    return row == nullptr ? 0 : row->size;
}

const char* NameOf(HcclDataType type) noexcept {
    const TypeRow* const row = RowOf(type);
    return row == nullptr ? "unknown data type" : row->name;
}

const char* NameOf(HcclReduceOp op) noexcept {
    constexpr const char* kNames[] = {"HCCL_REDUCE_SUM", "HCCL_REDUCE_PROD", "HCCL_REDUCE_MAX",
                                      "HCCL_REDUCE_MIN"};
    const int number = static_cast<int>(op);
    return number >= 0 && number <= HCCL_REDUCE_MIN ? kNames[number] : "unknown operation";
}

Outcome CheckType(const char* argument, HcclDataType type, Handling handling) {
    const TypeRow* const row = RowOf(type);
    if (row == nullptr) {
        return Error(HCCL_E_PARA, argument, " is ", static_cast<int>(type),
                     "; expected an HcclDataType");
    }
    const bool takes = handling == Handling::kReduces    ? row->reduces
                       : handling == Handling::kReducesV ? row->reducesV
                                                         : row->size <= 8;
    return takes ? Outcome{}
                 : Error(HCCL_E_NOT_SUPPORT, argument, " is ", row->name, "; ", Expected(handling));
}

Outcome CheckOp(HcclReduceOp op) {
    const int number = static_cast<int>(op);
    return number >= 0 && number <= HCCL_REDUCE_MIN
               ? Outcome{}
               : Error(HCCL_E_PARA, "op is ", number,
                       "; expected HCCL_REDUCE_SUM 0, PROD 1, MAX 2 or MIN 3");
}

}  // namespace advstep::hccl
