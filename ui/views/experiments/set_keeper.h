// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/shell/docks/view.h"
#include "ui/views/skip_sets/shelf/skip_set_shelf.h"

#include <QStringList>

#include <vector>

namespace ui {

/// Takes the skip sets that a finished run has found into the library of the model on which it was
/// made, whichever is loaded. It says what became of them in the window's message bar, and the undo
/// stack takes them out again. Thread: UI.
class SetKeeper : public QObject {
    Q_OBJECT

public:
    /// All outlive it.
    SetKeeper(const ViewContext& context, MessageBar& messages, QObject* parent = nullptr);

    /// The run whose sets are meant; null while it is not finished.
    void setRun(const QString& title, const RunPicturePtr& picture);

    bool canKeep() const { return obstacle().isEmpty(); }

    /// What keep() does, or why it cannot do it now.
    QString tip() const;

    void keep();

signals:
    /// Perhaps it can be done now, or no longer.
    void changed();

private:
    QString obstacle() const;
    std::vector<engine::SkipSetOwner> owners() const;
    void tell(const QString& sentence, SkipSetShelf::Offer offer);
    void undo();
    void forgetUndo();

    ViewContext m_context;
    MessageBar& m_messages;
    SkipSetShelf m_shelf;
    QString m_title;
    RunPicturePtr m_run;
    QString m_file;         ///< with its sets; empty: it has found none
    QString m_keptTitle;    ///< of the run whose sets were taken last
    bool m_isForOne = true; ///< they are of one model
    /// Of the stack, while the changes from the first of these indices on are the newest ones and
    /// offered to be undone; -1 = none are.
    int m_undoFrom = -1;
    int m_undoIndex = -1;
    QStringList m_undoNotices; ///< the ids of those that offer it
};

} // namespace ui
