// SPDX-License-Identifier: Apache-2.0
// How auto feeds a draft adapter with what the model computes, and when it lets it rest.
#include "plugins/auto/auto_decoder.h"

namespace automatic {

using namespace engine;

Result<void> AutoDecoder::useAdapter(DraftModel& model, int contextLength) {
    ENGINE_TRY(m_adapter, AdapterDrafter::make(model, m_target, contextLength, kMostNodes));
    m_entries.push_back({m_adapter.get()});
    return {};
}

/// Whether the rounds so far speak for it; before any, what is expected of it.
bool AutoDecoder::adapterPays() const {
    return m_adapter && m_settings.usesAdapter && !m_adapter->isBroken() &&
           m_adapter->shownPromise().rate() > 1.0 + m_settings.margin;
}

/// The adapter reads prompts only while it pays: where it rests it will go on with a later row.
PromptWork AutoDecoder::watched(const Prompt& prompt, const PromptWork& work) {
    if (adapterPays())
        return m_adapter->watch(m_target, prompt.tokens, work);
    if (m_adapter)
        m_adapter->rest();
    return work;
}

Result<void> AutoDecoder::readPrompt(const Prompt& prompt, const PromptWork& work) {
    const auto begun = m_target.begin(prompt, watched(prompt, work));
    if (!m_adapter)
        return begun;
    ENGINE_TRY_DO(m_adapter->take());
    ENGINE_TRY_DO(begun);
    return m_adapter->catchUp(m_target);
}

Result<bool> AutoDecoder::readAhead(const Prompt& prompt, const PromptWork& work) {
    const auto isRead = m_target.readAhead(prompt, watched(prompt, work));
    if (m_adapter)
        ENGINE_TRY_DO(m_adapter->take());
    return isRead;
}

/// Verifies a draft of whatever drafter; the adapter is told what the pass computed.
Result<DecodeStep> AutoDecoder::verify(Draft draft) {
    if (!m_adapter)
        return m_target.verify(std::move(draft));
    ENGINE_TRY(DecodeStep step,
               m_target.verify(std::move(draft), {.handOuts = m_adapter->handOuts(m_target)}));
    ENGINE_TRY_DO(m_adapter->observe(step));
    return step;
}

Result<DecodeStep> AutoDecoder::plainRound() {
    ENGINE_TRY(DecodeStep step, verify(Draft()));
    observe(step);
    return step;
}

/// An adapter that does not pay is told nothing until it may be tried again; then it needs some
/// rows before its probe. A broken one is never tried.
void AutoDecoder::restOrWakeAdapter() {
    if (!m_adapter)
        return;
    if (m_adapter->isBroken())
        noteOnce("The draft adapter gave numbers that are not finite, so it is not used any more.");
    const bool isDue =
        m_settings.usesAdapter && mayProbe(m_entries.back(), m_adapter->shownPromise());
    if (adapterPays() || isDue)
        m_adapter->wake(m_target);
    else
        m_adapter->rest();
}

} // namespace automatic
