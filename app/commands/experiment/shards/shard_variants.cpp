// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/shards/shard_variants.h"

#include "app/commands/options/decoder_options.h"

namespace app {

using namespace engine;

namespace {

constexpr const char* kSearchSeed = "search_seed";
constexpr const char* kSkipSet = "skip_set";

/// A decoder that this model or this build cannot run; the others can.
bool isOwn(ErrorCode code) {
    return code == ErrorCode::Unsupported || code == ErrorCode::InvalidInput ||
           code == ErrorCode::NotFound || code == ErrorCode::Internal;
}

std::vector<std::string> typedSettings(const RunVariant& variant) {
    std::vector<std::string> typed;
    for (const auto& [name, value] : variant.settings)
        typed.push_back(fmt::format("{}={}", name, value));
    return typed;
}

/// The last set that a variant of an earlier stage has found for a task.
Result<SkipSet> foundSet(const VariantRequest& request, const RunVariant& variant) {
    const std::string task =
        variant.usesOwnSet() ? request.shard.task.value_or("") : variant.setTask;
    const ShardPlan* found = nullptr;
    std::vector<ShardResult> results;
    for (const int needed : request.folder.plan().needs(request.shard)) {
        ENGINE_TRY(ShardResult result, request.folder.result(needed));
        results.push_back(std::move(result));
    }
    for (const ShardResult& result : results)
        for (const ShardPlan& plan : result.plans)
            if (plan.variant == variant.setFrom && plan.task == task)
                found = &plan;
    if (found == nullptr)
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} has found no skip set for the task {}, so {} has nothing to "
                                 "draft with.",
                                 variant.setFrom,
                                 task,
                                 variant.name),
                     "Give it more prompts or trials."};
    return SkipSet{found->attention, found->mlp};
}

Result<SettingValues> settingsOf(const VariantRequest& request, const RunVariant& variant) {
    std::vector<std::string> typed = typedSettings(variant);
    ENGINE_TRY(const DecoderInfo info, request.registry.info(variant.decoder));
    const bool hasSeed = findSetting(info.settings, kSearchSeed) != nullptr;
    if (hasSeed && !variant.settings.contains(kSearchSeed))
        typed.push_back(fmt::format("{}={}", kSearchSeed, request.shard.seed % 1'000'000'000));
    const auto learnt = request.learnt.find(variant.name);
    const bool goesOn = learnt != request.learnt.end() && findSetting(info.settings, kSkipSet);
    if (!variant.setFrom.empty() || goesOn) {
        SkipSet set;
        if (goesOn) {
            set = learnt->second;
            std::erase_if(typed, [](const std::string& setting) {
                return setting.starts_with("start=") || setting.starts_with("skip_set=");
            });
        } else {
            ENGINE_TRY(set, foundSet(request, variant));
        }
        typed.emplace_back("start=manual");
        typed.push_back(fmt::format("{}={}", kSkipSet, skipSetJson(set)));
    }
    return parseSettings(request.registry, variant.decoder, typed);
}

} // namespace

namespace {

Result<ShardVariant> makeVariant(const VariantRequest& request, const std::string& name) {
    const RunVariant* planned = request.folder.plan().variant(name);
    ShardVariant variant{.name = name};
    const std::string decoder = planned == nullptr ? "vanilla" : planned->decoder;
    ENGINE_TRY(const DecoderInfo info, request.registry.info(decoder));
    variant.lockedLayers = info.lockedCount();
    SettingValues settings;
    if (planned != nullptr) {
        ENGINE_TRY(settings, settingsOf(request, *planned));
    }
    for (std::size_t pass = 0; pass < (request.isTwice ? 2U : 1U); ++pass) {
        ENGINE_TRY(variant.passes.at(pass),
                   request.registry.make(decoder,
                                         {.transformer = *request.model.data.loaded.transformer,
                                          .sampling = request.sampling,
                                          .contextLength = request.contextLength,
                                          .settings = settings}));
    }
    return variant;
}

} // namespace

Result<std::vector<ShardVariant>> makeVariants(const VariantRequest& request) {
    std::vector<ShardVariant> all;
    for (const std::string& name : request.shard.variants) {
        const RunVariant* planned = request.folder.plan().variant(name);
        if (planned != nullptr && planned->search)
            continue;
        auto made = makeVariant(request, name);
        const bool isItsOwn = planned != nullptr && !made && isOwn(made.error().code);
        if (!made && !isItsOwn)
            return std::move(made).error();
        all.push_back(made ? std::move(made).value()
                           : ShardVariant{.name = name, .failure = made.error()});
    }
    return all;
}

Result<std::unique_ptr<Decoder>>
makeUnbegun(DecoderRegistry& registry, const RunVariant& variant, DecoderContext context) {
    ENGINE_TRY(context.settings, parseSettings(registry, variant.decoder, typedSettings(variant)));
    return registry.make(variant.decoder, std::move(context));
}

Result<void> checkVariants(DecoderRegistry& registry, const std::vector<RunVariant>& variants) {
    for (const RunVariant& variant : variants) {
        if (variant.search)
            continue;
        auto parsed = parseSettings(registry, variant.decoder, typedSettings(variant));
        if (!parsed)
            return Error{
                parsed.error().code,
                fmt::format("The variant {} cannot run: {}", variant.name, parsed.error().message),
                parsed.error().hint};
    }
    return {};
}

} // namespace app
