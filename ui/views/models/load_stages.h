// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/session/engine_event.h"
#include "ui/theme/theme.h"

#include <QElapsedTimer>
#include <QWidget>

#include <array>

namespace ui {

/// A load in two stages, each with its share and a check mark when it is done: reading the files,
/// preparing the weights. Thread: UI.
class LoadStages : public QWidget {
    Q_OBJECT

public:
    static constexpr int kCount = 2;

    explicit LoadStages(const Theme& theme, QWidget* parent = nullptr);

    /// Back to the beginning. `weightBytes` is 0 while it is not known.
    void begin(std::uint64_t weightBytes);

    void setProgress(const engine::ModelLoadProgress& progress);

    /// 0 to 1.
    double part(int stage) const { return m_parts[static_cast<std::size_t>(stage)]; }

    bool isDone(int stage) const { return part(stage) >= 1.0; }

    /// "5.8 of 12.9 GiB", or "45 %" where the size is not known.
    QString figure(int stage) const;

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    void paintStage(QPainter& painter, int stage, int top);
    int stageHeight() const;
    void describe();

    const Theme& m_theme;
    std::array<double, kCount> m_parts{};
    std::array<qint64, kCount> m_doneMs{};
    std::uint64_t m_weightBytes = 0;
    QElapsedTimer m_clock;
};

} // namespace ui
