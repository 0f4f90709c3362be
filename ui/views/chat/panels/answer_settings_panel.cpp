// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/answer_settings_panel.h"

#include "ui/shell/figure_text.h"
#include "ui/shell/text_field.h"

#include <QComboBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QPushButton>
#include <QSignalBlocker>
#include <QSpinBox>

namespace ui {

namespace {

constexpr int kTypedMs = 300; ///< after the last key

/// A line end and a tab are written as \n and \t, so that each line is one stop string.
QString escaped(QString text) {
    return text.replace(u'\\', QLatin1String("\\\\"))
        .replace(u'\n', QLatin1String("\\n"))
        .replace(u'\t', QLatin1String("\\t"));
}

QString unescaped(const QString& line) {
    QString text;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar next = i + 1 < line.size() ? line[i + 1] : QChar();
        const bool isEscape = line[i] == u'\\' && (next == u'n' || next == u't' || next == u'\\');
        if (isEscape)
            ++i;
        text += !isEscape      ? line[i]
                : next == u'n' ? QChar(u'\n')
                : next == u't' ? QChar(u'\t')
                               : next;
    }
    return text;
}

} // namespace

AnswerSettingsPanel::AnswerSettingsPanel(const Theme& theme, QWidget* parent)
    : ColumnScroll(parent)
    , m_theme(theme)
    , m_place(new QComboBox(this))
    , m_systemPrompt(new TextField(this))
    , m_note(new QLabel(this))
    , m_maxTokens(new QSpinBox(this))
    , m_stopStrings(new TextField(this))
    , m_save(new QPushButton(tr("Save"), this))
    , m_forget(new QPushButton(this)) {
    setAccessibleName(tr("System prompt and answer limits"));
    m_place->addItems({tr("This chat"), tr("This model"), tr("All chats")});
    m_place->setAccessibleName(tr("Chats to which this applies"));
    m_systemPrompt->setAccessibleName(tr("System prompt"));
    m_systemPrompt->setPlaceholderText(
        tr("How the model should answer, for example: You are brief and answer in French."));
    m_note->setWordWrap(true);
    m_maxTokens->setAccessibleName(tr("Longest answer"));
    m_maxTokens->setRange(1, AnswerDefaults::kMostTokens);
    m_maxTokens->setGroupSeparatorShown(true);
    showTokenUnit(*m_maxTokens);
    m_stopStrings->setAccessibleName(tr("Stop strings"));
    m_stopStrings->setPlaceholderText(tr("One per line; \\n stands for a line break"));
    m_stopStrings->setToolTip(tr("An answer ends before the first of these texts appears in it."));
    for (QPlainTextEdit* field : {m_systemPrompt, m_stopStrings}) {
        field->setTabChangesFocus(true);
        field->setProperty("form", "field");
    }
    setFrameShape(QFrame::NoFrame);
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Maximum);
    auto* fields = new QWidget;
    fields->setProperty("ground", "panel");
    auto* form = new QFormLayout(fields);
    form->setContentsMargins(theme.scaled(16), theme.scaled(8), theme.scaled(16), theme.scaled(8));
    form->addRow(tr("For"), m_place);
    form->addRow(tr("System prompt"), m_systemPrompt);
    form->addRow(QString(), m_note);
    form->addRow(tr("Longest answer"), m_maxTokens);
    form->addRow(tr("Stop at"), m_stopStrings);
    auto* close = new QPushButton(tr("Close"), this);
    auto* buttons = new QHBoxLayout;
    for (QPushButton* button : {m_save, m_forget, close}) {
        button->setProperty("form", "small");
        buttons->addWidget(button);
    }
    buttons->addStretch();
    form->addRow(QString(), buttons);
    setWidget(fields);
    m_countTimer.setSingleShot(true);
    m_countTimer.setInterval(kTypedMs);
    connect(&m_countTimer, &QTimer::timeout, this, [this] {
        emit systemPromptTyped(m_systemPrompt->toPlainText());
    });
    connect(m_place, &QComboBox::currentIndexChanged, this, [this] {
        keepTyped();
        fill();
    });
    connect(m_systemPrompt, &QPlainTextEdit::textChanged, this, [this] {
        if (m_systemPrompt->document()->isEmpty())
            m_note->clear();
        else if (isVisible())
            m_countTimer.start();
        showButtons();
    });
    connect(m_stopStrings, &QPlainTextEdit::textChanged, this, &AnswerSettingsPanel::showButtons);
    connect(m_maxTokens, &QSpinBox::valueChanged, this, &AnswerSettingsPanel::showButtons);
    connect(m_save, &QPushButton::clicked, this, &AnswerSettingsPanel::save);
    connect(m_forget, &QPushButton::clicked, this, [this] {
        m_typed.remove(m_shownKey);
        emit saved(place(), {});
        fill();
    });
    connect(close, &QPushButton::clicked, this, &AnswerSettingsPanel::closed);
    connect(&theme, &Theme::changed, this, &AnswerSettingsPanel::restyle);
    fill();
    restyle();
}

SettingsPlace AnswerSettingsPanel::place() const {
    return static_cast<SettingsPlace>(m_place->currentIndex());
}

/// The settings in effect at this place if it had none of its own.
AnswerSettings AnswerSettingsPanel::wider() const {
    AnswerSettings settings{QString(), AnswerDefaults::kMaxTokens, QStringList()};
    for (int i = static_cast<int>(m_places.size()) - 1; i > m_place->currentIndex(); --i) {
        const AnswerSettings& from = m_places[static_cast<std::size_t>(i)];
        if (from.systemPrompt)
            settings.systemPrompt = from.systemPrompt;
        if (from.maxTokens)
            settings.maxTokens = from.maxTokens;
        if (from.stopStrings)
            settings.stopStrings = from.stopStrings;
    }
    return settings;
}

/// The fields that differ from the settings that would be in effect anyway.
AnswerSettings AnswerSettingsPanel::written() const {
    QStringList stops;
    for (const QString& line : m_stopStrings->toPlainText().split(u'\n', Qt::SkipEmptyParts))
        stops.append(unescaped(line));
    const AnswerSettings otherwise = wider();
    AnswerSettings own{m_systemPrompt->toPlainText(), m_maxTokens->value(), stops};
    if (own.systemPrompt == otherwise.systemPrompt)
        own.systemPrompt.reset();
    if (own.maxTokens == otherwise.maxTokens)
        own.maxTokens.reset();
    if (own.stopStrings == otherwise.stopStrings)
        own.stopStrings.reset();
    return own;
}

void AnswerSettingsPanel::setSettings(const std::array<AnswerSettings, 3>& places,
                                      const QString& modelName,
                                      ChatId chat) {
    m_place->setItemText(1, modelName.isEmpty() ? tr("This model (none is loaded)") : modelName);
    if (places == m_places && chat == m_chat && modelName == m_modelName)
        return;
    keepTyped();
    if (const QString key = QStringLiteral("model ") + modelName;
        m_modelName.isEmpty() && !m_typed.contains(key))
        moveTyped(QStringLiteral("model "), key);
    m_places = places;
    m_chat = chat;
    m_modelName = modelName;
    fill();
}

void AnswerSettingsPanel::beginChat(ChatId chat) {
    if (m_chat != 0 || chat == 0)
        return;
    keepTyped();
    moveTyped(QStringLiteral("chat 0"), QStringLiteral("chat %1").arg(chat));
    m_chat = chat;
    m_shownKey = keyOfPlace();
}

void AnswerSettingsPanel::moveTyped(const QString& from, const QString& to) {
    if (m_typed.contains(from))
        m_typed.insert(to, m_typed.take(from));
}

QString AnswerSettingsPanel::keyOfPlace() const {
    if (place() == SettingsPlace::Chat)
        return QStringLiteral("chat %1").arg(m_chat);
    return place() == SettingsPlace::Model ? QStringLiteral("model ") + m_modelName : QString();
}

/// Of the place that the fields show, before they show another.
void AnswerSettingsPanel::keepTyped() {
    if (m_isTyped)
        m_typed.insert(
            m_shownKey,
            {m_systemPrompt->toPlainText(), m_maxTokens->value(), m_stopStrings->toPlainText()});
    else
        m_typed.remove(m_shownKey);
}

void AnswerSettingsPanel::fill() {
    const AnswerSettings& own = m_places[static_cast<std::size_t>(m_place->currentIndex())];
    const AnswerSettings otherwise = wider();
    const QSignalBlocker quietStops(m_stopStrings);
    const QSignalBlocker quietTokens(m_maxTokens);
    m_systemPrompt->setPlainText(own.systemPrompt.value_or(*otherwise.systemPrompt));
    m_maxTokens->setValue(own.maxTokens.value_or(*otherwise.maxTokens));
    QStringList lines;
    for (const QString& text : own.stopStrings.value_or(*otherwise.stopStrings))
        lines.append(escaped(text));
    m_stopStrings->setPlainText(lines.join(u'\n'));
    m_shownKey = keyOfPlace();
    if (const auto typed = m_typed.constFind(m_shownKey); typed != m_typed.cend()) {
        m_systemPrompt->setPlainText(typed->systemPrompt);
        m_maxTokens->setValue(typed->maxTokens);
        m_stopStrings->setPlainText(typed->stopStrings);
    }
    showButtons();
}

void AnswerSettingsPanel::showButtons() {
    const AnswerSettings& own = m_places[static_cast<std::size_t>(m_place->currentIndex())];
    const bool hasPlace = place() != SettingsPlace::Model || !m_modelName.isEmpty();
    m_isTyped = !(written() == own);
    m_save->setEnabled(m_isTyped && hasPlace);
    m_save->setToolTip(hasPlace ? QString() : tr("Load a model first."));
    const bool isWidest = place() == SettingsPlace::Everywhere;
    m_forget->setText(isWidest ? tr("Remove the defaults") : tr("Use the wider settings"));
    m_forget->setEnabled(!own.isEmpty());
}

void AnswerSettingsPanel::save() {
    m_typed.remove(m_shownKey);
    emit saved(place(), written());
    showButtons();
}

void AnswerSettingsPanel::setTokens(int tokens, int contextLength) {
    if (m_systemPrompt->document()->isEmpty())
        return; // a count for an earlier text
    const bool isTooLong = tokens >= contextLength;
    m_note->setProperty("tone", isTooLong ? "problem" : "small");
    m_note->setStyleSheet(QStringLiteral(" ")); // makes Qt read the property again
    m_note->setText((isTooLong ? tr("It has %1 tokens, but the context holds only %2. Shorten it "
                                    "to leave room for a question.")
                               : tr("%1 of the context's %2 tokens"))
                        .arg(numberText(tokens), numberText(contextLength)));
}

void AnswerSettingsPanel::focusText() {
    m_systemPrompt->setFocus();
    if (!m_systemPrompt->document()->isEmpty())
        m_countTimer.start();
}

/// While the focus is in this panel, Esc closes it; elsewhere Esc stops the answer.
bool AnswerSettingsPanel::event(QEvent* event) {
    if (event->type() == QEvent::ShortcutOverride &&
        static_cast<QKeyEvent*>(event)->key() == Qt::Key_Escape) {
        event->accept();
        return true;
    }
    return ColumnScroll::event(event);
}

void AnswerSettingsPanel::keyPressEvent(QKeyEvent* event) {
    if (event->key() == Qt::Key_Escape)
        emit closed();
    else
        ColumnScroll::keyPressEvent(event);
}

void AnswerSettingsPanel::restyle() {
    setProperty("ground", "panel");
    m_save->setProperty("kind", "primary");
    const int line = QFontMetrics(m_theme.font(TextRole::Interface)).lineSpacing();
    // In a low window they give way, not the window.
    const auto setLines = [&](QPlainTextEdit& field, int least, int most) {
        field.setMinimumHeight(least * line + m_theme.scaled(12));
        field.setMaximumHeight(most * line + m_theme.scaled(12));
    };
    setLines(*m_systemPrompt, 2, 5);
    setLines(*m_stopStrings, 1, 2);
}

} // namespace ui
