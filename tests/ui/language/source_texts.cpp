// SPDX-License-Identifier: GPL-3.0-only
#include "tests/ui/language/source_texts.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>

namespace support {

namespace {

struct Piece {
    QString word; ///< an identifier or a sign; empty for a literal
    QString text; ///< of a literal
    int line = 0;
};

/// As the compiler reads it.
QString unescaped(const QString& literal) {
    static const QRegularExpression kEscape(
        QStringLiteral("\\\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|x[0-9A-Fa-f]+|.)"),
        QRegularExpression::DotMatchesEverythingOption);
    QString text;
    qsizetype end = 0;
    for (auto found = kEscape.globalMatch(literal); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        text += QStringView(literal).mid(end, match.capturedStart() - end);
        end = match.capturedEnd();
        const QString code = match.captured(1);
        const QChar kind = code.front();
        if (code.size() > 1) {
            const char32_t letter = code.mid(1).toUInt(nullptr, 16);
            text += QString::fromUcs4(&letter, 1);
        } else {
            text += kind == u'n' ? QChar(u'\n') : kind == u't' ? QChar(u'\t') : kind;
        }
    }
    return text + literal.mid(end);
}

/// Without comments, numbers and letters in quotes.
std::vector<Piece> piecesOf(const QString& source) {
    static const QRegularExpression kPiece(
        QStringLiteral(
            R"re(//[^\n]*|/\*.*?\*/|R"(\w*)\((?<raw>.*?)\)\1"|"(?<text>(?:[^"\\\n]|\\.)*)")re"
            R"re(|'(?:[^'\\\n]|\\.)+'|(?<word>[A-Za-z_]\w*)|\d[\w.']*|\s+|(?<sign>.))re"),
        QRegularExpression::DotMatchesEverythingOption);
    std::vector<Piece> pieces;
    int line = 1;
    for (auto found = kPiece.globalMatch(source); found.hasNext();) {
        const QRegularExpressionMatch match = found.next();
        if (match.hasCaptured(u"raw"))
            pieces.push_back({{}, match.captured(u"raw"), line});
        else if (match.hasCaptured(u"text"))
            pieces.push_back({{}, unescaped(match.captured(u"text")), line});
        else if (match.hasCaptured(u"word"))
            pieces.push_back({match.captured(u"word"), {}, line});
        else if (match.hasCaptured(u"sign"))
            pieces.push_back({match.captured(u"sign"), {}, line});
        line += static_cast<int>(match.capturedView().count(u'\n'));
    }
    return pieces;
}

/// Joins neighbours; "u" and "QStringLiteral(" before them are as good as nothing here.
std::vector<Piece> joined(const std::vector<Piece>& pieces) {
    std::vector<Piece> result;
    for (const Piece& piece : pieces) {
        const bool isLiteral = piece.word.isEmpty();
        if (isLiteral && !result.empty() && result.back().word.isEmpty())
            result.back().text += piece.text;
        else
            result.push_back(piece);
    }
    return result;
}

} // namespace

void addTexts(const QString& source, const QString& path, SourceTexts& texts) {
    const std::vector<Piece> pieces = joined(piecesOf(source));
    const auto isSign = [&pieces](std::size_t at, const char* sign) {
        return at < pieces.size() && pieces[at].word == QLatin1String(sign);
    };
    const auto isText = [&pieces](std::size_t at) {
        return at < pieces.size() && pieces[at].word.isEmpty();
    };
    // QString NAME(const char* text) { return QCoreApplication::translate("Context", text); }
    QSet<QString> wrappers = {QStringLiteral("tr"), QStringLiteral("QT_TR_NOOP")};
    for (std::size_t at = 12; at < pieces.size(); ++at)
        if (pieces[at].word == u"translate" && isSign(at - 4, "return") && isSign(at - 5, "{") &&
            isSign(at - 9, "char") && isSign(at - 11, "("))
            wrappers.insert(pieces[at - 12].word);
    QSet<std::size_t> taken;
    for (std::size_t at = 0; at + 2 < pieces.size(); ++at) {
        const QString& name = pieces[at].word;
        const bool hasContext = name == u"QT_TRANSLATE_NOOP" || name == u"translate";
        if ((!hasContext && !wrappers.contains(name)) || !isSign(at + 1, "(") || !isText(at + 2))
            continue;
        std::size_t text = at + 2;
        if (hasContext) {
            taken.insert(text);
            text += 2;
        }
        if (!isText(text))
            continue;
        taken.insert(text);
        QByteArray key = pieces[text].text.toUtf8();
        if (isSign(text + 1, ",") && isText(text + 2)) {
            taken.insert(text + 2);
            key += '\t' + pieces[text + 2].text.toUtf8();
        }
        texts.translated.insert(key);
    }
    for (std::size_t at = 0; at < pieces.size(); ++at)
        if (isText(at) && !taken.contains(at))
            texts.others.push_back(
                {QStringLiteral("%1:%2").arg(path).arg(pieces[at].line), pieces[at].text});
}

SourceTexts textsOfTheWindow() {
    SourceTexts texts;
    QDirIterator files(QStringLiteral("ui"),
                       {QStringLiteral("*.cpp"), QStringLiteral("*.h")},
                       QDir::Files,
                       QDirIterator::Subdirectories);
    while (files.hasNext()) {
        QFile file(files.next());
        if (file.open(QIODevice::ReadOnly))
            addTexts(QString::fromUtf8(file.readAll()), file.fileName(), texts);
    }
    return texts;
}

} // namespace support
