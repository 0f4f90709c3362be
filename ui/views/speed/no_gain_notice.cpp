// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/speed/no_gain_notice.h"

#include "ui/shell/bars/banner.h"
#include "ui/shell/figure_text.h"
#include "ui/theme/theme.h"

#include <QGridLayout>
#include <QLabel>
#include <QVBoxLayout>

#include <utility>

namespace ui {

namespace {

constexpr int kRowCount = 8; ///< of the arithmetic

} // namespace

NoGainNotice::NoGainNotice(const Theme& theme, bool isBrief, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_isBrief(isBrief)
    , m_column(new QVBoxLayout(this)) {
    m_column->setContentsMargins(0, 0, 0, 0);
    m_column->setSpacing(0);
    makeArithmetic();
    m_column->addWidget(m_arithmetic);
    connect(&theme, &Theme::changed, this, &NoGainNotice::restyle);
    restyle();
    hide();
}

void NoGainNotice::makeArithmetic() {
    m_arithmetic = new QWidget(this);
    m_arithmetic->setAutoFillBackground(true);
    m_arithmetic->setAccessibleName(tr("Why drafting does not pay"));
    m_grid = new QGridLayout(m_arithmetic);
    m_grid->setColumnStretch(0, 1);
    m_title = new QLabel(tr("Why"), m_arithmetic);
    m_grid->addWidget(m_title, 0, 0, 1, 2);
    for (int row = 0; row < kRowCount; ++row) {
        m_names.push_back(plainLabel(m_arithmetic, true));
        m_names.back()->setProperty("tone", "muted");
        m_values.push_back(plainLabel(m_arithmetic));
        m_grid->addWidget(m_names.back(), row + 1, 0);
        m_grid->addWidget(m_values.back(), row + 1, 1, Qt::AlignRight);
    }
    m_conclusion = plainLabel(m_arithmetic, true);
    m_conclusion->setProperty("tone", "muted");
    m_grid->addWidget(m_conclusion, kRowCount + 1, 0, 1, 2);
    m_arithmetic->hide();
}

void NoGainNotice::update(const std::optional<GainFinding>& finding) {
    if (!finding) {
        m_isDismissed = false;
        m_isSaid = false;
        hide();
        return;
    }
    if (std::exchange(m_span, finding->span) != finding->span)
        m_isDismissed = m_isSaid = false;
    m_isSaid = isWithoutGain(*finding, m_isSaid);
    if (!m_isSaid || m_isDismissed) {
        hide();
        return;
    }
    if (m_banner == nullptr || m_banner->notice().headline != gainHeadline(*finding))
        makeBanner(gainHeadline(*finding));
    m_banner->setSentence(sentenceOf(*finding));
    m_finding = finding;
    if (m_isArithmeticShown)
        writeArithmetic();
    show();
}

/// The number is that of this chat, as the other views show it.
QString NoGainNotice::sentenceOf(const GainFinding& finding) const {
    const QString speed = decimalText(finding.inChat);
    if (finding.isByAuto)
        return tr("This chat runs at %1× the speed of vanilla. The text is the same, it only comes "
                  "more slowly. Auto goes on measuring what pays; Vanilla does not draft.")
            .arg(speed);
    return tr("This chat runs at %1× the speed of vanilla. The text is the same, it only comes "
              "more slowly. Auto drafts in another way instead, where that pays.")
        .arg(speed);
}

void NoGainNotice::makeBanner(const QString& headline) {
    delete m_banner;
    Notice notice;
    notice.kind = Notice::Kind::Finding;
    notice.id = QStringLiteral("no_gain");
    notice.isBrief = m_isBrief;
    notice.headline = headline;
    notice.choices.push_back({tr("Why?"), [this] { showArithmetic(!m_isArithmeticShown); }, false});
    m_banner = new Banner(m_theme, notice, this);
    m_column->insertWidget(0, m_banner);
    connect(m_banner, &Banner::closed, this, [this] {
        m_isDismissed = true;
        showArithmetic(false);
        hide();
        emit dismissed();
    });
}

void NoGainNotice::showArithmetic(bool isShown) {
    m_isArithmeticShown = isShown;
    if (isShown)
        writeArithmetic();
    m_arithmetic->setVisible(isShown);
}

void NoGainNotice::writeArithmetic() {
    const auto rows = arithmeticRows(*m_finding);
    for (std::size_t i = 0; i < m_names.size(); ++i) {
        const bool isUsed = i < rows.size();
        m_names[i]->setVisible(isUsed);
        m_values[i]->setVisible(isUsed);
        if (!isUsed)
            continue;
        m_names[i]->setText(rows[i].first);
        m_values[i]->setText(rows[i].second);
        QFont font = m_theme.font(TextRole::Figure);
        font.setWeight(i + 1 == rows.size() ? QFont::DemiBold : QFont::Normal);
        m_values[i]->setFont(font);
    }
    m_conclusion->setText(arithmeticSentence(*m_finding));
}

QStringList NoGainNotice::arithmetic() const {
    QStringList rows;
    if (m_finding)
        for (const auto& [name, value] : arithmeticRows(*m_finding))
            rows << name + QStringLiteral(": ") + value;
    return rows;
}

void NoGainNotice::restyle() {
    const int inset = m_theme.scaled(12);
    m_grid->setContentsMargins(inset, m_theme.scaled(8), inset, inset);
    m_grid->setVerticalSpacing(m_theme.scaled(4));
    setGround(*m_arithmetic, m_theme.colours().panel);
    m_title->setFont(m_theme.font(TextRole::DockTitle));
    for (QLabel* name : m_names)
        name->setFont(m_theme.font(TextRole::Small));
    m_conclusion->setFont(m_theme.font(TextRole::Small));
    if (m_isArithmeticShown)
        writeArithmetic(); // whose values have fonts of their own
}

} // namespace ui
