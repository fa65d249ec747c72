/** The endpoints of suggestions: changes of a document that their author proposes, and that others review. */

import { SuggestedPart, Suggestion, SuggestionStatus } from "@atrium/contract/resources/suggestion.ts";
import { DocumentEdits, EditedDocument } from "@atrium/contract/rest/document-edits.ts";
import { wholeNumber } from "@atrium/contract/rest/documents.ts";
import { paging } from "@atrium/contract/rest/lists.ts";
import { SuggestionCreation, SuggestionReview } from "@atrium/contract/rest/suggestions.ts";
import { SUGGESTION_LIMITS } from "@atrium/contract/suggestion-limits.ts";
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { requestIdOf } from "../../../platform/d1/context.ts";
import type { RoomContext } from "../../rooms/context.ts";
import {
  createSuggestion,
  editSuggestion,
  listSuggestions,
  readSuggestion,
  reviewSuggestion,
  withdrawSuggestion,
} from "./suggestion-commands.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const PATH = "/rooms/:roomId/documents/:document/suggestions";

const parts = z.array(SuggestedPart).meta({
  description:
    "Its changes, in the order of the document. Of a reviewed suggestion, the first 200, with 500 characters of each text.",
});

export const endpoints = [
  endpoint({
    right: "documents:suggest",
    method: "POST",
    path: PATH,
    operation: "createSuggestion",
    sdk: "documents.suggest(roomId, document, options?: SuggestionOptions): data",
    summary: "Suggest changes of a document",
    details: `Makes a fork of the document that its author alone writes into, with these edits, and by any client that opens \`fork\`. Nothing of it reaches the document before a holder of \`documents:write\` accepts it. Edits are those of the document's own endpoint: if one is refused, no suggestion is made. With an \`Idempotency-Key\` it is made once.`,
    errors: ["NOT_FOUND"],
    conflict: [
      `A place is not in the document as you have read it; the document has ${SUGGESTION_LIMITS.pending} pending suggestions, is itself a suggestion's fork, or is above 2 MiB or 200,000 items.`,
      "Read the document again; or wait until suggestions are reviewed, or withdraw one.",
    ],
    body: SuggestionCreation,
    status: 201,
    done: "Suggestion created",
    data: z.object({ suggestion: Suggestion, edits: EditedDocument.shape.edits }),
    handle: (ctx, { params, body }) => createSuggestion(ctx, params, body, requestIdOf(ctx)),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: PATH,
    operation: "listSuggestions",
    sdk: "documents.suggestions(roomId, document, options?: SuggestionsOptions): data",
    summary: "List the suggestions of a document",
    details: `Newest first: those that are pending, and the latest ${SUGGESTION_LIMITS.reviewed} that were reviewed.`,
    errors: ["NOT_FOUND"],
    query: z.object({
      status: SuggestionStatus.exclude(["stale"]).optional().meta({ description: "Only these." }),
      before: wholeNumber.default(Number.MAX_SAFE_INTEGER).meta({
        description: "The `next` of an earlier page: only what is older.",
        override: { type: "integer", minimum: 0 },
      }),
      limit: paging.limit,
    }),
    done: "Suggestions retrieved",
    data: z.object({
      suggestions: z.array(Suggestion),
      next: z.int().nullable().meta({
        description: "Goes into `before` to read the page that follows; null on the last one.",
        example: null,
      }),
    }),
    handle: (ctx, { params, query }) => listSuggestions(ctx, params, query),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: `${PATH}/:suggestionId`,
    operation: "getSuggestion",
    sdk: "documents.suggestion(roomId, document, suggestionId): data",
    summary: "Read a suggestion with its parts",
    details:
      "Compares the suggestion with the document as it is. Send `seq` with the review: it says what you have seen.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The document or the suggestion is above 2 MiB or 200,000 items by now.",
      "Withdraw it, and edit the document itself.",
    ],
    done: "Suggestion retrieved",
    data: z.object({
      suggestion: Suggestion,
      seq: z.int().min(0).meta({ description: "The number of its latest update.", example: 2 }),
      parts,
    }),
    handle: (ctx, { params }) => readSuggestion(ctx, params),
  }),
  endpoint({
    right: "documents:suggest",
    method: "POST",
    path: `${PATH}/:suggestionId/edits`,
    operation: "editSuggestion",
    sdk: "documents.editSuggestion(roomId, document, suggestionId, edits, options?: EditOptions): data",
    summary: "Edit a suggestion of your own",
    details: "As the document's own endpoint, in the fork. For its author alone.",
    errors: ["NOT_FOUND"],
    conflict: [
      "A place is not in the suggestion as you have read it, or the suggestion was reviewed.",
      "Read the suggestion again, and decide whether the edit still fits.",
    ],
    body: DocumentEdits,
    done: "Suggestion edited",
    data: EditedDocument,
    handle: (ctx, { params, body }) => editSuggestion(ctx, params, body, requestIdOf(ctx)),
  }),
  endpoint({
    right: "documents:write",
    method: "POST",
    path: `${PATH}/:suggestionId/review`,
    operation: "reviewSuggestion",
    sdk: "documents.reviewSuggestion(roomId, document, suggestionId, review: ReviewOptions): data",
    summary: "Accept parts of a suggestion, and reject the rest",
    details:
      "One update of the document, whose entry in the trail has both names, after a version of the document as it was. The fork is deleted.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The suggestion has changed since `seq`, it was reviewed already, an accepted part is stale or unknown, or the document changes all the time.",
      "Read the suggestion again, and decide once more.",
    ],
    body: SuggestionReview,
    done: "Suggestion reviewed",
    data: z.object({ suggestion: Suggestion, parts }),
    handle: (ctx, { params, body }) => reviewSuggestion(ctx, params, body),
  }),
  endpoint({
    right: "documents:suggest",
    method: "DELETE",
    path: `${PATH}/:suggestionId`,
    operation: "withdrawSuggestion",
    sdk: "documents.withdrawSuggestion(roomId, document, suggestionId)",
    summary: "Withdraw a suggestion",
    details: "With its fork. For its author, and for those who may write documents.",
    errors: ["NOT_FOUND"],
    conflict: ["The suggestion was reviewed.", "Read it: its accepted parts are in the document."],
    done: "Suggestion withdrawn",
    data: z.object({}),
    handle: async (ctx, { params }) => {
      await withdrawSuggestion(ctx, params);
      return {};
    },
  }),
];
