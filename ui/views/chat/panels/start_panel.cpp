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
        QPushButton* button = makeRow(tr(example.title), tr(example.kind));
        button->setAccessibleName(tr("Send: %1").arg(prompt));
        button->setToolTip(prompt);
        connect(button, &QPushButton::clicked, this, [this, prompt] { emit promptChosen(prompt); });
        rows->addWidget(button);
        m_examples << button;
    }
    rows->addSpacing(theme.scaled(8));
    m_lesson = makeRow(tr("New here? See how an answer is made"), tr("first lesson"));
    rows->addWidget(m_lesson);
    rows->addStretch(3);
    m_lesson->setAccessibleName(tr("Begin the first lesson: how an answer is made"));
    m_lesson->setToolTip(tr("About ten minutes; all lessons: Shift+F1"));
    m_lesson->hide();
    connect(m_lesson, &QPushButton::clicked, this, &StartPanel::firstLessonAsked);
    connect(&theme, &Theme::changed, this, &StartPanel::restyle);
    restyle();
}

/// A large button with the words to the left and their kind to the right.
QPushButton* StartPanel::makeRow(const QString& title, const QString& kind) {
    auto* button = new QPushButton(this);
    button->setProperty("form", "large");
    button->setSizePolicy(QSizePolicy::Minimum, QSizePolicy::Minimum); // several lines, too
    auto* row = new QHBoxLayout(button);
    auto* words = new QLabel(title, button);
    auto* note = new QLabel(kind, button);
    words->setWordWrap(true);
    note->setProperty("tone", "small");
    auto* arrow = new QLabel(button);
    arrow->setObjectName(QStringLiteral("arrow"));
    row->addWidget(words, 1);
    row->addWidget(note);
    row->addWidget(arrow);
    for (QLabel* label : {words, note, arrow})
        label->setAttribute(Qt::WA_TransparentForMouseEvents);
    return button;
}

void StartPanel::setHasLessons(bool hasLessons) { m_lesson->setVisible(hasLessons); }

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
    for (QPushButton* button : m_examples + QList<QPushButton*>{m_lesson}) {
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
