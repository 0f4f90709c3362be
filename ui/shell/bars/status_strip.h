// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/shell/bars/work_link.h"
#include "ui/shell/widgets/live_label.h"
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

/// The strip at the bottom, always visible. It shows the model, the device, the phase, the length
/// and size of a recording or the position of a replay, tokens per second and speedup of this
/// answer, what else is at work, memory, the views' update rate when it is lower than usual, and
/// the engine's latest notice. In a narrow window, memory, the update rate and the device give way
/// to the others.
class StatusStrip : public QWidget, public Picture {
    Q_OBJECT

public:
    StatusStrip(const Theme& theme,
                const RunStore& store,
                EngineBridge& bridge,
                QWidget* parent = nullptr);
    ~StatusStrip() override;

    bool isShowing() const override { return isVisible(); }

    int leastIntervalMs() const override { return EngineBridge::kFiguresMs; }

    void refresh(Topics changed) override;

    /// As narrow as the window.
    QSize minimumSizeHint() const override { return {0, QWidget::minimumSizeHint().height()}; }

    /// What is at work beside the chat, with a link to it; an empty note is not shown.
    void setWork(const WorkNote& note);

    WorkLink& workLink() { return *m_work; }

    /// Clears the notice about another chat, which is outdated; the tool tip keeps it.
    void forgetNote();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    LiveLabel* addPart(const QString& name, LiveLabel::Fit fit = LiveLabel::Fit::Whole);
    void showModel();
    void showPause();
    void showRecording();
    void showReplay();
    void showSpeed();
    void showMemory();
    void ageNote(Topics changed);
    void showNote();
    void giveWay();
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
    LiveLabel* m_note;
    QToolButton* m_stopRecording;
    WorkLink* m_work;
    std::uint64_t m_promptId = 0; ///< of the newest answer that was shown
    bool m_isNoteOld = false;
    QElapsedTimer m_memoryClock;
    QString m_recordingPath;
    QElapsedTimer m_recordingClock;
    QTimer m_recordingTimer; ///< while one is written
};

/// Bytes of memory of this process, and of the machine; none if the system does not report them.
struct MemoryInUse {
    double processBytes = 0.0;
    double machineBytes = 0.0;
};

std::optional<MemoryInUse> memoryInUse();

/// The decoder's activity ("swift", "plain", ...) as it is shown.
QString phaseText(engine::DecoderPhase phase);

} // namespace ui
