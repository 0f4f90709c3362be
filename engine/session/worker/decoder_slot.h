// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/decoding/decoder_registry.h"
#include "engine/metrics/decode_metrics.h"
#include "engine/session/engine_event.h"
#include "engine/session/model_loader.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace engine {

/// What a decoder works on; null without a model, and while no skip sets are kept.
struct DecoderGround {
    SessionModel* model = nullptr;
    SkipSetMemory* memory = nullptr;
};

/// The chosen decoder with its settings and its sums. Nothing changes when a change fails.
/// Thread: engine.
class DecoderSlot {
public:
    explicit DecoderSlot(DecoderRegistry& registry)
        : m_registry(registry) {}

    /// Errors: those of the registry; with a model also those of making the decoder.
    Result<void> choose(const std::string& name, const SettingValues& given, DecoderGround ground);

    /// Whether this is what was chosen last, and given since.
    bool isChosen(const std::string& name, const SettingValues& given) const {
        return name == m_info.name && given == m_given;
    }

    /// What the decoder did at once. With a model a decoder that is not made yet is made, so that
    /// settings that do not fit the model are told now and not by the next prompt.
    /// Errors: those of resolveSettings(), Decoder::configure() and of making the decoder.
    Result<SearchReport> changeSettings(const SettingValues& values, DecoderGround ground);

    /// Errors: InvalidInput for options out of range.
    Result<void> changeSampling(const SamplingOptions& sampling);

    /// The decoder, made when there is none. Errors: those of making it.
    Result<Decoder*> ready(DecoderGround ground);

    /// Forgets the decoder, not the choice: it is made anew when it is needed. It stores what it
    /// has learnt. Must be called before the ground goes away.
    void drop();

    /// What decoders that went have told since the last call: sentences for the user.
    std::vector<std::string> takeRemarks() { return std::exchange(m_remarks, {}); }

    /// Forgets the sums too: they were measured on another model.
    void leaveModel();

    /// What follows belongs to this chat.
    void enterChat(std::uint64_t chat);

    /// The span that has begun since this was asked last; none when none has.
    std::optional<SpanStarted> takeSpanStart();

    /// Adds what a step was to the sums of its span, and counts it.
    void add(const DecodeStep& step, double stepMs, bool isBaseline);

    /// Milliseconds of a plain step on this model: the mean of the newest 64; 0 until two were
    /// measured.
    double baselineStepMs() const;

    /// Tokens at the beginning of `prompt` whose keys and values the decoder has cached.
    int reusableTokens(std::span<const TokenId> prompt) const;

    /// The decoder has worked on these tokens, prompt and answer.
    void noteSequence(std::vector<TokenId> tokens);

    /// Whether the next step shall be a plain one: 2 of every 64, and none of the first, so that
    /// the speedup is measured while running.
    bool isBaselineStepNext() const;

    /// Whether this phase is another one than the last; it is the last one from here on.
    bool entersPhase(DecoderPhase phase) { return std::exchange(m_phase, phase) != phase; }

    Decoder* decoder() { return m_decoder.get(); }

    const DecoderInfo& info() const { return m_info; }

    const SettingValues& settings() const { return m_settings; }

    const SamplingOptions& sampling() const { return m_sampling; }

    /// Of the span that has begun last, see SpanStarted.
    DecodeMetrics& metrics() { return m_metrics; }

private:
    Result<std::unique_ptr<Decoder>>
    make(const std::string& name, const SettingValues& settings, DecoderGround ground);
    void beginSpan(SpanCause cause);

    DecoderRegistry& m_registry;
    DecoderInfo m_info;
    SettingValues m_given;    // as the user set them
    SettingValues m_settings; // resolved
    SamplingOptions m_sampling;
    std::unique_ptr<Decoder> m_decoder;
    std::vector<std::string> m_remarks;
    std::vector<TokenId> m_cached; // what the decoder's cache holds
    DecodeMetrics m_metrics;       // of this span
    std::int64_t m_span = 1;
    std::optional<SpanCause> m_untoldSpan;
    std::uint64_t m_chat = 0;
    std::deque<double> m_plainMs; // of the newest plain steps
    std::optional<DecoderPhase> m_phase;
    std::uint64_t m_stepCount = 0;
};

} // namespace engine
