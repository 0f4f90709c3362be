// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

class QHBoxLayout;
class QLabel;
class QPlainTextEdit;
class QPushButton;
class QToolButton;
class QVBoxLayout;

namespace ui {

/// What a banner says: what happened, what was done about it, what can be done next.
struct Notice {
    enum class Kind { Info, Finding, Warning, Error };

    struct Choice {
        QString label;
        std::function<void()> act;
        bool closesBanner = true;
    };

    Kind kind = Kind::Info;
    QString id; ///< a newer notice of the same id takes its place; empty = never
    QString headline;
    QString sentence = {}; ///< may be empty
    QString details = {};  ///< shown on demand, and copied as the report; may be empty
    std::vector<Choice> choices = {};
    bool isBrief = false; ///< in one line if it fits; the sentence is the tool tip
};

/// A notice across its view. It stays until it is closed, is never modal, and does not take the
/// focus by itself.
class Banner : public QWidget {
    Q_OBJECT

public:
    Banner(const Theme& theme, Notice notice, QWidget* parent = nullptr);

    const Notice& notice() const { return m_notice; }

    /// Replaces the text after the headline, for example when a number in it changes.
    void setSentence(const QString& sentence);

signals:
    void closed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QHBoxLayout& addRow(QVBoxLayout& rows);
    void makeButtons(QHBoxLayout& row);
    void showText();
    void showDetails(bool isShown);
    void restyle();

    const Theme& m_theme;
    Notice m_notice;
    QLabel* m_icon = nullptr;
    QLabel* m_text = nullptr;
    QToolButton* m_close = nullptr;
    QPlainTextEdit* m_details = nullptr;
};

} // namespace ui
