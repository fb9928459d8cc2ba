// SPDX-License-Identifier: Apache-2.0
// A named pipe for the length of one scope.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_TEMP_PIPE_H_
#define ADVANCE_STEP_TESTS_SUPPORT_TEMP_PIPE_H_

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "support/settings.h"

namespace support {

// It has neither a reader nor a writer, so a plain open would wait for ever.
class TempPipe {
 public:
    TempPipe() { EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0); }
    TempPipe(const TempPipe&) = delete;
    TempPipe& operator=(const TempPipe&) = delete;
    ~TempPipe() { unlink(path_.c_str()); }
    const char* Path() const { return path_.c_str(); }

 private:
    const TempFile place_{""};
    const std::string path_ = std::string(place_.Path()) + ".pipe";
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_TEMP_PIPE_H_
