// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"
#include "ui/views/layer_map/skip_set_facts.h"

#include <QObject>

#include <optional>

namespace ui {

/// Skip sets made by hand. It sends them as undoable settings of the decoder and remembers what was
/// sent but not applied yet, so that quick changes add up. Thread: UI.
class ManualSet : public QObject {
    Q_OBJECT

public:
    explicit ManualSet(const ViewContext& context, QObject* parent = nullptr);

    /// Why sets cannot be changed by hand now, as a sentence; empty when they can.
    QString refusal() const;

    /// Asked for, but not in a plan of the engine yet: sent from here or, before the first plan,
    /// among the settings, whoever gave them.
    std::optional<engine::SkipSet> pending() const;

    /// Whether drafts use a manual set, or are about to.
    bool isManual() const;

    /// Whether the decoder has a search and it is switched off.
    bool isSearchOff() const;

    /// Makes drafts use this set and ends the search; `what` names the change in Edit > Undo.
    /// Errors: refused().
    void use(const engine::SkipSet& set, const QString& what);

    /// Resumes the search.
    void resumeSearch();

    /// For the undo stack: sends settings of the decoder in use, also while another one waits for
    /// its turn; false when they were not taken.
    bool send(const engine::SettingValues& values);

signals:
    void changed();

    /// A sentence for the user.
    void refused(const QString& sentence);

private:
    void follow(const engine::EngineEvent& event);
    void change(const engine::SettingValues& values, const QString& what);
    const engine::SettingValue* setting(const std::string& name) const;
    void forget();

    ViewContext m_context;
    engine::SettingValues m_sent; // not reported by the engine yet
    std::optional<engine::SkipSet> m_pending;
};

} // namespace ui
