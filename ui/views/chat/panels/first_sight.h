// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/run_store.h"
#include "ui/theme/theme.h"

#include <QPointer>
#include <QWidget>

class QSettings;

namespace ui {

class Banner;

/// Behind the first answer: one sentence on what its colours and the panels show. Once it is
/// closed, only showAgain() brings it back, also in later runs. Thread: UI.
class FirstSight : public QWidget {
    Q_OBJECT

public:
    /// All outlive it.
    FirstSight(const Theme& theme,
               const RunStore& run,
               QSettings& settings,
               QWidget* parent = nullptr);

    /// Follows the run: shown behind the first answer of a chat; then it tells of the newest.
    void apply(const engine::EngineEvent& event);

    /// Shows it, with the figures of the newest answer, if there is one, and asks for the marks of
    /// which it tells.
    void showAgain();

    /// What it says now; empty while it is hidden.
    QString text() const;

signals:
    /// The user wants to see how one round works.
    void roundAsked();

    /// The words are to be marked by their origin.
    void originAsked();

private:
    void tell();
    void close();

    const Theme& m_theme;
    const RunStore& m_run;
    QSettings& m_settings;
    QPointer<Banner> m_banner;
};

} // namespace ui
