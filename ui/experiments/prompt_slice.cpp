// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/prompt_slice.h"

#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <array>
#include <utility>

namespace ui {

namespace {

constexpr int kDeepest = 40;     ///< brackets and "not" inside each other
constexpr int kLongest = 10'000; ///< letters: each condition is tested by a call of its own

QString sliceTr(const char* text) { return QCoreApplication::translate("PromptSlice", text); }

using Number = std::optional<double> (*)(const PromptRow&);
using Words = QString (*)(const PromptRow&);

struct NumberField {
    const char* name;
    Number value;
};

constexpr std::array<NumberField, 7> kNumbers = {
    {{"prompt", [](const PromptRow& row) { return std::optional(double(row.prompt)); }},
     {"tokens", [](const PromptRow& row) { return std::optional(double(row.tokens)); }},
     {"m", [](const PromptRow& row) { return row.tokensPerRound; }},
     {"accepted", [](const PromptRow& row) { return std::optional(double(row.accepted)); }},
     {"drafted", [](const PromptRow& row) { return std::optional(double(row.drafted)); }},
     {"acceptance", [](const PromptRow& row) { return row.acceptance(); }},
     {"speed", [](const PromptRow& row) { return row.speed; }}}};

struct WordField {
    const char* name;
    Words value;
};

constexpr std::array<WordField, 3> kWords = {
    {{"task", [](const PromptRow& row) { return row.task; }},
     {"text", [](const PromptRow& row) { return row.text; }},
     {"drafter", [](const PromptRow& row) { return row.draftedBy; }}}};

struct Piece {
    enum class Kind { Word, Quoted, Sign, Bracket, End };

    Kind kind = Kind::End;
    QString text;
};

bool isSign(QChar letter) { return letter == u'=' || letter == u'<' || letter == u'>'; }

/// Words, signs, brackets and what stands in quotation marks.
std::vector<Piece> piecesOf(const QString& text) {
    std::vector<Piece> pieces;
    for (qsizetype at = 0; at < text.size();) {
        const QChar letter = text[at];
        const qsizetype begin = at;
        if (letter.isSpace()) {
            ++at;
        } else if (letter == u'(' || letter == u')') {
            pieces.push_back({Piece::Kind::Bracket, text.mid(at++, 1)});
        } else if (letter == u'"') {
            QString quoted;
            for (++at; at < text.size(); ++at) {
                const bool isEnd = text[at] == u'"';
                if (isEnd && (at + 1 == text.size() || text[at + 1] != u'"'))
                    break;
                at += isEnd ? 1 : 0; // written twice, it is one of the text
                quoted += text[at];
            }
            ++at;
            pieces.push_back({Piece::Kind::Quoted, quoted});
        } else if (isSign(letter) || letter == u'!') {
            at += at + 1 < text.size() && text[at + 1] == u'=' ? 2 : 1;
            const QString sign = text.mid(begin, at - begin);
            pieces.push_back({Piece::Kind::Sign, sign == u"==" ? QStringLiteral("=") : sign});
        } else {
            while (at < text.size() && !text[at].isSpace() && !isSign(text[at]) &&
                   !QStringLiteral("()\"!").contains(text[at]))
                ++at;
            pieces.push_back({Piece::Kind::Word, text.mid(begin, at - begin)});
        }
    }
    pieces.push_back({});
    return pieces;
}

class SliceParser {
public:
    explicit SliceParser(const QString& text)
        : m_pieces(piecesOf(text)) {}

    PromptSlice::Test parse() {
        PromptSlice::Test test = either(0);
        if (m_problem.isEmpty() && now().kind != Piece::Kind::End)
            fail(sliceTr("\"%1\" does not belong there; join conditions with \"and\" or \"or\".")
                     .arg(now().text));
        return test;
    }

    const QString& problem() const { return m_problem; }

private:
    const Piece& now() const { return m_pieces[m_at]; }

    bool isWord(const char* word) const {
        return now().kind == Piece::Kind::Word &&
               now().text.compare(QLatin1String(word), Qt::CaseInsensitive) == 0;
    }

    bool take(const char* word) {
        const bool isThere = isWord(word);
        if (isThere)
            ++m_at;
        return isThere;
    }

    bool takeBracket(QChar bracket) {
        const bool isThere = now().kind == Piece::Kind::Bracket && now().text == bracket;
        if (isThere)
            ++m_at;
        return isThere;
    }

    PromptSlice::Test fail(const QString& sentence) {
        if (m_problem.isEmpty())
            m_problem = sentence;
        return {};
    }

    PromptSlice::Test either(int depth) {
        PromptSlice::Test test = all(depth);
        while (m_problem.isEmpty() && take("or"))
            test = [first = std::move(test), second = all(depth)](const PromptRow& row) {
                return first(row) || second(row);
            };
        return test;
    }

    PromptSlice::Test all(int depth) {
        PromptSlice::Test test = single(depth);
        while (m_problem.isEmpty() && take("and"))
            test = [first = std::move(test), second = single(depth)](const PromptRow& row) {
                return first(row) && second(row);
            };
        return test;
    }

    PromptSlice::Test single(int depth) {
        if (depth > kDeepest)
            return fail(sliceTr("There are too many brackets in this condition."));
        if (take("not"))
            return [test = single(depth + 1)](const PromptRow& row) { return !test(row); };
        if (!takeBracket(u'('))
            return comparison();
        PromptSlice::Test test = either(depth + 1);
        if (m_problem.isEmpty() && !takeBracket(u')'))
            return fail(sliceTr("A bracket is not closed."));
        return test;
    }

    PromptSlice::Test comparison() {
        if (now().kind != Piece::Kind::Word)
            return fail(sliceTr("A condition is missing, such as \"acceptance < .8\"."));
        const QString name = m_pieces[m_at++].text;
        for (const NumberField& field : kNumbers)
            if (name.compare(QLatin1String(field.name), Qt::CaseInsensitive) == 0)
                return numberTest(name, field.value);
        for (const WordField& field : kWords)
            if (name.compare(QLatin1String(field.name), Qt::CaseInsensitive) == 0)
                return wordTest(name, field.value);
        return fail(
            sliceTr("There is no \"%1\"; there are prompt, task, text, tokens, M, accepted, "
                    "drafted, acceptance, speed and drafter.")
                .arg(name));
    }

    PromptSlice::Test numberTest(const QString& name, Number value) {
        if (now().kind != Piece::Kind::Sign || now().text == u"!")
            return fail(sliceTr("After \"%1\" one of = != < <= > >= is needed.").arg(name));
        const QString sign = m_pieces[m_at++].text;
        bool isNumber = false;
        const double limit = now().text.toDouble(&isNumber);
        if (!isNumber)
            return fail(sliceTr("After \"%1 %2\" a number is needed, such as .8.").arg(name, sign));
        ++m_at;
        return [value, sign, limit](const PromptRow& row) {
            const std::optional<double> number = value(row);
            if (!number)
                return false;
            if (sign == u"<")
                return *number < limit;
            if (sign == u"<=")
                return *number <= limit;
            if (sign == u">")
                return *number > limit;
            if (sign == u">=")
                return *number >= limit;
            return (*number == limit) == (sign == u"=");
        };
    }

    PromptSlice::Test wordTest(const QString& name, Words value) {
        const bool isPart = take("contains");
        const QString sign = isPart ? QString() : now().text;
        if (!isPart && (now().kind != Piece::Kind::Sign || (sign != u"=" && sign != u"!=")))
            return fail(sliceTr("After \"%1\" one of =, != and \"contains\" is needed.").arg(name));
        if (!isPart)
            ++m_at;
        QStringList words;
        if (now().kind == Piece::Kind::Quoted)
            words << m_pieces[m_at++].text;
        else
            while (now().kind == Piece::Kind::Word && !isWord("and") && !isWord("or"))
                words << m_pieces[m_at++].text;
        if (words.isEmpty())
            return fail(sliceTr("After \"%1\" a word is needed.").arg(name));
        return [value, wanted = words.join(u' '), isPart, sign](const PromptRow& row) {
            if (isPart)
                return value(row).contains(wanted, Qt::CaseInsensitive);
            return (value(row).compare(wanted, Qt::CaseInsensitive) == 0) == (sign == u"=");
        };
    }

    std::vector<Piece> m_pieces;
    std::size_t m_at = 0;
    QString m_problem;
};

} // namespace

PromptSlice::Parsed PromptSlice::parse(const QString& text) {
    if (text.trimmed().isEmpty())
        return {};
    if (text.size() > kLongest)
        return {{}, sliceTr("This condition is too long.")};
    SliceParser parser(text);
    Test test = parser.parse();
    if (!parser.problem().isEmpty())
        return {{}, parser.problem()};
    return {PromptSlice(std::move(test)), {}};
}

QString sliceValue(const QString& text) {
    const bool isPlain = std::ranges::all_of(text, [](QChar letter) {
        return letter.isLetterOrNumber() || letter == u'-' || letter == u'_';
    });
    const QString low = text.toLower();
    const bool isJoin = low == u"and" || low == u"or" || low == u"not";
    return isPlain && !isJoin && !text.isEmpty()
               ? text
               : QLatin1Char('"') + QString(text).replace(u'"', QLatin1String("\"\"")) +
                     QLatin1Char('"');
}

} // namespace ui
