// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/stage_list.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QPainter>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

namespace {

/// A drawing, a title, and a sentence below it on as many lines as it needs.
class StageButton : public QAbstractButton {
public:
    StageButton(const Theme& theme, const LearnStage& stage, QWidget* parent)
        : QAbstractButton(parent)
        , m_theme(theme)
        , m_sentence(stage.sentence)
        , m_icon(stage.icon) {
        setText(stage.title);
        setAccessibleName(stage.title);
        setAccessibleDescription(stage.sentence);
        setCheckable(true);
        setFocusPolicy(Qt::StrongFocus);
        setAttribute(Qt::WA_Hover);
        QSizePolicy policy(QSizePolicy::Preferred, QSizePolicy::Preferred);
        policy.setHeightForWidth(true);
        setSizePolicy(policy);
    }

    bool hasHeightForWidth() const override { return true; }

    int heightForWidth(int width) const override {
        const QRect words(0, 0, std::max(1, width - wordsLeft() - gap()), 10000);
        const QFontMetrics titles(m_theme.font(TextRole::DockTitle));
        const QFontMetrics sentences(m_theme.font(TextRole::Small));
        return titles.height() +
               sentences.boundingRect(words, Qt::TextWordWrap, m_sentence).height() + 2 * gap();
    }

    QSize sizeHint() const override {
        const int width = m_theme.scaled(240);
        return {width, heightForWidth(width)};
    }

    QSize minimumSizeHint() const override { return {m_theme.scaled(150), 0}; }

protected:
    void paintEvent(QPaintEvent*) override {
        const Colours& colours = m_theme.colours();
        QPainter painter(this);
        if (isChecked() || underMouse())
            painter.fillRect(rect(), isChecked() ? colours.selection : colours.hover);
        if (isChecked())
            painter.fillRect(0, 0, m_theme.scaled(3), height(), colours.accent);
        const int side = m_theme.scaled(16);
        painter.drawPixmap(
            m_theme.scaled(12),
            gap() + m_theme.scaled(1),
            iconPixmap(
                m_icon, isChecked() ? colours.accent : colours.muted, side, devicePixelRatioF()));
        QRect words = rect().adjusted(wordsLeft(), gap(), -gap(), -gap());
        painter.setFont(m_theme.font(TextRole::DockTitle));
        painter.setPen(colours.text);
        painter.drawText(words, Qt::AlignTop, text());
        words.setTop(words.top() + painter.fontMetrics().height());
        painter.setFont(m_theme.font(TextRole::Small));
        painter.setPen(colours.muted);
        painter.drawText(words, Qt::AlignTop | Qt::TextWordWrap, m_sentence);
        if (hasFocus()) {
            painter.setPen(QPen(colours.focus, m_theme.scaled(2)));
            painter.drawRect(rect().adjusted(1, 1, -1, -1));
        }
    }

private:
    int gap() const { return m_theme.scaled(10); }

    int wordsLeft() const { return m_theme.scaled(38); }

    const Theme& m_theme;
    QString m_sentence;
    IconName m_icon;
};

} // namespace

StageList::StageList(const Theme& theme, const std::vector<LearnStage>& stages, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_group(new QButtonGroup(this)) {
    setAccessibleName(tr("Stages"));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    for (const LearnStage& stage : stages) {
        auto* button = new StageButton(theme, stage, this);
        m_group->addButton(button, static_cast<int>(m_group->buttons().size()));
        column->addWidget(button);
    }
    column->addStretch(1);
    m_group->setExclusive(true);
    setCurrent(0);
    connect(m_group, &QButtonGroup::idToggled, this, [this](int index, bool isOn) {
        if (isOn)
            emit chosen(index);
    });
    connect(&theme, &Theme::changed, this, &StageList::restyle);
}

void StageList::setCurrent(int index) {
    QAbstractButton* chosen = button(index);
    if (chosen == nullptr || chosen->isChecked())
        return;
    const QSignalBlocker quiet(m_group);
    chosen->setChecked(true);
}

int StageList::current() const { return m_group->checkedId(); }

QAbstractButton* StageList::button(int index) const { return m_group->button(index); }

void StageList::restyle() {
    for (QAbstractButton* button : m_group->buttons())
        button->updateGeometry();
    update();
}

void StageList::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), m_theme.colours().panel);
}

} // namespace ui
