// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"

#include <QObject>
#include <QString>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace ui {

/// What the lens has read of an answer, from its first token on. A plain value.
struct LensAnswer {
    std::uint64_t promptId = 0;
    std::vector<engine::LensToken> tokens;
    std::map<engine::TokenId, QString> texts; ///< of every token that is named
    std::vector<double> influence;            ///< see LensFinished; empty before the first end
    std::size_t influenceTokens = 0;          ///< over which it is the mean
    double seconds = 0.0;                     ///< of all passes

    int layerCount() const {
        return tokens.empty() ? 0 : static_cast<int>(tokens.front().cells.size() - 1) / 2;
    }

    QString textOf(engine::TokenId id) const;
};

/// Asks the engine for the lens of one answer and for attention, and keeps what it answers. It
/// knows no widgets. Thread: UI.
class LensReader : public QObject {
    Q_OBJECT

public:
    explicit LensReader(EngineBridge& bridge, QObject* parent = nullptr);

    const LensAnswer& answer() const { return m_answer; }

    /// The newest attention that was asked for; null while it has not come.
    const engine::AttentionRead* attention() const { return m_attention ? &*m_attention : nullptr; }

    /// Why there is none; usually empty.
    const QString& attentionFailure() const { return m_attentionFailure; }

    bool isReading() const { return m_lensRequest != 0; }

    double part() const { return m_part; }

    /// Why the last reading came to no end: a sentence, and what to do; usually empty.
    const QString& failure() const { return m_failure; }

    bool wasStopped() const { return m_wasStopped; }

    /// Reads on until `end` tokens of this answer are known. Another answer's are forgotten.
    void read(std::uint64_t promptId, int end);

    /// Asks where this answer's token looks in a layer.
    void readAttention(int token, int layer);

    void stop();

    /// The model has changed, or a replay begins again.
    void forget();

signals:
    void changed();
    void attentionChanged();

private:
    void onEvent(const engine::EngineEvent& event);
    void take(const engine::LensTokensRead& read);
    void finish(const engine::LensFinished& finished);
    void fail(const engine::EngineFailed& failed);

    EngineBridge& m_bridge;
    LensAnswer m_answer;
    std::optional<engine::AttentionRead> m_attention;
    QString m_attentionFailure;
    QString m_failure;
    double m_part = 0.0;
    bool m_wasStopped = false;
    std::uint64_t m_lensRequest = 0; // 0 = none
    std::uint64_t m_attentionRequest = 0;
};

} // namespace ui
