// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/theme/colours.h"

#include <QFont>
#include <QObject>
#include <QSize>

class QApplication;
class QLabel;

namespace ui {

enum class ThemeChoice { System, Light, Dark, HighContrastLight, HighContrastDark };

/// The role of a text. Sizes are pixels at text size 100 %.
enum class TextRole {
    Interface,    ///< 13
    Conversation, ///< 14
    DockTitle,    ///< 12, bold
    Small,        ///< 12
    Tiny,         ///< 11: axis text, badges, notes
    Code,         ///< 13, monospace
    Figure,       ///< 12, monospace: numbers that are compared
    AxisFigure,   ///< 11, monospace
    Headline,     ///< 20, monospace, bold: the one headline figure of a view
    Title,        ///< 15, bold: a page's or a card's title
};

/// The one palette and the fonts of the window. Widgets hold a const reference, ask when they
/// paint, and connect to changed(). Thread: UI.
class Theme : public QObject {
    Q_OBJECT

public:
    static constexpr int kSmallestPercent = 70;
    static constexpr int kLargestPercent = 200;

    explicit Theme(QObject* parent = nullptr);

    const Colours& colours() const { return m_colours; }

    QFont font(TextRole role) const;

    /// A length given in pixels at text size 100 %, at the present text size.
    int scaled(double pixels) const;

    /// The same for the size of a window, which is never larger than its screen.
    QSize scaledWindow(const QWidget& window, int width, int height) const;

    ThemeChoice choice() const { return m_choice; }

    /// The same as choice(), with what the system has at present instead of System.
    ThemeChoice lastingChoice() const;

    int textPercent() const { return m_textPercent; }

    /// Whether pictures jump from one state to the next instead of moving there.
    bool reducesMotion() const { return m_reducesMotion; }

    /// Whether an audience looks on: what is clicked while one speaks is larger than its text is.
    bool isForAudience() const { return m_isForAudience; }

    void setForAudience(bool isForAudience);

    /// Both at once: every widget is styled anew, which takes a good part of a second. The text
    /// size is clamped to the range above.
    void set(ThemeChoice choice, int textPercent);

    void setChoice(ThemeChoice choice);

    void setReducedMotion(bool isReduced);

    void setTextPercent(int percent);

    /// Gives the program this theme's style, palette, style sheet and font, now and whenever the
    /// theme or the system's colours change.
    void applyTo(QApplication& application);

signals:
    void changed();

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void update();

    QApplication* m_application = nullptr;
    ThemeChoice m_choice = ThemeChoice::System;
    int m_textPercent = 100;
    bool m_reducesMotion = false;
    bool m_isForAudience = false;
    bool m_isSystemDark = false;
    bool m_isApplying = false;
    Colours m_colours;
    QString m_sansFamily;
    QString m_monoFamily;
};

/// Writes the label's words in this colour.
void setTextColour(QWidget& label, const QColor& colour);

/// The background of a widget that fills it.
void setGround(QWidget& widget, const QColor& colour);

/// A label that shows its text as it is, whatever comes from a model, a file or the engine.
QLabel* plainLabel(QWidget* parent, bool isWrapped = false);

/// The style sheet of standard controls; `scaled` turns pixels at 100 % into present ones.
QString controlStyleSheet(const Theme& theme);

} // namespace ui
