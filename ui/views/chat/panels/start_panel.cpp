// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/chat/panels/start_panel.h"

#include "ui/icons/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

#include <array>

namespace ui {

namespace {

constexpr int kWidest = 440; ///< pixels at 100 %

struct Example {
    const char* title;
    const char* prompt;
    const char* kind;
};

// The second answer repeats its question nearly word for word, which suits drafts from the text.
constexpr std::array kExamples = {
    Example{QT_TRANSLATE_NOOP("ui::StartPanel", "Explain a heat pump to a ten-year-old"),
            QT_TRANSLATE_NOOP("ui::StartPanel", "Explain a heat pump to a ten-year-old."),
            QT_TRANSLATE_NOOP("ui::StartPanel", "chat")},
    Example{
        QT_TRANSLATE_NOOP("ui::StartPanel", "Write a text again with another word in it"),
        QT_TRANSLATE_NOOP(
            "ui::StartPanel",
            "Write this text again, with \"sea\" in the place of \"lake\": The lake is quiet in "
            "the morning. A boat crosses the lake, and the lake carries it home. In the evening "
            "the boat rests at the shore of the lake, and the children throw stones into the "
            "water. At night the lake is dark, and nobody crosses it."),
        QT_TRANSLATE_NOOP("ui::StartPanel", "drafts well")},
    Example{QT_TRANSLATE_NOOP("ui::StartPanel", "Write Python that merges two sorted lists"),
            QT_TRANSLATE_NOOP("ui::StartPanel", "Write Python that merges two sorted lists."),
            QT_TRANSLATE_NOOP("ui::StartPanel", "code")}};

} // namespace

StartPanel::StartPanel(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_title(new QLabel(tr("What shall we write?"), this))
    , m_sentence(plainLabel(this, true)) {
    auto* rows = new QVBoxLayout(this);
    rows->setSpacing(theme.scaled(8));
    rows->addStretch(2);
    rows->addWidget(m_title);
    rows->addWidget(m_sentence);
    rows->addSpacing(theme.scaled(8));
    for (const Example& example : kExamples) {
        const QString prompt = tr(example.prompt);
        auto* button = new QPushButton(this);
        button->setAccessibleName(tr("Send: %1").arg(prompt));
        button->setProperty("form", "large");
        button->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Minimum); // several lines, too
        auto* row = new QHBoxLayout(button);
        button->setToolTip(prompt);
        auto* words = new QLabel(tr(example.title), button);
        auto* kind = new QLabel(tr(example.kind), button);
        words->setWordWrap(true);
        kind->setProperty("tone", "small");
        auto* arrow = new QLabel(button);
        arrow->setObjectName(QStringLiteral("arrow"));
        row->addWidget(words, 1);
        row->addWidget(kind);
        row->addWidget(arrow);
        for (QLabel* label : {words, kind, arrow})
            label->setAttribute(Qt::WA_TransparentForMouseEvents);
        connect(button, &QPushButton::clicked, this, [this, prompt] { emit promptChosen(prompt); });
        rows->addWidget(button);
        m_examples << button;
    }
    rows->addStretch(3);
    connect(&theme, &Theme::changed, this, &StartPanel::restyle);
    restyle();
}

void StartPanel::setState(const QString& sentence, bool canSend) {
    m_sentence->setText(sentence);
    for (QPushButton* button : m_examples)
        button->setEnabled(canSend);
}

void StartPanel::restyle() {
    QFont title = m_theme.font(TextRole::Title);
    title.setPixelSize(m_theme.scaled(20));
    m_title->setFont(title);
    setMaximumWidth(m_theme.scaled(kWidest));
    m_sentence->setProperty("tone", "muted");
    for (QPushButton* button : m_examples) {
        const int side = m_theme.scaled(12);
        const int above = m_theme.scaled(4);
        button->layout()->setContentsMargins(side, above, side, above);
        button->findChild<QLabel*>(QStringLiteral("arrow"))
            ->setPixmap(iconPixmap(IconName::ChevronRight,
                                   m_theme.colours().muted,
                                   m_theme.scaled(16),
                                   devicePixelRatioF()));
    }
}

} // namespace ui
