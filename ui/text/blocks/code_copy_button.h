// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QAbstractButton>

namespace ui {

/// "Copy" in the title bar of a code block. Says "Copied" from its click until the pointer or the
/// focus leaves it.
class CodeCopyButton : public QAbstractButton {
    Q_OBJECT

public:
    explicit CodeCopyButton(const Theme& theme, QWidget* parent = nullptr);

    void setCopied(bool isCopied);

    bool isCopied() const { return m_isCopied; }

    QSize sizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    const Theme& m_theme;
    bool m_isCopied = false;
};

} // namespace ui
