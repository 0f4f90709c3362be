// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QDialog>
#include <QString>

#include <functional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace ui {

/// Something that can be found and executed by typing a part of its name.
struct Command {
    QString text;
    QString hint; ///< muted, at the right: keys, a date
    std::function<void()> run;
    QString otherName = {}; ///< further search word that is not shown, such as "epsilon"
};

/// Ctrl+K: a field and the commands that match it, best first. Enter runs the chosen one.
class CommandSearch : public QDialog {
    Q_OBJECT

public:
    CommandSearch(const Theme& theme, std::vector<Command> commands, QWidget* parent = nullptr);

    /// How well a text matches what was typed: 0 = not at all; a beginning of it beats a beginning
    /// of a word, that beats any place, that beats letters in order.
    static int matchScore(const QString& text, const QString& typed);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void showMatches();
    void tellNothing();
    void runChosen();

    const Theme& m_theme;
    std::vector<Command> m_commands;
    QLineEdit* m_field;
    QListWidget* m_list;
};

} // namespace ui
