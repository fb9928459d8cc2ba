// SPDX-License-Identifier: Apache-2.0
// Shared objects for the host: opened from a file or from memory, searched, and closed.

#pragma once

#include <cstddef>
#include <string>

#include "src/base/status.h"

namespace advstep {

/// An open shared object. Its destructor closes it, which runs the object's own destructors. So the
/// owner holds no lock then.
class SharedObject {
 public:
    SharedObject() = default;
    SharedObject(SharedObject&& other) noexcept;
    SharedObject& operator=(SharedObject&& other) noexcept;
    ~SharedObject();

    /// Open the object. `lazy`: symbols that it needs are looked up when they are used. 107000: it
    /// cannot be read, is no shared object for this machine, is cut off, or lacks a symbol.
    static Status OpenFile(const char* path, bool lazy, SharedObject* object);
    static Status OpenData(const void* data, size_t length, bool lazy, SharedObject* object);

    /// Finds a symbol that the object itself exports, or returns null. The symbols of other
    /// libraries that it depends on are not meant.
    void* FindFunction(const char* name) const { return Find(name, true); }
    const void* FindData(const char* name) const { return Find(name, false); }

 private:
    void* Find(const char* name, bool function) const;

    void* handle_ = nullptr;
};

}  // namespace advstep
