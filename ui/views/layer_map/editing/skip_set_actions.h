// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/views/layer_map/editing/manual_set.h"

#include <QPointer>

#include <functional>

class QAction;
class QFileDialog;
class QInputDialog;
class QWidget;

namespace ui {

/// The actions for the set that a view shows: pin, save, load, copy. They are added to the view,
/// for its menu and keys. Thread: UI.
class SkipSetActions : public QObject {
    Q_OBJECT

public:
    /// `shown` gives the set on the screen, none when there is none.
    SkipSetActions(const ViewContext& context,
                   ManualSet& manual,
                   std::function<std::optional<engine::PlanOutline>()> shown,
                   QWidget* view);

    /// Pins the set shown, or unpins it.
    void togglePin();
    void copyText();
    void askWhereToSave();
    void askWhatToLoad();

    /// The same as choosing the file in the dialogs.
    void saveTo(const QString& path);
    void loadFrom(const QString& path);

signals:
    /// A sentence for the user.
    void told(const QString& sentence);

private:
    QAction* add(const QString& text, const QString& name, void (SkipSetActions::*act)());
    int layerCount() const;
    std::string entryName() const;
    void askWhichEntry(const std::map<std::string, engine::SkipSet>& sets);
    void tellNothingShown();

    ViewContext m_context;
    ManualSet& m_manual;
    std::function<std::optional<engine::PlanOutline>()> m_shown;
    QWidget* m_view;
};

} // namespace ui
