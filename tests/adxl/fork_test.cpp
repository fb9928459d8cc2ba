// SPDX-License-Identifier: Apache-2.0
// An engine in the child of a fork.

#include "adxl/engines.h"

namespace transfer {
namespace {

class ForkTest : public support::DeviceTest {};

// The parent's engine refuses in the child, which keeps none of its sockets: the parent's end is
// seen, although the child lives on. The child can have an engine of its own.
TEST_F(ForkTest, TheChildHasNoEngineOfTheParent) {
    static AdxlEngine* engine;
    AdxlEngine parents;
    engine = &parents;
    const int port = InitializeAnywhere(&parents);
    ASSERT_NE(port, 0);
    AdxlEngine client;
    ASSERT_TRUE(IsOk(client.Initialize("127.0.0.1", {})));
    ASSERT_TRUE(IsOk(client.Connect(NameOf(port).c_str(), 60000)));
    ChildProcess child(ChildProcess::Kind::kFork);
    const Words words = child.Run([](Words* w) {
        adxl::MemHandle handle = nullptr;
        w->at[0] = engine->RegisterMem({}, adxl::MEM_HOST, handle);
        std::snprintf(w->text, sizeof(w->text), "%s", support::TakeMessage().c_str());
        engine->Finalize();
        AdxlEngine own;
        w->at[1] = own.Initialize("127.0.0.1", {});
    });
    EXPECT_EQ(words.at[0], static_cast<uint64_t>(kFailed));
    EXPECT_NE(std::string(words.text).find("parent"), std::string::npos) << words.text;
    EXPECT_EQ(words.at[1], 0u);
    EXPECT_TRUE(IsCode(adxl::ALREADY_CONNECTED, client.Connect(NameOf(port).c_str(), 60000)));
    parents.Finalize();
    EXPECT_TRUE(IsCode(kNotConnected, client.Connect(NameOf(port).c_str(), 60000)));
    EXPECT_EQ(InitializeAnywhere(&parents) != 0, true);
}

}  // namespace
}  // namespace transfer
