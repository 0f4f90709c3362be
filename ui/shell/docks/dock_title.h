// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/docks/view.h"

#include <QWidget>

#include <vector>

class QHBoxLayout;
class QLabel;
class QToolButton;

namespace ui {

class Badge;
class LiveLabel;

/// The title of a dock or of a part of a page: name, badge, which data is shown, legend, Freeze and
/// More, always at the same place.
class DockTitle : public QWidget {
    Q_OBJECT

public:
    /// If `view` is null, there is only a name.
    DockTitle(const Theme& theme, const QString& title, View* view, QWidget* parent = nullptr);

    /// Adds a button in front of Freeze.
    void addButton(QToolButton* button);

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    /// The user asked for the view's menu, to be shown at this position.
    void menuAsked(const QPoint& globalPlace);

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void addViewButtons();
    void restyle();
    void showWords();
    void showFreeze();
    void arrangeWords();
    void cutWords();
    int roomForName() const;
    void fitName();

    const Theme& m_theme;
    View* m_view;
    QHBoxLayout* m_row;
    QString m_title;
    QLabel* m_name;
    Badge* m_badge;
    LiveLabel* m_subtitle;
    QWidget* m_legend = nullptr;
    std::vector<QToolButton*> m_added; ///< by addButton(); what they do is in the menu, too
    QToolButton* m_freeze = nullptr;
    QToolButton* m_more = nullptr;
};

} // namespace ui
