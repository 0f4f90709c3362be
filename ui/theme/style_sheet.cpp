// SPDX-License-Identifier: GPL-3.0-only
#include "ui/theme/theme.h"

#include <array>
#include <utility>

/// Outside the namespace, as the macro asks: a static library's resources are not found by
/// themselves.
static void initArrows() { Q_INIT_RESOURCE(arrows); }

namespace ui {

namespace {

// Words in braces become colours and lengths below. Properties: `kind` of a button is "primary",
// "flat" or "link", `form` "small" or "large" (`size` is a property of every widget already);
// `form` of a text or list is "field" in a form, where it has an edge; `tone` of a label is
// "muted", "small", "tiny", "problem" or "bold"; `form` of a table is "figures", "mask" or
// "sorted"; `ground` of a widget is "panel" or "raised".
constexpr const char* kSheet = R"(
QToolTip { background: {tip}; color: {text}; border: 1px solid {border}; padding: {4}px; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QMenuBar { font-size: {13}px; background: {window}; border-bottom: 1px solid {border}; padding: {2}px {8}px; }
QMenuBar::item { padding: {4}px {8}px; border-radius: 4px; background: transparent; }
QMenuBar::item:selected { background: {hover}; }
QMenu { font-size: {13}px; background: {panel}; border: 1px solid {border}; padding: {4}px; menu-scrollable: 1; }
QMenu::item { padding: {4}px {24}px {4}px {24}px; border-radius: 4px; }
QMenu::item:selected { background: {selection}; color: {text}; }
QMenu::item:disabled { color: {disabled}; }
QMenu::separator { height: 1px; background: {border}; margin: {4}px {8}px; }

*[ground="panel"] { background: {panel}; }
*[ground="raised"] { background: {raised}; }
QLabel[tone="muted"] { color: {muted}; }
QLabel[tone="small"] { color: {muted}; font-size: {12}px; }
QLabel[tone="tiny"] { color: {muted}; font-size: {11}px; }
QLabel[tone="problem"] { color: {error}; font-size: {11}px; }
QLabel[tone="bold"] { font-weight: 600; }

QPushButton { background: {panel}; border: 1px solid {control}; border-radius: 4px;
    padding: 0 {12}px; min-height: {26}px; color: {text}; font-size: {13}px;
    icon-size: {16}px; outline: none; }
QPushButton[form="small"] { min-height: {22}px; padding: 0 {8}px; font-size: {12}px; }
QPushButton[form="large"] { min-height: {38}px; }
QPushButton:hover { background: {hover}; }
QPushButton:pressed { background: {selection}; }
QPushButton:checked { background: {selection}; border-color: {accent}; color: {accent}; }
QPushButton:disabled { color: {disabled}; border-color: {border}; background: {panel}; }
QPushButton:focus { border: 2px solid {focus}; padding: 0 {11}px; }
QPushButton[form="small"]:focus { padding: 0 {7}px; }
QPushButton[kind="primary"] { background: {accent}; border-color: {accent}; color: {onAccent};
    font-weight: 600; }
QPushButton[kind="primary"]:disabled { background: {panel}; border-color: {border};
    color: {disabled}; }
QPushButton[kind="flat"] { background: transparent; border-color: transparent; }
QPushButton[kind="flat"]:hover { background: {hover}; }
QPushButton[kind="flat"]:focus { border-color: {focus}; }
QPushButton[kind="link"] { background: transparent; border-color: transparent; color: {accent};
    padding: 0 {4}px; text-align: left; }
QPushButton[kind="link"]:focus { border-color: {focus}; }
QToolButton { background: transparent; border: 1px solid transparent; border-radius: 4px;
    padding: {3}px; color: {muted}; icon-size: {16}px; }
QToolButton:hover { background: {hover}; }
QToolButton:checked { background: {selection}; color: {accent}; }
QToolButton:focus { border: 1px solid {focus}; }
QToolButton::menu-indicator { image: none; width: 0; }

QLineEdit, QPlainTextEdit, QTextEdit, QAbstractSpinBox, QComboBox { background: {panel};
    border: 1px solid {control}; border-radius: 4px; color: {text};
    selection-background-color: {accent}; selection-color: {onAccent}; }
QLineEdit, QAbstractSpinBox, QComboBox { min-height: {22}px; padding: 0 {6}px; }
QAbstractSpinBox[form="small"], QComboBox[form="small"] { font-size: {12}px; }
QLineEdit:focus, QPlainTextEdit:focus, QTextEdit:focus, QAbstractSpinBox:focus, QComboBox:focus {
    border: 1px solid {focus}; }
QLineEdit:disabled, QAbstractSpinBox:disabled, QComboBox:disabled { color: {disabled};
    border-color: {border}; }
QComboBox QAbstractItemView { background: {panel}; border: 1px solid {border};
    selection-background-color: {selection}; selection-color: {text}; }

QComboBox::drop-down { border: none; width: {20}px; }
QComboBox::down-arrow { image: url(:/arrows/list_{mode}.svg); width: {12}px; height: {12}px; }
QAbstractSpinBox { padding-right: {16}px; }
QAbstractSpinBox::up-button, QAbstractSpinBox::down-button { border: none; width: {16}px;
    border-left: 1px solid {border}; }
QAbstractSpinBox::up-button { subcontrol-position: top right; }
QAbstractSpinBox::down-button { subcontrol-position: bottom right; }
QAbstractSpinBox::up-button:hover, QAbstractSpinBox::down-button:hover { background: {hover}; }
QAbstractSpinBox::up-arrow { image: url(:/arrows/up_{mode}.svg); width: {9}px; height: {9}px; }
QAbstractSpinBox::down-arrow { image: url(:/arrows/down_{mode}.svg); width: {9}px; height: {9}px; }
QAbstractSpinBox::up-arrow:off { image: url(:/arrows/up_off_{mode}.svg); }
QAbstractSpinBox::down-arrow:off { image: url(:/arrows/down_off_{mode}.svg); }

QSlider:horizontal { min-height: {20}px; }
QSlider::groove:horizontal { height: 2px; background: {control}; }
QSlider::sub-page:horizontal { background: {accent}; }
QSlider::sub-page:horizontal:disabled { background: {control}; }
QSlider::handle:horizontal { width: {knobWidth}px;
    margin: -{6}px 0; border-radius: {knobRadius}px;
    border: 2px solid {accent}; background: {panel}; }
QSlider::handle:horizontal:focus { background: {accent}; border-color: {focus}; }
QSlider::handle:horizontal:disabled { border-color: {control}; }

QProgressBar { background: {hover}; border: none; border-radius: 2px; max-height: {4}px;
    min-height: {4}px; text-align: center; color: transparent; }
QProgressBar::chunk { background: {accent}; border-radius: 2px; }

QAbstractScrollArea { border: none; background: {panel}; }
QPlainTextEdit[form="field"], QListWidget[form="field"] { border: 1px solid {control}; }
QPlainTextEdit[form="field"]:focus, QListWidget[form="field"]:focus { border-color: {focus}; }
QScrollBar { background: transparent; border: none; }
QScrollBar:vertical { width: {10}px; }
QScrollBar:horizontal { height: {10}px; }
QScrollBar::handle { background: {control}; border-radius: 3px; margin: 2px; }
QScrollBar::handle:vertical { min-height: {24}px; }
QScrollBar::handle:horizontal { min-width: {24}px; }
QScrollBar::handle:hover { background: {muted}; }
QScrollBar::handle:disabled { background: transparent; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }

QTableView, QListView, QTreeView { background: {panel}; alternate-background-color: {raised};
    gridline-color: {grid}; selection-background-color: {selection}; selection-color: {text};
    outline: none; }
QHeaderView::section { background: {raised}; color: {muted}; border: none;
    border-bottom: 1px solid {border}; padding: {4}px {8}px; font-size: {12}px; }
QTableView[form="sorted"] QHeaderView::up-arrow, QTableView[form="sorted"] QHeaderView::down-arrow {
    subcontrol-position: top center; width: {7}px; height: {7}px; }
QTableView[form="sorted"] QHeaderView::up-arrow { image: url(:/arrows/up_{mode}.svg); }
QTableView[form="sorted"] QHeaderView::down-arrow { image: url(:/arrows/down_{mode}.svg); }
QTableCornerButton::section { background: {raised}; border: none;
    border-bottom: 1px solid {border}; }
QTableView[form="figures"] QHeaderView { background: {raised}; }
QTableView[form="figures"] QHeaderView::section { border: none; }
QTableView[form="figures"] QHeaderView::section:first { padding-left: {12}px; }
QTableView[form="figures"] QHeaderView::section:only-one { padding-left: {12}px; }
QTableView[form="mask"] QHeaderView::section:horizontal { padding: {4}px 1px; }
QTableView[form="mask"] QHeaderView::section:vertical { padding: 0px {8}px; }
QMainWindow::separator { background: {border}; width: 1px; height: 1px; }
QMainWindow::separator:hover { background: {accent}; }
QTabBar::tab { padding: {4}px {12}px; color: {muted}; border: none; background: {raised}; }
QTabBar::tab:selected { color: {text}; border-bottom: 2px solid {accent}; background: {panel}; }
QCheckBox, QRadioButton { spacing: {8}px; }
QCheckBox::indicator { width: {12}px; height: {12}px; border: 1px solid {muted};
    border-radius: 2px; background: {panel}; }
QCheckBox::indicator:checked { background: {accent}; border-color: {accent};
    image: url(:/arrows/tick_{mode}.svg); }
QCheckBox::indicator:disabled { border-color: {border}; }
QCheckBox::indicator:checked:disabled { background: {disabled}; border-color: {disabled}; }
QRadioButton::indicator { width: {12}px; height: {12}px; border: 1px solid {muted};
    border-radius: {knobRadius}px; background: {panel}; }
QRadioButton::indicator:checked { border-color: {accent}; background: qradialgradient(cx: 0.5,
    cy: 0.5, radius: 0.5, fx: 0.5, fy: 0.5, stop: 0 {accent}, stop: 0.55 {accent},
    stop: 0.65 {panel}, stop: 1 {panel}); }
QRadioButton::indicator:disabled { border-color: {border}; }
QRadioButton::indicator:focus { border-color: {focus}; }
QCheckBox::indicator:focus { border: 2px solid {focus}; }
QGroupBox { border: none; margin-top: {20}px; font-weight: 600; }
QGroupBox::title { subcontrol-origin: margin; left: 0; }
)";

} // namespace

QString controlStyleSheet(const Theme& theme) {
    initArrows();
    const Colours& colours = theme.colours();
    const std::array<std::pair<const char*, QColor>, 16> names = {
        {{"window", colours.window},
         {"panel", colours.panel},
         {"raised", colours.raised},
         {"hover", colours.hover},
         {"text", colours.text},
         {"muted", colours.muted},
         {"disabled", colours.disabled},
         {"error", colours.error},
         {"border", colours.border},
         {"control", colours.controlBorder},
         {"accent", colours.accent},
         {"onAccent", colours.onAccent},
         {"selection", colours.selection},
         {"focus", colours.focus},
         {"grid", colours.grid},
         {"tip", colours.tipGround}}};
    QString sheet = QString::fromLatin1(kSheet);
    for (const auto& [name, colour] : names)
        sheet.replace(QStringLiteral("{%1}").arg(QLatin1String(name)), colour.name());
    for (const int pixels : {2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 16, 20, 22, 24, 26, 38})
        sheet.replace(QStringLiteral("{%1}").arg(pixels), QString::number(theme.scaled(pixels)));
    // A round handle: as wide as the groove's 2 pixels and both margins, less its border of 2.
    sheet.replace(QStringLiteral("{knobWidth}"), QString::number(2 * theme.scaled(6) - 2));
    sheet.replace(QStringLiteral("{knobRadius}"), QString::number(theme.scaled(6) + 1));
    sheet.replace(QStringLiteral("{mode}"), QLatin1String(colours.isDark ? "dark" : "light"));
    return sheet;
}

} // namespace ui
