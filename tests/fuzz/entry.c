// SPDX-License-Identifier: Apache-2.0
// Gives one of the targets, FUZZ_TARGET, the name that libFuzzer and replay_main.cpp call.
#include <stddef.h>
#include <stdint.h>

int FUZZ_TARGET(const uint8_t* bytes, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) { return FUZZ_TARGET(bytes, size); }
