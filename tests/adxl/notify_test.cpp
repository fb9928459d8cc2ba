// SPDX-License-Identifier: Apache-2.0
// Messages between engines.

#include "adxl/engines.h"

namespace transfer {
namespace {

// Takes the messages: at[0] is their number, text the name and the message of the last one.
void Take(Words* words) {
    std::vector<adxl::NotifyDesc> notifies;
    Keep(words, static_cast<int>(TheServed().engine.GetNotifies(notifies)));
    words->at[0] = notifies.size();
    if (!notifies.empty()) {
        const adxl::NotifyDesc& last = notifies.back();
        words->at[1] = last.notify_msg.GetLength();
        std::snprintf(words->text, sizeof(words->text), "%s=%s", last.name.GetString(),
                      last.notify_msg.GetString());
    }
}

TEST_F(TransferTest, AMessageComesBehindTheBytesBeforeIt) {
    const Registered mine(engine_, kCount, 7);
    ASSERT_TRUE(IsOk(Transfer(adxl::WRITE, {{mine.At(0), device_, mine.Bytes()}})));
    ASSERT_TRUE(IsOk(engine_.SendNotify(remote_.c_str(), {"first", "1"}, 60000)));
    ASSERT_TRUE(IsOk(engine_.SendNotify(remote_.c_str(), {"done", "layer 3"}, 60000)));
    const Words taken = other_->Run(&Take);
    EXPECT_EQ(taken.code, 0) << taken.text;
    EXPECT_EQ(taken.at[0], 2u);
    EXPECT_STREQ(taken.text, "done=layer 3");
    EXPECT_EQ(other_->Run(&Sum).at[0], SumOf(Numbers(kCount, 7)));
    EXPECT_EQ(other_->Run(&Take).at[0], 0u);
    // Zero bytes are bytes, and a message may be empty.
    ASSERT_TRUE(
        IsOk(engine_.SendNotify(remote_.c_str(), {"", adxl::AscendString("a\0b", 3)}, 60000)));
    EXPECT_EQ(other_->Run(&Take).at[1], 3u);
}

TEST_F(TransferTest, MessagesHaveALimit) {
    const std::string most(4096, 'x');
    const std::string more(4097, 'x');
    const char* const remote = remote_.c_str();
    EXPECT_TRUE(IsOk(engine_.SendNotify(remote, {most.c_str(), most.c_str()}, 60000)));
    EXPECT_TRUE(IsError(kInvalid, engine_.SendNotify(remote, {more.c_str(), ""}), {"4097"}));
    EXPECT_TRUE(IsError(kInvalid, engine_.SendNotify(remote, {"", more.c_str()}), {"4097"}));
    for (int i = 1; i < 4096; ++i) {
        ASSERT_TRUE(IsOk(engine_.SendNotify(remote, {"n", "m"}, 60000)));
    }
    EXPECT_TRUE(IsError(adxl::NOTIFY_FAILED, engine_.SendNotify(remote, {"n", "m"}, 60000),
                        {"4096 messages", "GetNotifies"}));
    EXPECT_EQ(other_->Run(&Take).at[0], 4096u);
    EXPECT_TRUE(IsOk(engine_.SendNotify(remote, {"n", "m"}, 60000)));
    KillOther();
    EXPECT_TRUE(IsCode(kNotConnected, engine_.SendNotify(remote, {"n", "m"}, 60000)));
}

}  // namespace
}  // namespace transfer
