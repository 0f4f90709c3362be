// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/decoder_slot.h"

#include <algorithm>

namespace engine {

namespace {

constexpr std::size_t kPlainStepsKept = 9; // plain steps grow dearer with the context
constexpr std::size_t kPlainStepsNeeded = 2;
constexpr std::chrono::seconds kPlainStepAge(60);

/// Steps of a decoder between two plain ones: they double with each plain step that is measured.
/// The first steps of all are the slowest.
constexpr std::size_t kFirstGap = 2;
constexpr std::size_t kDoublings = 4;

} // namespace

Result<void>
DecoderSlot::choose(const std::string& name, const SettingValues& given, DecoderGround ground) {
    ENGINE_TRY(DecoderInfo info, m_registry.info(name));
    ENGINE_TRY(SettingValues settings, resolveSettings(info, given));
    std::unique_ptr<Decoder> decoder;
    if (ground.model != nullptr) {
        auto made = make(name, settings, ground);
        if (!made && made.error().code == ErrorCode::NoMemory && m_decoder) {
            drop(); // a GPU may have no room for both caches
            made = make(name, settings, ground);
        }
        ENGINE_TRY(decoder, std::move(made));
    }
    drop();
    m_decoder = std::move(decoder);
    m_info = std::move(info);
    m_given = given;
    m_settings = std::move(settings);
    beginSpan(SpanCause::Decoder);
    m_sincePlain = 0;
    return {};
}

Result<SearchReport> DecoderSlot::changeSettings(const SettingValues& values,
                                                 DecoderGround ground,
                                                 const std::string& wanted) {
    if (!wanted.empty() && wanted != m_info.name)
        return Error{ErrorCode::Cancelled,
                     fmt::format("The change is of settings of {}, but the decoder that is chosen "
                                 "is {}.",
                                 wanted,
                                 m_info.name),
                     "Choose that decoder first."};
    SettingValues given = values.contains("profile") ? SettingValues() : m_given;
    for (const auto& [name, value] : values)
        given.insert_or_assign(name, value);
    ENGINE_TRY(SettingValues settings, resolveSettings(m_info, given));
    SearchReport report;
    if (m_decoder) {
        ENGINE_TRY(report, m_decoder->configure(settings, values));
    } else if (ground.model != nullptr) {
        ENGINE_TRY(m_decoder, make(m_info.name, settings, ground));
    }
    m_given = std::move(given);
    if (settings != m_settings)
        beginSpan(SpanCause::Settings);
    m_settings = std::move(settings);
    m_metrics.addSearch(report.searchMs);
    return report;
}

Result<void> DecoderSlot::changeSampling(const SamplingOptions& sampling) {
    ENGINE_TRY_DO(sampling.validate());
    const bool isSame = sampling == m_sampling;
    if (!isSame && m_decoder) {
        const auto changed = m_decoder->changeSampling(sampling);
        if (!changed && changed.error().code != ErrorCode::Unsupported)
            return changed;
        // A decoder that cannot apply them is created again.
        if (!changed)
            drop();
    }
    if (!isSame)
        beginSpan(SpanCause::Sampling);
    m_sampling = sampling;
    return {};
}

Result<Decoder*> DecoderSlot::ready(DecoderGround ground) {
    if (!m_decoder) {
        ENGINE_TRY(m_decoder, make(m_info.name, m_settings, ground));
    }
    return m_decoder.get();
}

void DecoderSlot::drop() {
    if (m_decoder)
        for (std::string& note : m_decoder->storeStatistics())
            m_notes.push_back(std::move(note));
    m_decoder.reset();
    m_phase.reset();
    m_cached.clear();
}

void DecoderSlot::leaveModel() {
    drop();
    beginSpan(SpanCause::Model);
    m_plainSteps.clear();
    m_seenPrompt = {};
    m_sincePlain = 0;
}

/// The context of another chat is as short or as long as it is, and so are its plain steps.
void DecoderSlot::enterChat(std::uint64_t chat, Clock::time_point now) {
    std::erase_if(m_plainSteps, [now](const PlainStep& step) { // an earlier time: the clock was set
        return step.end > now || now - step.end > kPlainStepAge;
    });
    if (std::exchange(m_chat, chat) == chat)
        return;
    beginSpan(SpanCause::Chat);
    while (m_plainSteps.size() > kPlainStepsNeeded)
        m_plainSteps.pop_front();
}

/// A span without a step does not count: the next change belongs to the same start.
void DecoderSlot::beginSpan(SpanCause cause) {
    if (m_metrics.allTokens() > 0) {
        ++m_span;
        m_unreportedSpan = cause;
    }
    m_metrics = {};
}

std::optional<SpanStarted> DecoderSlot::takeSpanStart() {
    const auto cause = std::exchange(m_unreportedSpan, std::nullopt);
    return cause ? std::optional(SpanStarted{m_span, *cause}) : std::nullopt;
}

void DecoderSlot::add(const DecodeStep& step,
                      double stepMs,
                      bool isBaseline,
                      Clock::time_point now) {
    if (isBaseline)
        m_metrics.addBaseline(step, stepMs);
    else
        m_metrics.add(step, stepMs);
    ++m_sincePlain;
    if (!step.isPlain())
        return;
    m_sincePlain = 0;
    m_plainSteps.push_back({std::max(0.0, stepMs - step.search.searchMs), now});
    if (m_plainSteps.size() > kPlainStepsKept)
        m_plainSteps.pop_front();
}

double DecoderSlot::baselineStepMs() const {
    if (m_plainSteps.size() < kPlainStepsNeeded)
        return 0.0;
    std::vector<double> sorted;
    for (const PlainStep& step : m_plainSteps)
        sorted.push_back(step.ms);
    std::ranges::sort(sorted);
    return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2.0;
}

int DecoderSlot::reusableTokens(std::span<const TokenId> prompt) const {
    const auto usable =
        prompt.first(prompt.empty() ? 0 : prompt.size() - 1); // the last one is read
    const auto differs =
        std::mismatch(m_cached.begin(), m_cached.end(), usable.begin(), usable.end());
    return static_cast<int>(differs.first - m_cached.begin());
}

void DecoderSlot::noteSequence(std::vector<TokenId> tokens) {
    m_cached = std::move(tokens);
    const int held = m_decoder ? std::max(m_decoder->cachedTokens(), 0) : 0;
    m_cached.resize(std::min(m_cached.size(), static_cast<std::size_t>(held)));
}

bool DecoderSlot::isBaselineStepNext() const {
    if (m_info.name == "vanilla")
        return false;
    return m_sincePlain >= kFirstGap << std::min(m_plainSteps.size(), kDoublings);
}

Result<std::unique_ptr<Decoder>>
DecoderSlot::make(const std::string& name, const SettingValues& settings, DecoderGround ground) {
    ENGINE_CHECK(ground.model != nullptr, "a decoder is made without a model");
    return m_registry.make(name,
                           {.transformer = *ground.model->transformer,
                            .sampling = m_sampling,
                            .contextLength = ground.model->contextLength,
                            .settings = settings,
                            .memory = ground.memory});
}

} // namespace engine
