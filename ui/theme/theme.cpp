// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/theme.h"

#include <QApplication>
#include <QEvent>
#include <QFontDatabase>
#include <QLabel>
#include <QPalette>
#include <QScreen>
#include <QStyleFactory>
#include <QWidget>

#include <algorithm>
#include <cmath>
#include <utility>

namespace ui {

namespace {

/// The first family that is installed; the mock-ups were drawn with the first ones.
QString firstFamily(const QStringList& wanted, QFontDatabase::SystemFont otherwise) {
    const QStringList installed = QFontDatabase::families();
    for (const QString& family : wanted)
        if (installed.contains(family))
            return family;
    return QFontDatabase::systemFont(otherwise).family();
}

struct FontForm {
    double pixels;
    bool isMono;
    QFont::Weight weight;
};

FontForm formOf(TextRole role) {
    switch (role) {
    case TextRole::Interface:
        return {13, false, QFont::Normal};
    case TextRole::Conversation:
        return {14, false, QFont::Normal};
    case TextRole::DockTitle:
        return {12, false, QFont::DemiBold};
    case TextRole::Small:
        return {12, false, QFont::Normal};
    case TextRole::Tiny:
        return {11, false, QFont::Normal};
    case TextRole::Code:
        return {13, true, QFont::Normal};
    case TextRole::Figure:
        return {12, true, QFont::Normal};
    case TextRole::AxisFigure:
        return {11, true, QFont::Normal};
    case TextRole::Headline:
        return {20, true, QFont::DemiBold};
    case TextRole::Title:
        return {15, false, QFont::DemiBold};
    }
    return {13, false, QFont::Normal};
}

QPalette paletteOf(const Colours& colours) {
    QPalette palette;
    palette.setColor(QPalette::Window, colours.window);
    palette.setColor(QPalette::WindowText, colours.text);
    palette.setColor(QPalette::Base, colours.panel);
    palette.setColor(QPalette::AlternateBase, colours.raised);
    palette.setColor(QPalette::Text, colours.text);
    palette.setColor(QPalette::PlaceholderText, colours.muted);
    palette.setColor(QPalette::Button, colours.panel);
    palette.setColor(QPalette::ButtonText, colours.text);
    palette.setColor(QPalette::BrightText, colours.error);
    palette.setColor(QPalette::ToolTipBase, colours.tipGround);
    palette.setColor(QPalette::ToolTipText, colours.text);
    palette.setColor(QPalette::Highlight, colours.accent);
    palette.setColor(QPalette::HighlightedText, colours.onAccent);
    palette.setColor(QPalette::Link, colours.accent);
    palette.setColor(QPalette::LinkVisited, colours.accent);
    palette.setColor(QPalette::Light, colours.raised);
    palette.setColor(QPalette::Midlight, colours.hover);
    palette.setColor(QPalette::Mid, colours.controlBorder);
    palette.setColor(QPalette::Dark, colours.controlBorder);
    palette.setColor(QPalette::Shadow, colours.border);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText})
        palette.setColor(QPalette::Disabled, role, colours.disabled);
    return palette;
}

Colours coloursOf(ThemeChoice choice, bool isSystemDark) {
    switch (choice) {
    case ThemeChoice::System:
        return isSystemDark ? darkColours() : lightColours();
    case ThemeChoice::Light:
        return lightColours();
    case ThemeChoice::Dark:
        return darkColours();
    case ThemeChoice::HighContrastLight:
        return highContrastLightColours();
    case ThemeChoice::HighContrastDark:
        return highContrastDarkColours();
    }
    return lightColours();
}

} // namespace

Theme::Theme(QObject* parent)
    : QObject(parent)
    , m_colours(lightColours())
    , m_sansFamily(firstFamily({"Inter", "Noto Sans", "DejaVu Sans"}, QFontDatabase::GeneralFont))
    , m_monoFamily(firstFamily({"Noto Sans Mono", "Noto Mono", "DejaVu Sans Mono"},
                               QFontDatabase::FixedFont)) {}

QFont Theme::font(TextRole role) const {
    const FontForm form = formOf(role);
    QFont font(form.isMono ? m_monoFamily : m_sansFamily);
    font.setPixelSize(scaled(form.pixels));
    font.setWeight(form.weight);
    if (form.isMono)
        font.setStyleHint(QFont::Monospace);
    return font;
}

int Theme::scaled(double pixels) const {
    return static_cast<int>(std::lround(pixels * m_textPercent / 100.0));
}

QSize Theme::scaledWindow(const QWidget& window, int width, int height) const {
    const int title = scaled(32); // of the desktop's frame
    return QSize(scaled(width), scaled(height))
        .boundedTo(window.screen()->availableSize() - QSize(0, title));
}

void Theme::set(ThemeChoice choice, int textPercent) {
    const int percent = std::clamp(textPercent, kSmallestPercent, kLargestPercent);
    const bool isNewChoice = std::exchange(m_choice, choice) != choice;
    if (std::exchange(m_textPercent, percent) != percent || isNewChoice)
        update();
}

void Theme::setChoice(ThemeChoice choice) { set(choice, m_textPercent); }

ThemeChoice Theme::lastingChoice() const {
    if (m_choice != ThemeChoice::System)
        return m_choice;
    return m_isSystemDark ? ThemeChoice::Dark : ThemeChoice::Light;
}

void Theme::setForAudience(bool isForAudience) {
    if (std::exchange(m_isForAudience, isForAudience) != isForAudience)
        emit changed();
}

void Theme::setReducedMotion(bool isReduced) { m_reducesMotion = isReduced; }

void Theme::setTextPercent(int percent) { set(m_choice, percent); }

void Theme::applyTo(QApplication& application) {
    m_application = &application;
    // Qt before 6.5 does not report a dark system theme, but its palette shows it.
    m_isSystemDark = application.palette().color(QPalette::Window).lightness() < 128;
    application.setStyle(QStyleFactory::create("Fusion"));
    application.installEventFilter(this);
    update();
}

bool Theme::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::ApplicationPaletteChange && watched == m_application &&
        !m_isApplying) {
        m_isSystemDark = m_application->palette().color(QPalette::Window).lightness() < 128;
        update();
    }
    return QObject::eventFilter(watched, event);
}

void Theme::update() {
    m_colours = coloursOf(m_choice, m_isSystemDark);
    if (m_application != nullptr) {
        m_isApplying = true;
        m_application->setPalette(paletteOf(m_colours));
        m_application->setFont(font(TextRole::Interface));
        m_application->setStyleSheet(controlStyleSheet(*this));
        m_isApplying = false;
    }
    emit changed();
}

void setTextColour(QWidget& label, const QColor& colour) {
    QPalette palette = label.palette();
    palette.setColor(QPalette::WindowText, colour);
    label.setPalette(palette);
}

void setGround(QWidget& widget, const QColor& colour) {
    QPalette palette = widget.palette();
    palette.setColor(QPalette::Window, colour);
    widget.setPalette(palette);
}

QLabel* plainLabel(QWidget* parent, bool isWrapped) {
    auto* label = new QLabel(parent);
    label->setTextFormat(Qt::PlainText);
    label->setWordWrap(isWrapped);
    return label;
}

} // namespace ui
