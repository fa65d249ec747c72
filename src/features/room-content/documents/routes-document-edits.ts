/** The endpoints with which programs read the blocks of a document, and edit it while people write. */

import {
  DocumentEdits,
  EDIT_LIMITS,
  EditedDocument,
  EditedRoot,
  ReadBlocks,
} from "@atrium/contract/rest/document-edits.ts";
import { wholeNumber } from "@atrium/contract/rest/documents.ts";
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { requestIdOf } from "../../../platform/d1/context.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { editDocument, readDocumentBlocks } from "./edit-commands.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const TOO_LARGE = "The document is above 2 MiB or 200,000 items";

export const endpoints = [
  endpoint({
    right: "read",
    method: "GET",
    path: "/rooms/:roomId/documents/:document/blocks",
    operation: "getDocumentBlocks",
    sdk: "documents.blocks(roomId, document, options?: BlocksOptions): data",
    summary: "Read a document block by block, with places to edit",
    details:
      "The paragraphs and headings of an editor's XML, or the lines of a text. Each has an `anchor` before its first character and an `end` after its last one, which stay at their characters while others write. Send `base` with an edit: it says what you have read.",
    errors: ["NOT_FOUND"],
    conflict: [
      `${TOO_LARGE}, or the block of \`after\` is gone.`,
      "Read from the start; for a large document, read its update and apply it to a `Y.Doc`.",
    ],
    query: EditedRoot.extend({
      after: z.base64().max(1024).optional().meta({ description: "The `next` of an earlier page." }),
      limit: wholeNumber
        .pipe(z.int().min(1).max(EDIT_LIMITS.blocks))
        .default(EDIT_LIMITS.blocks)
        .meta({
          description: "Of blocks.",
          override: { type: "integer", minimum: 1, maximum: EDIT_LIMITS.blocks },
        }),
    }),
    done: "Blocks retrieved",
    data: ReadBlocks,
    handle: (ctx, { params, query }) => readDocumentBlocks(ctx, params, query),
  }),
  endpoint({
    right: "documents:write",
    method: "POST",
    path: "/rooms/:roomId/documents/:document/edits",
    operation: "editDocument",
    sdk: "documents.edit(roomId, document, edits, options?: EditOptions): data",
    summary: "Edit a document while people write in it",
    details: `Inserts, deletes, replaces or formats text at places that the program has read: quotations, anchors, or the start and end. All edits of a list are applied, or none, as one update with the program as its author. Text that people type is never overwritten: a place that was changed meanwhile is a \`CONFLICT\` whose message has the present text around it. With an \`Idempotency-Key\` the edits are applied once.

A text that is being generated goes on at the \`end\` of the edit before: others see it grow.

Edits at the start or the end create a document that does not exist.`,
    errors: ["NOT_FOUND"],
    conflict: [
      `A place is not in the document as you have read it, or more than once; people are writing at it; ${TOO_LARGE}; or the document is full.`,
      "Read the document again, and decide whether the edit still fits; add the text before or after a quotation.",
    ],
    body: DocumentEdits,
    done: "Document edited",
    data: EditedDocument,
    handle: (ctx, { params, body }) => editDocument(ctx, params, body, requestIdOf(ctx)),
  }),
];
