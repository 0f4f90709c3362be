// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/controls/settings/setting_row.h"

#include "ui/icons/icons.h"
#include "ui/shell/widgets/badge.h"
#include "ui/theme/tip_text.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPainter>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

using namespace engine;

namespace {

QLabel* hiddenText(const char* tone, QWidget* parent) {
    QLabel* label = plainLabel(parent, true);
    label->setProperty("tone", tone);
    label->hide();
    return label;
}

void showText(QLabel* label, const QString& text) {
    if (label->text() != text)
        label->setText(text);
    label->setVisible(!text.isEmpty());
}

} // namespace

SettingRow::SettingRow(const Theme& theme, SettingInfo setting, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_setting(std::move(setting))
    , m_shown(m_setting.initial)
    , m_reference(m_setting.initial) {
    setObjectName(QString::fromStdString(m_setting.name));
    build();
    const QString help = settingHelp(m_setting);
    setTip(*this, help);
    setWhatsThis(toolTip());
    m_help->setText(help);
    setValue(m_setting.initial);
    for (QWidget* widget : findChildren<QWidget*>()) {
        widget->installEventFilter(this);
        if (widget->focusPolicy() == Qt::WheelFocus)
            widget->setFocusPolicy(Qt::StrongFocus); // a wheel over the dock scrolls the dock
        if (widget->focusPolicy() != Qt::NoFocus)
            widget->setAccessibleDescription(help);
    }
    connect(m_editor, &SettingEditor::committed, this, &SettingRow::commit);
    connect(m_reset, &QToolButton::clicked, this, &SettingRow::reset);
    connect(&theme, &Theme::changed, this, &SettingRow::adoptTheme);
    adoptTheme();
}

void SettingRow::build() {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(12, 8, 8, 8);
    layout->setSpacing(2);
    layout->addWidget(makeHead());
    m_editor = makeSettingEditor(m_theme, m_setting, this);
    m_reset = new QToolButton(this);
    m_reset->setObjectName("reset");
    m_reset->setAccessibleName(tr("Reset %1").arg(settingTitle(m_setting).whole()));
    auto* controls = new QHBoxLayout;
    controls->setSpacing(4);
    controls->addWidget(m_editor, 1);
    controls->addWidget(m_reset);
    layout->addLayout(controls);
    m_note = hiddenText("tiny", this);
    m_problem = hiddenText("problem", this);
    m_problem->setObjectName("problem");
    m_help = hiddenText("tiny", this);
    for (QLabel* label : {m_note, m_problem, m_help})
        layout->addWidget(label);
}

QWidget* SettingRow::makeHead() {
    const SettingTitle title = settingTitle(m_setting);
    auto* head = new QWidget(this);
    auto* layout = new QHBoxLayout(head);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(6);
    m_symbol = new QLabel(title.symbol, head);
    m_symbol->setTextFormat(Qt::PlainText);
    m_symbol->setVisible(!title.symbol.isEmpty());
    m_title = new QLabel(title.name, head);
    m_title->setTextFormat(Qt::PlainText);
    m_title->setWordWrap(true);
    layout->addWidget(m_symbol);
    layout->addWidget(m_title, 1);
    const bool isLive = m_setting.effect == SettingEffect::NextStep;
    layout->addWidget(new Badge(m_theme,
                                effectText(m_setting.effect),
                                isLive ? Badge::Tone::Live : Badge::Tone::Quiet,
                                head));
    return head;
}

void SettingRow::adoptTheme() {
    QFont symbol = m_theme.font(TextRole::Title);
    symbol.setFamilies({"Noto Serif", "DejaVu Serif", "serif"});
    symbol.setStyleHint(QFont::Serif);
    symbol.setItalic(true);
    m_symbol->setFont(symbol);
    m_symbol->setMinimumWidth(m_theme.scaled(14));
    m_title->setFont(m_theme.font(TextRole::Interface));
    showReset();
}

void SettingRow::showReset() {
    const Colours& colours = m_theme.colours();
    const int size = m_theme.scaled(14);
    m_reset->setIconSize({size, size});
    m_reset->setIcon(makeIcon(IconName::Reset, colours.accent, colours.controlBorder));
    m_reset->setEnabled(isChanged());
    const QString value = shownValue(m_setting, m_reference);
    setTip(*m_reset,
           m_referenceName.isEmpty() ? tr("Back to %1").arg(value)
                                     : tr("Back to %1 of %2").arg(value, m_referenceName));
}

void SettingRow::setValue(const SettingValue& value) {
    if (value != m_shown)
        setProblem({}); // it concerned another value
    m_shown = value;
    if (!m_editor->isBusy()) {
        m_editor->setValue(value);
        m_rounded = m_editor->value();
    }
    showReset();
}

void SettingRow::setReference(const SettingValue& value, const QString& name) {
    m_reference = value;
    m_referenceName = name;
    showReset();
}

bool SettingRow::isChanged() const { return m_shown != m_reference; }

void SettingRow::setNote(const QString& note) { showText(m_note, note); }

void SettingRow::setProblem(const QString& problem) { showText(m_problem, problem); }

QString SettingRow::problem() const { return m_problem->text(); }

void SettingRow::setHelpShown(bool isShown) {
    m_isHelpShown = isShown;
    m_help->setVisible(isShown);
}

void SettingRow::addButton(QWidget* button) {
    auto* controls = static_cast<QHBoxLayout*>(layout()->itemAt(1)->layout());
    controls->insertWidget(1, button);
    button->installEventFilter(this);
}

void SettingRow::commit() {
    const SettingValue wanted = m_editor->value();
    if (wanted != m_rounded)
        take(wanted);
}

void SettingRow::take(const SettingValue& wanted) {
    m_shown = wanted;
    m_rounded = m_editor->value();
    setProblem({});
    showReset();
    emit edited(wanted);
}

/// The value itself, which may have more digits than the control shows.
void SettingRow::reset() {
    m_editor->setValue(m_reference);
    m_editor->mainControl()->setFocus(); // the button is about to be disabled
    take(SettingValue(m_reference));
}

bool SettingRow::isAskingForHelp(QEvent* event) const {
    return event->type() == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_F1;
}

bool SettingRow::eventFilter(QObject* watched, QEvent* event) {
    if (isAskingForHelp(event)) {
        setHelpShown(!m_isHelpShown);
        return true;
    }
    if (event->type() == QEvent::FocusIn)
        ++m_visit;
    return QWidget::eventFilter(watched, event);
}

void SettingRow::paintEvent(QPaintEvent* /*event*/) {
    QPainter painter(this);
    painter.setPen(m_theme.colours().grid);
    painter.drawLine(0, height() - 1, width() - 1, height() - 1);
}

/// Moving to another window resets fonts and colours.
void SettingRow::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    adoptTheme();
}

} // namespace ui
