// SPDX-License-Identifier: Apache-2.0
#include "engine/session/worker/events/step_texts.h"

#include "engine/text/tokenizer.h"

namespace engine {

namespace {

ShownCell shownCell(const TableCell& cell, const Tokenizer* tokenizer) {
    if (const auto* token = std::get_if<TokenCell>(&cell))
        return ShownToken{token->token, tokenText(token->token, tokenizer)};
    if (const auto* number = std::get_if<double>(&cell))
        return *number;
    return std::get<std::string>(cell);
}

} // namespace

std::string tokenText(TokenId id, const Tokenizer* tokenizer) {
    return tokenizer != nullptr && id != kNoToken ? readableToken(*tokenizer, id) : std::string();
}

std::vector<TokenChoice> tokenChoices(std::span<const TokenChance> chances,
                                      const Tokenizer* tokenizer) {
    std::vector<TokenChoice> choices;
    for (const TokenChance& chance : chances)
        choices.push_back({chance.id, tokenText(chance.id, tokenizer), chance.probability});
    return choices;
}

std::vector<std::string> draftTexts(const DraftTree& draft, const Tokenizer* tokenizer) {
    std::vector<std::string> texts;
    for (const DraftNode& node : draft.nodes())
        texts.push_back(tokenText(node.token, tokenizer));
    return texts;
}

std::vector<std::string> sideTexts(std::span<const SideRow> sides, const Tokenizer* tokenizer) {
    std::vector<std::string> texts;
    for (const SideRow& side : sides)
        texts.push_back(tokenText(side.token, tokenizer));
    return texts;
}

std::vector<ShownTable> shownTables(std::span<const StepTable> tables, const Tokenizer* tokenizer) {
    std::vector<ShownTable> shown;
    for (const StepTable& table : tables) {
        ShownTable& made = shown.emplace_back(
            ShownTable{table.name, table.title, table.columns, {}, table.chosenRow});
        for (const auto& row : table.rows) {
            auto& cells = made.rows.emplace_back();
            for (const TableCell& cell : row)
                cells.push_back(shownCell(cell, tokenizer));
        }
    }
    return shown;
}

} // namespace engine
