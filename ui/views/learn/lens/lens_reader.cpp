// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/learn/lens/lens_reader.h"

#include "ui/shell/figure_text.h"

namespace ui {

using namespace engine;

namespace {

/// Unlike those of other senders, which count from 1.
constexpr std::uint64_t kFirstLensRequest = std::uint64_t{1} << 41U;

std::uint64_t nextLensRequest() {
    static std::uint64_t count = 0; // of all windows' lenses
    return kFirstLensRequest + ++count;
}

} // namespace

QString LensAnswer::textOf(TokenId id) const {
    const auto found = texts.find(id);
    return found == texts.end() ? QString::number(id) : found->second;
}

LensReader::LensReader(EngineBridge& bridge, QObject* parent)
    : QObject(parent)
    , m_bridge(bridge) {
    connect(&bridge, &EngineBridge::eventCame, this, &LensReader::onEvent);
    connect(&bridge, &EngineBridge::rewound, this, &LensReader::forget);
}

void LensReader::read(std::uint64_t promptId, int end) {
    if (promptId != m_answer.promptId) {
        stop();
        m_lensRequest = 0; // what still comes belongs to nobody
        m_answer = {};
        m_answer.promptId = promptId;
        m_attention.reset();
        m_attentionRequest = 0;
    }
    const int known = static_cast<int>(m_answer.tokens.size());
    if (isReading() || end <= known)
        return;
    m_failure.clear();
    m_wasStopped = false;
    m_part = 0.0;
    const std::uint64_t request = nextLensRequest();
    if (m_bridge.send(ReadLens{
            .requestId = request, .promptId = promptId, .first = known, .count = end - known}))
        m_lensRequest = request;
    emit changed();
}

void LensReader::readAttention(int token, int layer) {
    m_attention.reset();
    m_attentionFailure.clear();
    const std::uint64_t request = nextLensRequest();
    if (m_bridge.send(ReadAttention{
            .requestId = request, .promptId = m_answer.promptId, .token = token, .layer = layer}))
        m_attentionRequest = request;
    emit attentionChanged();
}

void LensReader::stop() {
    if (isReading())
        m_bridge.send(StopLens{});
}

void LensReader::forget() {
    m_answer = {};
    m_attention.reset();
    m_failure.clear();
    m_attentionFailure.clear();
    m_lensRequest = m_attentionRequest = 0;
    emit changed();
    emit attentionChanged();
}

void LensReader::onEvent(const EngineEvent& event) {
    if (event.as<ModelLoaded>() != nullptr || event.as<ModelUnloaded>() != nullptr)
        return forget();
    if (const auto* read = event.as<LensTokensRead>(); read && read->requestId == m_lensRequest)
        return take(*read);
    if (const auto* finished = event.as<LensFinished>())
        return finish(*finished);
    if (const auto* failed = event.as<EngineFailed>())
        return fail(*failed);
    if (const auto* progress = event.as<LensProgress>();
        progress && progress->requestId == m_lensRequest) {
        m_part = progress->part;
        emit changed();
    }
    if (const auto* read = event.as<AttentionRead>();
        read && read->requestId == m_attentionRequest) {
        m_attention = *read;
        emit attentionChanged();
    }
}

void LensReader::take(const LensTokensRead& read) {
    if (read.promptId != m_answer.promptId ||
        read.first != static_cast<int>(m_answer.tokens.size()))
        return;
    m_answer.tokens.insert(m_answer.tokens.end(), read.tokens.begin(), read.tokens.end());
    for (const ShownToken& text : read.texts)
        m_answer.texts[text.id] = QString::fromStdString(text.text);
    emit changed();
}

/// The means of two readings become one over all tokens.
void LensReader::finish(const LensFinished& finished) {
    if (finished.requestId != m_lensRequest)
        return;
    m_lensRequest = 0;
    m_wasStopped = finished.isStopped;
    m_answer.seconds += finished.seconds;
    const std::size_t all = m_answer.tokens.size();
    if (!finished.isStopped && all > 0) {
        m_answer.influence.resize(finished.influence.size(), 0.0);
        const double before =
            static_cast<double>(m_answer.influenceTokens) / static_cast<double>(all);
        for (std::size_t i = 0; i < finished.influence.size(); ++i)
            m_answer.influence[i] =
                before * m_answer.influence[i] + (1.0 - before) * finished.influence[i];
        m_answer.influenceTokens = all;
    }
    emit changed();
}

void LensReader::fail(const EngineFailed& failed) {
    if (failed.requestId == 0)
        return;
    if (failed.requestId == m_lensRequest) {
        m_lensRequest = 0;
        m_failure = errorText(failed.error);
        emit changed();
    }
    if (failed.requestId == m_attentionRequest) {
        m_attentionFailure = errorText(failed.error);
        emit attentionChanged();
    }
}

} // namespace ui
