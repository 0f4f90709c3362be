// SPDX-License-Identifier: Apache-2.0
#include "engine/adaptation/start_sets.h"

#include <algorithm>
#include <utility>

namespace engine {

Result<void> checkManualSet(const SearchSettings& settings, int layerCount) {
    if (settings.start != StartSet::Manual)
        return {};
    ENGINE_TRY_DO(planOf(settings.manualSet, layerCount));
    const std::pair<const char*, const std::vector<int>&> kinds[] = {
        {"attention", settings.manualSet.attention}, {"MLP", settings.manualSet.mlp}};
    for (const auto& [kind, layers] : kinds)
        for (const int layer : layers)
            if (layer == 0 || layer == layerCount - 1) // as SkipSpace::inner
                return Error{
                    ErrorCode::InvalidInput,
                    fmt::format("The skip set names {} layer {}, but SWIFT always runs "
                                "the first and the last layer.",
                                kind,
                                layer),
                    fmt::format("Leave the layers 0 and {} out of the skip set.", layerCount - 1)};
    return {};
}

Result<void> checkStoredSet(const SearchSettings& settings,
                            const SkipSetMemory* memory,
                            const std::string& task) {
    const bool isByTask = settings.start == StartSet::Library;
    const bool isAsked = isByTask || settings.start == StartSet::Last;
    if (!isAsked || (settings.isOn && settings.maxTrials > 0))
        return {};
    if (memory != nullptr) {
        const auto found = isByTask ? memory->find(task) : memory->last();
        if (!found || found.value())
            return {};
    }
    return Error{ErrorCode::InvalidInput,
                 fmt::format("No skip set is stored{}, and with {} none is searched for.",
                             isByTask ? fmt::format(" for the task \"{}\"", task) : "",
                             settings.isOn ? "S=0" : "optimise=off"),
                 "Choose start=uniform, or let a search find a set first: leave S and optimise "
                 "alone."};
}

StartPlan StartSets::uniform(std::string note) const {
    return {m_choices.space().uniform(m_settings.ratio), m_settings.ratio, std::move(note)};
}

Result<StartPlan> StartSets::start(const std::vector<double>& influence,
                                   const SkipSetMemory* memory,
                                   const std::string& task,
                                   const StreamPlanner& stream) const {
    switch (m_settings.start) {
    case StartSet::Uniform:
        return uniform();
    case StartSet::Odd:
        return StartPlan{.plan = m_choices.space().oddLayers(),
                         .ratio = m_choices.ratioOf(m_choices.space().oddLayers()),
                         .ratioReason = "The published start set leaves out every second layer, "
                                        "whatever r is."};
    case StartSet::Library:
    case StartSet::Last:
        return stored(memory, task);
    case StartSet::Influence: {
        const double ratio = m_settings.growsRatio
                                 ? std::min(m_settings.minimumRatio, m_settings.ratio)
                                 : m_settings.ratio;
        return StartPlan{
            .plan = m_choices.leastInfluence(influence, ratio),
            .ratio = ratio,
            .ratioReason = fmt::format("r grows from {:.2f}, and only while matchness is at least "
                                       "{:.2f}.",
                                       ratio,
                                       m_settings.growScore)};
    }
    case StartSet::Stream:
        return planned(stream);
    case StartSet::Manual: {
        ENGINE_TRY(LayerPlan plan, planOf(m_settings.manualSet, m_choices.space().layerCount()));
        const double ratio = m_choices.ratioOf(plan);
        return StartPlan{.plan = std::move(plan),
                         .ratio = ratio,
                         .ratioReason = "This set was given, whatever r is."};
    }
    }
    return uniform();
}

Result<StartPlan> StartSets::planned(const StreamPlanner& stream) const {
    if (m_choices.space().dims() == 0)
        return uniform();
    std::optional<LayerPlan> plan;
    if (stream) {
        auto found = stream(m_choices, m_settings.ratio);
        if (!found && found.error().code == ErrorCode::Cancelled)
            return std::move(found).error();
        if (!found)
            return uniform(fmt::format(
                "The stream of a token could not be followed, so the search begins with "
                "the uniform set: {}",
                found.error().message));
        plan = std::move(found).value();
    }
    if (!plan)
        return uniform("There is no token yet whose stream could be followed, or r is too small to "
                       "leave out any sublayer, so the search begins with the uniform set.");
    return StartPlan{std::move(*plan), m_settings.ratio};
}

/// Other decoders may leave out the first and the last layer, too, and sets are kept for all.
StartPlan StartSets::stored(const SkipSetMemory* memory, const std::string& task) const {
    if (memory == nullptr)
        return uniform("No skip sets are kept in this run, so the search begins with the uniform "
                       "set.");
    const bool isByTask = m_settings.start == StartSet::Library;
    const auto found = isByTask ? memory->find(task) : memory->last();
    if (!found)
        return uniform(found.error().message + " The search begins with the uniform set.");
    if (!found.value())
        return uniform(isByTask ? fmt::format("No skip set is stored for the task \"{}\" yet, so "
                                              "the search begins with the uniform set.",
                                              task)
                                : "No skip set is stored yet, so the search begins with the "
                                  "uniform set.");
    const SkipSpace& space = m_choices.space();
    const auto plan = planOf(found.value()->set, space.layerCount());
    if (!plan)
        return uniform(plan.error().message + " The search begins with the uniform set.");
    LayerPlan inner = space.plan(space.bits(plan.value()));
    if (inner == plan.value())
        return {.plan = std::move(inner),
                .ratio = found.value()->skipRatio,
                .ratioReason = "This set was found and stored before, at this ratio."};
    if (inner == LayerPlan::full(space.layerCount()))
        return uniform("The stored skip set names only the first or the last layer, which always "
                       "run here, so the search begins with the uniform set.");
    const double ratio = m_choices.ratioOf(inner);
    return {.plan = std::move(inner),
            .ratio = ratio,
            .note = "The stored skip set names the first or the last layer, which always run "
                    "here: drafts use the rest of it.",
            .ratioReason = "This set was found and stored before, and names layers that always "
                           "run here."};
}

} // namespace engine
