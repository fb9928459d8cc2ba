// SPDX-License-Identifier: Apache-2.0
// The functions of python_frames.h under names that ctypes finds.
#include <cstddef>
#include <string>
#include <thread>

#include "torch_kernels/device/python_frames.h"

extern "C" {

__attribute__((visibility("default"))) size_t readFrames(char* text, size_t room) {
    return advstep_torch::PythonFrames(text, room);
}

__attribute__((visibility("default"))) int readFramesInAThread() {
    size_t size = 1;
    std::thread([&size] {
        char text[100];
        size = advstep_torch::PythonFrames(text, sizeof(text));
    }).join();
    return static_cast<int>(size);
}

__attribute__((visibility("default"))) void setFolder(const char* folder) {
    advstep_torch::SetLibraryFolders({folder});
}
}
