// SPDX-License-Identifier: GPL-3.0-only
#include "ui/markdown/code/code_highlighter.h"

namespace ui {

namespace {

QStringList words(const char* text) {
    return QString::fromLatin1(text).split(u' ', Qt::SkipEmptyParts);
}

std::vector<CodeLanguage> makeLanguages() {
    const QString quotes = QStringLiteral("\"'");
    const QString open = QStringLiteral("/*");
    const QString close = QStringLiteral("*/");
    const QStringList slashes{QStringLiteral("//")};
    const QStringList hash{QStringLiteral("#")};
    const QStringList backtick{QStringLiteral("`")};
    return {
        {QStringLiteral("Python"),
         words("python py python3"),
         words("and as assert async await break case class continue def del elif else except "
               "finally for from global if import in is lambda match nonlocal not or pass raise "
               "return try while with yield"),
         words("True False None"),
         hash,
         {},
         {},
         quotes,
         {QStringLiteral("\"\"\""), QStringLiteral("'''")}},
        {QStringLiteral("C"),
         words("c h"),
         words("auto break case char const continue default do double else enum extern float for "
               "goto if inline int long register restrict return short signed sizeof static struct "
               "switch typedef union unsigned void volatile while bool"),
         words("true false NULL"),
         slashes,
         open,
         close,
         quotes,
         {}},
        {QStringLiteral("C++"),
         words("cpp c++ cc cxx hpp h++"),
         words("alignas auto bool break case catch char class concept const consteval constexpr "
               "continue co_await co_return co_yield default delete do double else enum explicit "
               "export extern final float for friend goto if inline int long mutable namespace new "
               "noexcept operator override private protected public requires return short signed "
               "sizeof static static_cast struct switch template this throw try typedef typename "
               "union unsigned using virtual void volatile while"),
         words("true false nullptr NULL"),
         slashes,
         open,
         close,
         quotes,
         {}},
        {QStringLiteral("JavaScript"),
         words("javascript js jsx mjs node"),
         words("async await break case catch class const continue debugger default delete do else "
               "export extends finally for from function if import in instanceof let new of return "
               "static super switch this throw try typeof var void while with yield"),
         words("true false null undefined NaN"),
         slashes,
         open,
         close,
         quotes,
         backtick},
        {QStringLiteral("TypeScript"),
         words("typescript ts tsx"),
         words("abstract any as async await boolean break case catch class const continue declare "
               "default delete do else enum export extends finally for from function if implements "
               "import in instanceof interface let namespace never new number of private protected "
               "public readonly return static string super switch this throw try type typeof "
               "unknown var void while yield"),
         words("true false null undefined NaN"),
         slashes,
         open,
         close,
         quotes,
         backtick},
        {QStringLiteral("Java"),
         words("java"),
         words("abstract assert boolean break byte case catch char class const continue default do "
               "double else enum extends final finally float for if implements import instanceof "
               "int interface long native new package private protected public record return short "
               "static super switch synchronized this throw throws transient try var void volatile "
               "while"),
         words("true false null"),
         slashes,
         open,
         close,
         quotes,
         {QStringLiteral("\"\"\"")}},
        {QStringLiteral("Rust"),
         words("rust rs"),
         words(
             "as async await break const continue crate dyn else enum extern fn for if impl in "
             "let loop match mod move mut pub ref return self Self static struct super trait type "
             "unsafe use where while"),
         words("true false None Some Ok Err"),
         slashes,
         open,
         close,
         quotes,
         {}},
        {QStringLiteral("Go"),
         words("go golang"),
         words("break case chan const continue default defer else fallthrough for func go goto if "
               "import interface map package range return select struct switch type var"),
         words("true false nil iota"),
         slashes,
         open,
         close,
         quotes,
         backtick},
        {QStringLiteral("Shell"),
         words("sh bash shell zsh console"),
         words("case do done elif else esac export fi for function if in local readonly return set "
               "source then until while"),
         words("true false"),
         hash,
         {},
         {},
         quotes,
         {}},
        {QStringLiteral("SQL"),
         words("sql sqlite mysql postgresql postgres"),
         words(
             "add all alter and as asc begin between by case check column commit create cross "
             "default delete desc distinct drop else end exists foreign from full group having if "
             "in index inner insert into is join key left like limit not on or order outer over "
             "partition primary references replace right rollback select set table then "
             "transaction union unique update values view when where with"),
         words("null true false"),
         {QStringLiteral("--")},
         open,
         close,
         quotes,
         {},
         true},
        {QStringLiteral("JSON"),
         words("json jsonc json5"),
         {},
         words("true false null"),
         slashes,
         open,
         close,
         quotes,
         {}},
    };
}

} // namespace

std::span<const CodeLanguage> codeLanguages() {
    static const std::vector<CodeLanguage> kLanguages = makeLanguages();
    return kLanguages;
}

} // namespace ui
