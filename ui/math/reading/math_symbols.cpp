// SPDX-License-Identifier: GPL-3.0-only
#include "ui/math/reading/math_symbols.h"

#include <algorithm>
#include <array>

namespace ui {

namespace {

using enum AtomClass;

constexpr std::array kSymbols = {
    // Greek
    MathSymbol{"alpha", u"α", Ordinary},
    MathSymbol{"beta", u"β", Ordinary},
    MathSymbol{"gamma", u"γ", Ordinary},
    MathSymbol{"delta", u"δ", Ordinary},
    MathSymbol{"epsilon", u"ϵ", Ordinary},
    MathSymbol{"varepsilon", u"ε", Ordinary},
    MathSymbol{"zeta", u"ζ", Ordinary},
    MathSymbol{"eta", u"η", Ordinary},
    MathSymbol{"theta", u"θ", Ordinary},
    MathSymbol{"vartheta", u"ϑ", Ordinary},
    MathSymbol{"iota", u"ι", Ordinary},
    MathSymbol{"kappa", u"κ", Ordinary},
    MathSymbol{"lambda", u"λ", Ordinary},
    MathSymbol{"mu", u"μ", Ordinary},
    MathSymbol{"nu", u"ν", Ordinary},
    MathSymbol{"xi", u"ξ", Ordinary},
    MathSymbol{"omicron", u"ο", Ordinary},
    MathSymbol{"pi", u"π", Ordinary},
    MathSymbol{"varpi", u"ϖ", Ordinary},
    MathSymbol{"rho", u"ρ", Ordinary},
    MathSymbol{"varrho", u"ϱ", Ordinary},
    MathSymbol{"sigma", u"σ", Ordinary},
    MathSymbol{"varsigma", u"ς", Ordinary},
    MathSymbol{"tau", u"τ", Ordinary},
    MathSymbol{"upsilon", u"υ", Ordinary},
    MathSymbol{"phi", u"ϕ", Ordinary},
    MathSymbol{"varphi", u"φ", Ordinary},
    MathSymbol{"chi", u"χ", Ordinary},
    MathSymbol{"psi", u"ψ", Ordinary},
    MathSymbol{"omega", u"ω", Ordinary},
    MathSymbol{"Gamma", u"Γ", Ordinary},
    MathSymbol{"Delta", u"Δ", Ordinary},
    MathSymbol{"Theta", u"Θ", Ordinary},
    MathSymbol{"Lambda", u"Λ", Ordinary},
    MathSymbol{"Xi", u"Ξ", Ordinary},
    MathSymbol{"Pi", u"Π", Ordinary},
    MathSymbol{"Sigma", u"Σ", Ordinary},
    MathSymbol{"Upsilon", u"Υ", Ordinary},
    MathSymbol{"Phi", u"Φ", Ordinary},
    MathSymbol{"Psi", u"Ψ", Ordinary},
    MathSymbol{"Omega", u"Ω", Ordinary},
    // Letters and signs
    MathSymbol{"infty", u"∞", Ordinary},
    MathSymbol{"partial", u"∂", Ordinary},
    MathSymbol{"nabla", u"∇", Ordinary},
    MathSymbol{"hbar", u"ℏ", Ordinary},
    MathSymbol{"ell", u"ℓ", Ordinary},
    MathSymbol{"Re", u"ℜ", Ordinary},
    MathSymbol{"Im", u"ℑ", Ordinary},
    MathSymbol{"aleph", u"ℵ", Ordinary},
    MathSymbol{"wp", u"℘", Ordinary},
    MathSymbol{"imath", u"ı", Ordinary},
    MathSymbol{"jmath", u"ȷ", Ordinary},
    MathSymbol{"emptyset", u"∅", Ordinary},
    MathSymbol{"varnothing", u"∅", Ordinary},
    MathSymbol{"forall", u"∀", Ordinary},
    MathSymbol{"exists", u"∃", Ordinary},
    MathSymbol{"nexists", u"∄", Ordinary},
    MathSymbol{"neg", u"¬", Ordinary},
    MathSymbol{"lnot", u"¬", Ordinary},
    MathSymbol{"top", u"⊤", Ordinary},
    MathSymbol{"bot", u"⊥", Ordinary},
    MathSymbol{"angle", u"∠", Ordinary},
    MathSymbol{"triangle", u"△", Ordinary},
    MathSymbol{"square", u"□", Ordinary},
    MathSymbol{"Box", u"□", Ordinary},
    MathSymbol{"blacksquare", u"■", Ordinary},
    MathSymbol{"prime", u"′", Ordinary},
    MathSymbol{"degree", u"°", Ordinary},
    MathSymbol{"dagger", u"†", Binary},
    MathSymbol{"dots", u"…", Inner},
    MathSymbol{"ldots", u"…", Inner},
    MathSymbol{"dotsc", u"…", Inner},
    MathSymbol{"cdots", u"⋯", Inner},
    MathSymbol{"dotsb", u"⋯", Inner},
    MathSymbol{"vdots", u"⋮", Ordinary},
    MathSymbol{"ddots", u"⋱", Inner},
    MathSymbol{"checkmark", u"✓", Ordinary},
    MathSymbol{"therefore", u"∴", Relation},
    MathSymbol{"because", u"∵", Relation},
    MathSymbol{"%", u"%", Ordinary},
    MathSymbol{"#", u"#", Ordinary},
    MathSymbol{"&", u"&", Ordinary},
    MathSymbol{"$", u"$", Ordinary},
    MathSymbol{"_", u"_", Ordinary},
    MathSymbol{"{", u"{", Opening},
    MathSymbol{"}", u"}", Closing},
    MathSymbol{"lbrace", u"{", Opening},
    MathSymbol{"rbrace", u"}", Closing},
    MathSymbol{"lbrack", u"[", Opening},
    MathSymbol{"rbrack", u"]", Closing},
    MathSymbol{"|", u"‖", Ordinary},
    MathSymbol{"vert", u"|", Ordinary},
    MathSymbol{"Vert", u"‖", Ordinary},
    MathSymbol{"lvert", u"|", Opening},
    MathSymbol{"rvert", u"|", Closing},
    MathSymbol{"lVert", u"‖", Opening},
    MathSymbol{"rVert", u"‖", Closing},
    MathSymbol{"langle", u"⟨", Opening},
    MathSymbol{"rangle", u"⟩", Closing},
    MathSymbol{"lfloor", u"⌊", Opening},
    MathSymbol{"rfloor", u"⌋", Closing},
    MathSymbol{"lceil", u"⌈", Opening},
    MathSymbol{"rceil", u"⌉", Closing},
    MathSymbol{"backslash", u"\\", Ordinary},
    MathSymbol{"colon", u":", Punctuation},
    // Binary operators
    MathSymbol{"pm", u"±", Binary},
    MathSymbol{"mp", u"∓", Binary},
    MathSymbol{"times", u"×", Binary},
    MathSymbol{"div", u"÷", Binary},
    MathSymbol{"cdot", u"⋅", Binary},
    MathSymbol{"ast", u"∗", Binary},
    MathSymbol{"star", u"⋆", Binary},
    MathSymbol{"circ", u"∘", Binary},
    MathSymbol{"bullet", u"∙", Binary},
    MathSymbol{"oplus", u"⊕", Binary},
    MathSymbol{"ominus", u"⊖", Binary},
    MathSymbol{"otimes", u"⊗", Binary},
    MathSymbol{"odot", u"⊙", Binary},
    MathSymbol{"cap", u"∩", Binary},
    MathSymbol{"cup", u"∪", Binary},
    MathSymbol{"sqcup", u"⊔", Binary},
    MathSymbol{"wedge", u"∧", Binary},
    MathSymbol{"land", u"∧", Binary},
    MathSymbol{"vee", u"∨", Binary},
    MathSymbol{"lor", u"∨", Binary},
    MathSymbol{"setminus", u"∖", Binary},
    // Relations
    MathSymbol{"le", u"≤", Relation},
    MathSymbol{"leq", u"≤", Relation},
    MathSymbol{"leqslant", u"⩽", Relation},
    MathSymbol{"ge", u"≥", Relation},
    MathSymbol{"geq", u"≥", Relation},
    MathSymbol{"geqslant", u"⩾", Relation},
    MathSymbol{"lt", u"<", Relation},
    MathSymbol{"gt", u">", Relation},
    MathSymbol{"ll", u"≪", Relation},
    MathSymbol{"gg", u"≫", Relation},
    MathSymbol{"ne", u"≠", Relation},
    MathSymbol{"neq", u"≠", Relation},
    MathSymbol{"approx", u"≈", Relation},
    MathSymbol{"sim", u"∼", Relation},
    MathSymbol{"simeq", u"≃", Relation},
    MathSymbol{"cong", u"≅", Relation},
    MathSymbol{"equiv", u"≡", Relation},
    MathSymbol{"doteq", u"≐", Relation},
    MathSymbol{"coloneqq", u"≔", Relation},
    MathSymbol{"propto", u"∝", Relation},
    MathSymbol{"in", u"∈", Relation},
    MathSymbol{"notin", u"∉", Relation},
    MathSymbol{"ni", u"∋", Relation},
    MathSymbol{"subset", u"⊂", Relation},
    MathSymbol{"subseteq", u"⊆", Relation},
    MathSymbol{"subsetneq", u"⊊", Relation},
    MathSymbol{"supset", u"⊃", Relation},
    MathSymbol{"supseteq", u"⊇", Relation},
    MathSymbol{"prec", u"≺", Relation},
    MathSymbol{"preceq", u"⪯", Relation},
    MathSymbol{"succ", u"≻", Relation},
    MathSymbol{"succeq", u"⪰", Relation},
    MathSymbol{"mid", u"∣", Relation},
    MathSymbol{"nmid", u"∤", Relation},
    MathSymbol{"parallel", u"∥", Relation},
    MathSymbol{"perp", u"⊥", Relation},
    MathSymbol{"models", u"⊨", Relation},
    MathSymbol{"vdash", u"⊢", Relation},
    MathSymbol{"asymp", u"≍", Relation},
    // Arrows
    MathSymbol{"to", u"→", Relation},
    MathSymbol{"rightarrow", u"→", Relation},
    MathSymbol{"leftarrow", u"←", Relation},
    MathSymbol{"gets", u"←", Relation},
    MathSymbol{"leftrightarrow", u"↔", Relation},
    MathSymbol{"longrightarrow", u"⟶", Relation},
    MathSymbol{"longleftarrow", u"⟵", Relation},
    MathSymbol{"Rightarrow", u"⇒", Relation},
    MathSymbol{"Leftarrow", u"⇐", Relation},
    MathSymbol{"Leftrightarrow", u"⇔", Relation},
    MathSymbol{"implies", u"⟹", Relation},
    MathSymbol{"Longrightarrow", u"⟹", Relation},
    MathSymbol{"impliedby", u"⟸", Relation},
    MathSymbol{"iff", u"⟺", Relation},
    MathSymbol{"Longleftrightarrow", u"⟺", Relation},
    MathSymbol{"mapsto", u"↦", Relation},
    MathSymbol{"longmapsto", u"⟼", Relation},
    MathSymbol{"hookrightarrow", u"↪", Relation},
    MathSymbol{"uparrow", u"↑", Relation},
    MathSymbol{"downarrow", u"↓", Relation},
    MathSymbol{"updownarrow", u"↕", Relation},
    MathSymbol{"Uparrow", u"⇑", Relation},
    MathSymbol{"Downarrow", u"⇓", Relation},
    MathSymbol{"nearrow", u"↗", Relation},
    MathSymbol{"searrow", u"↘", Relation},
    MathSymbol{"rightleftharpoons", u"⇌", Relation},
};

struct NamedSign {
    const char* name;
    const char16_t* sign;
};

/// Integrals have their limits beside them, the others above and below.
constexpr std::array kOperators = {NamedSign{"sum", u"∑"},
                                   NamedSign{"prod", u"∏"},
                                   NamedSign{"coprod", u"∐"},
                                   NamedSign{"bigcup", u"⋃"},
                                   NamedSign{"bigcap", u"⋂"},
                                   NamedSign{"bigvee", u"⋁"},
                                   NamedSign{"bigwedge", u"⋀"},
                                   NamedSign{"bigoplus", u"⨁"},
                                   NamedSign{"bigotimes", u"⨂"},
                                   NamedSign{"int", u"∫"},
                                   NamedSign{"iint", u"∬"},
                                   NamedSign{"iiint", u"∭"},
                                   NamedSign{"oint", u"∮"}};

constexpr std::array kFunctions = {
    "sin",  "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh",   "cosh",
    "tanh", "log", "ln",  "lg",  "exp", "deg", "dim",    "ker",    "hom",    "arg",    "lim",
    "max",  "min", "sup", "inf", "det", "gcd", "Pr",     "limsup", "liminf", "argmax", "argmin"};

/// The functions whose subscripts stand below them.
constexpr std::array kWithLimits = {
    "lim", "max", "min", "sup", "inf", "det", "gcd", "Pr", "limsup", "liminf", "argmax", "argmin"};

constexpr std::array kAccents = {NamedSign{"hat", u"^"},
                                 NamedSign{"widehat", u"^"},
                                 NamedSign{"tilde", u"~"},
                                 NamedSign{"widetilde", u"~"},
                                 NamedSign{"bar", u"\u00AF"},
                                 NamedSign{"vec", u"→"},
                                 NamedSign{"overrightarrow", u"→"},
                                 NamedSign{"overleftarrow", u"←"},
                                 NamedSign{"dot", u"˙"},
                                 NamedSign{"ddot", u"¨"},
                                 NamedSign{"check", u"ˇ"},
                                 NamedSign{"breve", u"˘"},
                                 NamedSign{"acute", u"´"},
                                 NamedSign{"grave", u"`"},
                                 NamedSign{"mathring", u"˚"}};

template <typename List> bool holds(const List& list, QStringView name) {
    return std::ranges::any_of(list,
                               [&](const char* known) { return name == QLatin1String(known); });
}

template <typename List> const auto* named(const List& list, QStringView name) {
    const auto found = std::ranges::find_if(
        list, [&](const auto& known) { return name == QLatin1String(known.name); });
    return found == list.end() ? nullptr : &*found;
}

struct OddLetter {
    char16_t letter;
    char16_t sign;
};

/// Letters of the blackboard and script alphabets that stand outside their rows in Unicode.
constexpr std::array kOddBlackboard = {OddLetter{u'C', u'ℂ'},
                                       OddLetter{u'H', u'ℍ'},
                                       OddLetter{u'N', u'ℕ'},
                                       OddLetter{u'P', u'ℙ'},
                                       OddLetter{u'Q', u'ℚ'},
                                       OddLetter{u'R', u'ℝ'},
                                       OddLetter{u'Z', u'ℤ'}};
constexpr std::array kOddScript = {OddLetter{u'B', u'ℬ'},
                                   OddLetter{u'E', u'ℰ'},
                                   OddLetter{u'F', u'ℱ'},
                                   OddLetter{u'H', u'ℋ'},
                                   OddLetter{u'I', u'ℐ'},
                                   OddLetter{u'L', u'ℒ'},
                                   OddLetter{u'M', u'ℳ'},
                                   OddLetter{u'R', u'ℛ'},
                                   OddLetter{u'e', u'ℯ'},
                                   OddLetter{u'g', u'ℊ'},
                                   OddLetter{u'o', u'ℴ'}};
constexpr std::array kOddFraktur = {OddLetter{u'C', u'ℭ'},
                                    OddLetter{u'H', u'ℌ'},
                                    OddLetter{u'I', u'ℑ'},
                                    OddLetter{u'R', u'ℜ'},
                                    OddLetter{u'Z', u'ℨ'}};

template <typename List> QString fromAlphabet(const List& odd, char32_t capitals, QChar letter) {
    for (const OddLetter& known : odd)
        if (letter == QChar(known.letter))
            return QString(QChar(known.sign));
    const char16_t unit = letter.unicode();
    char32_t sign = unit;
    if (unit >= u'A' && unit <= u'Z')
        sign = capitals + (unit - u'A');
    else if (unit >= u'a' && unit <= u'z')
        sign = capitals + 26 + (unit - u'a');
    return QString::fromUcs4(&sign, 1);
}

} // namespace

const MathSymbol* symbolOf(QStringView name) { return named(kSymbols, name); }

AtomClass classOf(QChar character) {
    switch (character.unicode()) {
    case u'+':
    case u'-':
    case u'*':
        return Binary;
    case u'=':
    case u'<':
    case u'>':
    case u':':
        return Relation;
    case u'(':
    case u'[':
        return Opening;
    case u')':
    case u']':
    case u'!':
    case u'?':
        return Closing;
    case u',':
    case u';':
        return Punctuation;
    default:
        break;
    }
    // A sign that a model writes directly has the class of its command.
    for (const MathSymbol& known : kSymbols)
        if (known.sign[0] == character.unicode() && known.sign[1] == 0)
            return known.atom;
    return Ordinary;
}

std::optional<MathNode> operatorOf(QStringView name) {
    const NamedSign* found = named(kOperators, name);
    if (found == nullptr)
        return std::nullopt;
    MathNode node{.kind = MathKind::Symbol, .atom = Operator, .font = MathFont::Upright};
    node.text = QString::fromUtf16(found->sign);
    node.isLarge = true;
    node.hasLimits = !name.endsWith(u"int");
    return node;
}

std::optional<MathNode> functionOf(QStringView name) {
    if (!holds(kFunctions, name))
        return std::nullopt;
    MathNode node{.kind = MathKind::Word, .atom = Operator, .font = MathFont::Upright};
    node.text = name.toString();
    // A thin space parts the two words that some names are.
    for (const char* first : {"arg", "lim"})
        if (const QLatin1String head(first); name.size() == 6 && name.startsWith(head) &&
                                             (name.endsWith(u"max") || name.endsWith(u"min") ||
                                              name.endsWith(u"sup") || name.endsWith(u"inf")))
            node.text.insert(3, QChar(0x2009));
    node.hasLimits = holds(kWithLimits, name);
    return node;
}

QString fenceOf(QStringView written) {
    if (written == u".")
        return QStringLiteral("");
    if (written.size() == 1 && QStringView(u"()[]|/").contains(written[0]))
        return written.toString();
    if (written == u"<")
        return QStringLiteral("⟨");
    if (written == u">")
        return QStringLiteral("⟩");
    if (!written.startsWith(u'\\'))
        return {};
    const MathSymbol* known = symbolOf(written.mid(1));
    static const QString kFences = QStringLiteral("()[]{}|‖⟨⟩⌊⌋⌈⌉/\\↑↓↕⇑⇓");
    const QString sign = known == nullptr ? QString() : QString::fromUtf16(known->sign);
    return kFences.contains(sign) ? sign : QString();
}

QString accentOf(QStringView name) {
    const NamedSign* found = named(kAccents, name);
    return found == nullptr ? QString() : QString::fromUtf16(found->sign);
}

QString letterOf(QStringView alphabet, QChar letter) {
    if (alphabet == u"mathbb")
        return fromAlphabet(kOddBlackboard, 0x1D538, letter);
    if (alphabet == u"mathfrak")
        return fromAlphabet(kOddFraktur, 0x1D504, letter);
    return fromAlphabet(kOddScript, 0x1D49C, letter);
}

} // namespace ui
