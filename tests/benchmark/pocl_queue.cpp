// SPDX-License-Identifier: Apache-2.0
// Implements the queue on PoCL's basic device.

#define CL_TARGET_OPENCL_VERSION 120
#include "tests/benchmark/pocl_queue.h"

#include <CL/cl.h>

#include <cstddef>
#include <cstdlib>
#include <vector>

#include "tests/benchmark/require.h"

namespace {

// An installable driver for all vendors may have several platforms.
cl_device_id FindDevice() {
    setenv("POCL_DEVICES", "basic", 1);
    cl_uint count = 0;
    if (clGetPlatformIDs(0, nullptr, &count) != CL_SUCCESS) {
        return nullptr;
    }
    std::vector<cl_platform_id> platforms(count);
    Require(clGetPlatformIDs(count, platforms.data(), nullptr));
    for (cl_platform_id const platform : platforms) {
        char name[256] = {};
        Require(clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(name) - 1, name, nullptr));
        cl_device_id device = nullptr;
        if (std::string(name) == "Portable Computing Language" &&
            clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &device, nullptr) == CL_SUCCESS) {
            return device;
        }
    }
    return nullptr;
}

class OpenPoclQueue : public PoclQueue {
 public:
    ~OpenPoclQueue() override {
        clReleaseKernel(kernel_);
        clReleaseProgram(program_);
        clReleaseCommandQueue(queue_);
        clReleaseContext(context_);
    }

    // False if an object cannot be made: then the driver is of no use here.
    bool Make(cl_device_id device) {
        cl_int code = CL_SUCCESS;
        context_ = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
        if (code == CL_SUCCESS) {
            queue_ = clCreateCommandQueue(context_, device, 0, &code);
        }
        if (code == CL_SUCCESS) {
            const char* source = "__kernel void nothing() {}";
            program_ = clCreateProgramWithSource(context_, 1, &source, nullptr, &code);
        }
        if (code == CL_SUCCESS) {
            code = clBuildProgram(program_, 1, &device, "", nullptr, nullptr);
        }
        if (code == CL_SUCCESS) {
            kernel_ = clCreateKernel(program_, "nothing", &code);
        }
        return code == CL_SUCCESS;
    }

    void RoundTrip() override {
        const size_t one = 1;
        Require(
            clEnqueueNDRangeKernel(queue_, kernel_, 1, nullptr, &one, &one, 0, nullptr, nullptr));
        Require(clFinish(queue_));
    }

 private:
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
    cl_program program_ = nullptr;
    cl_kernel kernel_ = nullptr;
};

}  // namespace

std::shared_ptr<PoclQueue> PoclQueue::Open(std::string* whyNot) {
    cl_device_id const device = FindDevice();
    if (device == nullptr) {
        *whyNot = "no PoCL platform (pocl-opencl-icd)";
        return nullptr;
    }
    auto queue = std::make_shared<OpenPoclQueue>();
    if (!queue->Make(device)) {
        *whyNot = "PoCL does not build an empty kernel here";
        return nullptr;
    }
    return queue;
}
