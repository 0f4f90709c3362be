// SPDX-License-Identifier: Apache-2.0
#include "engine/tuning/trainer_registry.h"

#include "engine/base/modules/run_time_module.h"

namespace engine {

namespace {

constexpr const char* kTrainerKind = "trainer";
constexpr const char* kTrainerName = "torch";
constexpr const char* kGiveTrainerMaker = "swiftStudioGiveTrainerMaker";
constexpr const char* kGiveModelTrainerMaker = "swiftStudioGiveModelTrainerMaker";

template <typename Maker, typename Make>
Result<Maker> findMaker(const std::filesystem::path& moduleFolder, const char* function) {
    const ModuleFolder modules(moduleFolder, kTrainerKind);
    Make maker = nullptr;
    const auto opened = modules.open(kTrainerName, function, [&maker](void* address) {
        reinterpret_cast<void (*)(Make*)>(address)(&maker);
    });
    if (!opened && opened.error().code == ErrorCode::NotFound)
        return Error{
            ErrorCode::Unsupported,
            "This program was built without LibTorch, so it cannot train.",
            "Build it with LibTorch (SWIFT_STUDIO_TORCH=ON, which installer/run.sh does)."};
    ENGINE_TRY_DO(opened);
    ENGINE_CHECK(maker != nullptr, "the module {} gave no maker", kTrainerName);
    return Maker(maker);
}

} // namespace

Result<TrainerMaker> findTrainer(const std::filesystem::path& moduleFolder) {
    return findMaker<TrainerMaker, MakeTrainer>(moduleFolder, kGiveTrainerMaker);
}

Result<ModelTrainerMaker> findModelTrainer(const std::filesystem::path& moduleFolder) {
    return findMaker<ModelTrainerMaker, MakeModelTrainer>(moduleFolder, kGiveModelTrainerMaker);
}

} // namespace engine
