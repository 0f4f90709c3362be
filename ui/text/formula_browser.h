// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/theme.h"

#include <QTextBrowser>
#include <QTextObjectInterface>

namespace ui {

/// Draws formulas in a QTextDocument; the source stands in the format of their characters.
class FormulaObject : public QObject, public QTextObjectInterface {
    Q_OBJECT
    Q_INTERFACES(QTextObjectInterface)

public:
    static constexpr int kType = QTextFormat::UserObject + 1;
    static constexpr int kSource = QTextFormat::UserProperty + 1; ///< with its marks

    FormulaObject(const Theme& theme, QObject* parent)
        : QObject(parent)
        , m_theme(theme) {}

    QSizeF intrinsicSize(QTextDocument* document, int place, const QTextFormat& format) override;
    void drawObject(QPainter* painter,
                    const QRectF& rect,
                    QTextDocument* document,
                    int place,
                    const QTextFormat& format) override;

private:
    const Theme& m_theme;
};

/// A text browser that shows Markdown with LaTeX formulas. It opens and loads nothing. Copying
/// gives a formula's source; its accessible description holds the text with formulas in words, when
/// it has any. A formula that cannot be read stays its source. Thread: UI.
class FormulaBrowser : public QTextBrowser {
    Q_OBJECT

public:
    explicit FormulaBrowser(const Theme& theme, QWidget* parent = nullptr);

    void showMarkdown(const QString& markdown);

    /// The text with formulas as they were written.
    QString writtenText() const;

    /// The text with formulas in words.
    QString spokenText() const;

    QVariant loadResource(int, const QUrl&) override { return {}; }

protected:
    QMimeData* createMimeDataFromSelection() const override;

private:
    QString textOf(int from, int to, bool isSpoken) const;

    const Theme& m_theme;
};

} // namespace ui
