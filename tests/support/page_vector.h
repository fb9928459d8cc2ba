// SPDX-License-Identifier: Apache-2.0
// Memory of the program that may be registered: aclrtHostRegister wants the start of a page.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_PAGE_VECTOR_H_
#define ADVANCE_STEP_TESTS_SUPPORT_PAGE_VECTOR_H_

#include <cstddef>
#include <new>
#include <vector>

namespace support {

template <typename T>
struct PageAllocator {
    using value_type = T;
    static constexpr std::align_val_t kPage{4096};

    PageAllocator() = default;
    template <typename U>
    explicit PageAllocator(const PageAllocator<U>& /*other*/) {}

    T* allocate(size_t count) { return static_cast<T*>(operator new(count * sizeof(T), kPage)); }
    void deallocate(T* values, size_t /*count*/) { operator delete(values, kPage); }

    friend bool operator==(const PageAllocator&, const PageAllocator&) { return true; }
    friend bool operator!=(const PageAllocator&, const PageAllocator&) { return false; }
};

/// A vector whose elements start a page.
template <typename T>
using PageVector = std::vector<T, PageAllocator<T>>;

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_PAGE_VECTOR_H_
