// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/shell/bars/banner.h"

#include <QWidget>

class QVBoxLayout;

namespace ui {

/// The notices of the window, one below the other, newest first. At most four are shown; the oldest
/// is removed. Thread: UI.
class MessageBar : public QWidget {
    Q_OBJECT

public:
    static constexpr int kMostShown = 4;

    explicit MessageBar(const Theme& theme, QWidget* parent = nullptr);

    void show(Notice notice);

    /// Removes the notice with this id, if it is shown.
    void withdraw(const QString& id);

    bool isShown(const QString& id) const;

    /// The notices shown, newest first.
    std::vector<const Notice*> notices() const;

signals:
    /// A notice disappeared while one of its buttons had the focus.
    void focusFreed();

private:
    void remove(Banner* banner);

    const Theme& m_theme;
    QVBoxLayout* m_rows;
    std::vector<Banner*> m_banners;
};

} // namespace ui
