// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/empty_learn.h"

#include "ui/icons/icons.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

#include <array>

namespace ui {

namespace {

/// A draft of four tokens with alternatives beside them, all of them empty.
class DraftOutline : public QWidget {
public:
    DraftOutline(const Theme& theme, QWidget* parent)
        : QWidget(parent)
        , m_theme(theme) {
        setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
    }

    QSize sizeHint() const override { return {m_theme.scaled(360), m_theme.scaled(150)}; }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        painter.setPen(m_theme.colours().border);
        const int height = m_theme.scaled(23);
        const int step = m_theme.scaled(32);
        const int first = m_theme.scaled(96);
        const int other = m_theme.scaled(64);
        constexpr std::array kAlternatives = {0, 2, 1, 3};
        int row = 0;
        for (const int alternatives : kAlternatives) {
            const int top = row++ * step;
            painter.drawRect(0, top, first, height);
            if (row > 1)
                painter.drawLine(m_theme.scaled(14), top - step + height, m_theme.scaled(14), top);
            for (int i = 0; i < alternatives; ++i)
                painter.drawRect(first + m_theme.scaled(24) + i * (other + m_theme.scaled(8)),
                                 top,
                                 other,
                                 height);
        }
    }

private:
    const Theme& m_theme;
};

} // namespace

EmptyLearn::EmptyLearn(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_outline(new DraftOutline(theme, this))
    , m_title(plainLabel(this, true))
    , m_sentence(plainLabel(this, true))
    , m_chat(new QPushButton(tr("Go to Chat"), this))
    , m_recording(new QPushButton(tr("Open a recording..."), this))
    , m_lessons(new QPushButton(tr("Lessons"), this)) {
    m_title->setText(tr("Watch how an answer is made"));
    m_sentence->setText(
        tr("Ask something in Chat, or open a recording: its rounds can be walked "
           "through here, one step at a time. The lessons begin at the beginning."));
    m_chat->setProperty("kind", QStringLiteral("primary"));
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_chat);
    buttons->addWidget(m_recording);
    buttons->addWidget(m_lessons);
    buttons->addStretch(1);
    m_title->setAlignment(Qt::AlignHCenter);
    m_sentence->setAlignment(Qt::AlignHCenter);
    auto* column = new QVBoxLayout(this);
    column->addStretch(1);
    column->addWidget(m_outline, 0, Qt::AlignHCenter);
    column->addWidget(m_title);
    auto* middle = new QHBoxLayout;
    middle->addStretch(1);
    middle->addWidget(m_sentence, 100);
    middle->addStretch(1);
    column->addLayout(middle);
    column->addLayout(buttons);
    column->addStretch(2);
    connect(m_chat, &QPushButton::clicked, this, &EmptyLearn::chatAsked);
    connect(m_recording, &QPushButton::clicked, this, &EmptyLearn::recordingAsked);
    connect(m_lessons, &QPushButton::clicked, this, &EmptyLearn::lessonsAsked);
    connect(&theme, &Theme::changed, this, &EmptyLearn::restyle);
    restyle();
}

void EmptyLearn::restyle() {
    layout()->setSpacing(m_theme.scaled(12));
    layout()->setContentsMargins(
        m_theme.scaled(24), m_theme.scaled(24), m_theme.scaled(24), m_theme.scaled(24));
    m_title->setFont(m_theme.font(TextRole::Title));
    m_sentence->setFont(m_theme.font(TextRole::Interface));
    m_sentence->setMaximumWidth(m_theme.scaled(520));
    setTextColour(*m_sentence, m_theme.colours().muted);
    m_chat->setIcon(
        makeIcon(IconName::Chat, m_theme.colours().onAccent, m_theme.colours().disabled));
    m_recording->setIcon(
        makeIcon(IconName::Folder, m_theme.colours().text, m_theme.colours().disabled));
    m_lessons->setIcon(
        makeIcon(IconName::Learn, m_theme.colours().text, m_theme.colours().disabled));
    m_outline->updateGeometry();
    update();
}

void EmptyLearn::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), m_theme.colours().panel);
}

} // namespace ui
