// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/loading/drafts/draft_adapter.h"
#include "engine/model/transformer.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// What an adapter computes: a small network that is fed with the streams of the model it drafts
/// for, and the tokens behind the rows of its head. It never has a part in verification.
struct DraftModel {
    std::string name;  ///< of the adapter
    std::string about; ///< recipe and data, for people; may be empty
    std::unique_ptr<Transformer> network;
    std::vector<TokenId> ids; ///< [rows of the head] ascending
};

/// Makes the draft model of an adapter that fits the model (checkFits). Where
/// Transformer::roundsDraftNetworks() says so, its matrices are rounded to 4 bits wherever their
/// rows are whole groups of 32. `model` must outlive it. Errors: those of
/// Transformer::makeDraftNetwork and readHeadRow; Numeric for a weight that is not finite, or too
/// large to be rounded: it names the tensor.
Result<std::unique_ptr<DraftModel>> makeDraftModel(const Transformer& model,
                                                   const DraftAdapter& adapter);

} // namespace engine
