// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/shell/live_label.h"
#include "ui/theme/theme.h"

#include <QElapsedTimer>
#include <QTimer>
#include <QWidget>

#include <optional>
#include <vector>

class QHBoxLayout;
class QToolButton;

namespace ui {

class Badge;

/// Always visible at the bottom: model, device, phase, how long and large a recording is or where a
/// replay stands, tokens per second and speedup of this answer, memory, how often views are drawn
/// when that is less than usual, and what the engine remarked last.
class StatusStrip : public QWidget, public Picture {
    Q_OBJECT

public:
    StatusStrip(const Theme& theme,
                const RunStore& store,
                EngineBridge& bridge,
                QWidget* parent = nullptr);
    ~StatusStrip() override;

    bool isShowing() const override { return isVisible(); }

    void refresh(Topics changed) override;

    /// What was said of another chat is no news any more; the tool tip keeps it.
    void forgetRemark();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    LiveLabel* addPart(const QString& name, LiveLabel::Fit fit = LiveLabel::Fit::Whole);
    void showModel();
    void showRecording();
    void showReplay();
    void showSpeed();
    void showMemory();
    void ageRemark(Topics changed);
    void showRemark();
    void restyle();

    const Theme& m_theme;
    const RunStore& m_store;
    EngineBridge& m_bridge;
    QHBoxLayout* m_row;
    std::vector<LiveLabel*> m_parts; ///< from left to right
    LiveLabel* m_model;
    LiveLabel* m_device;
    LiveLabel* m_phase;
    LiveLabel* m_recording;
    Badge* m_replayBadge;
    LiveLabel* m_replay;
    LiveLabel* m_tokens;
    LiveLabel* m_speedup;
    LiveLabel* m_memory;
    LiveLabel* m_pace;
    LiveLabel* m_remark;
    QToolButton* m_stopRecording;
    std::uint64_t m_promptId = 0; ///< of the newest answer that was shown
    bool m_isRemarkOld = false;
    QElapsedTimer m_memoryClock;
    QString m_recordingPath;
    QElapsedTimer m_recordingClock;
    QTimer m_recordingTimer; ///< while one is written
};

/// Bytes of this process in memory, and of the machine; none where the system does not tell.
struct MemoryInUse {
    double processBytes = 0.0;
    double machineBytes = 0.0;
};

std::optional<MemoryInUse> memoryInUse();

/// "swift", "plain", ... as shown to people: what the decoder is doing.
QString phaseText(engine::DecoderPhase phase);

} // namespace ui
