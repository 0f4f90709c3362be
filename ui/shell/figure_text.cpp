// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/figure_text.h"

#include "engine/session/engine_event.h"
#include "ui/language/tr.h"

#include <QLocale>
#include <QSpinBox>

#include <algorithm>
#include <cmath>

namespace ui {

namespace {

constexpr char16_t kNarrowSpace = 0x202F; // it does not break
constexpr QChar kJoiner(0x2060);          // of no width; no line breaks at it

} // namespace

QString errorText(const engine::Error& error) {
    return QString::fromStdString(error.hint.empty() ? error.message
                                                     : error.message + ' ' + error.hint);
}

QString busyText() { return tr("The engine accepts no commands at the moment. Try again soon."); }

QString menuText(QString text) { return text.replace(u'&', QLatin1String("&&")); }

QString decimalText(double value) { return QString::number(value, 'f', 2); }

QString shareText(double share) {
    const QString text = decimalText(share);
    return text.startsWith(QLatin1String("0.")) ? text.mid(1) : text;
}

QString factorText(double factor) { return decimalText(factor) + u'\u00D7'; }

QString unbrokenFigures(QString text) {
    for (qsizetype i = text.size() - 1; i > 0; --i)
        if (text[i].isDigit() && text[i - 1] == u'.')
            text.insert(i, kJoiner);
    return text;
}

QString numberText(qint64 number) {
    QString text = QLocale(QLocale::English).toString(number);
    const QLocale::Language language = QLocale().language();
    // Elsewhere a comma may be read as the decimal point.
    if (language != QLocale::English && language != QLocale::C)
        text.replace(QLatin1Char(','), QChar(kNarrowSpace));
    return text;
}

QString countText(qint64 count, const QString& one, const QString& many) {
    return count == 1 ? one : many.arg(numberText(count));
}

void showTokenUnit(QSpinBox& box) {
    const auto show = [&box](int count) {
        box.setSuffix(count == 1 ? tr(" token") : tr(" tokens"));
    };
    QObject::connect(&box, &QSpinBox::valueChanged, &box, show);
    show(box.value());
}

QString clockText(double seconds, int decimals) {
    // Truncated, not rounded, as clocks do: a tenth counts once it has passed.
    const double scale = decimals > 0 ? 10.0 : 1.0;
    const auto units = static_cast<qint64>(std::floor(std::max(seconds, 0.0) * scale + 1e-6));
    const auto whole = units / static_cast<qint64>(scale);
    QString text = QStringLiteral("%1:%2")
                       .arg(whole / 60 % 60, 2, 10, QLatin1Char('0'))
                       .arg(whole % 60, 2, 10, QLatin1Char('0'));
    if (whole >= 3600)
        text.prepend(QStringLiteral("%1:").arg(whole / 3600));
    if (decimals > 0)
        text += QStringLiteral(".%1").arg(units % 10);
    return text;
}

} // namespace ui
