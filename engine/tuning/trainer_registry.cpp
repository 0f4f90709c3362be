// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/trainer_registry.h"

#include "engine/base/run_time_module.h"

namespace engine {

namespace {

constexpr const char* kTrainerKind = "trainer";
constexpr const char* kTrainerName = "torch";
constexpr const char* kGiveTrainerMaker = "swiftStudioGiveTrainerMaker";

} // namespace

Result<TrainerMaker> findTrainer(const std::filesystem::path& moduleFolder) {
    const ModuleFolder modules(moduleFolder, kTrainerKind);
    MakeTrainer maker = nullptr;
    const auto opened = modules.open(kTrainerName, kGiveTrainerMaker, [&maker](void* function) {
        reinterpret_cast<void (*)(MakeTrainer*)>(function)(&maker);
    });
    if (!opened && opened.error().code == ErrorCode::NotFound)
        return Error{
            ErrorCode::Unsupported,
            "This program was built without LibTorch, so it cannot train.",
            "Build it with LibTorch (SWIFT_STUDIO_TORCH=ON, which installer/run.sh does)."};
    ENGINE_TRY_DO(opened);
    ENGINE_CHECK(maker != nullptr, "the module {} gave no maker", kTrainerName);
    return TrainerMaker(maker);
}

} // namespace engine
