/** The endpoints of a room's documents. */

import { DOCUMENT_LIMITS } from "@atrium/contract/document-limits.ts";
import {
  DocumentChange,
  DocumentContent,
  DocumentDetails,
  DocumentSummary,
  version,
  wholeNumber,
} from "@atrium/contract/rest/documents.ts";
import { SHARED_TYPES } from "@atrium/contract/shared-types.ts";
import { text } from "@atrium/contract/text.ts";
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { base64ToBytes, bytesToBase64 } from "../../../platform/crypto/encoding.ts";

import type { RoomContext } from "../../rooms/context.ts";
import {
  deleteDocument,
  describeDocument,
  listDocuments,
  readDocument,
  renderDocument,
  writeDocument,
} from "./commands.ts";
import { compareVersions } from "./history-commands.ts";
import { presentChange, presentContent, presentDetails, presentDocument } from "./present.ts";

const { endpoint } = endpointsFor<RoomContext>({ module: "Rooms" });

const EXAMPLE = "AQEBAAQBAXQBYQA=";
const Update = z.base64().meta({ description: "A Yjs update (version 1) in Base64.", example: EXAMPLE });

const DOCUMENT_PATH = "/rooms/:roomId/documents/:document";

export const endpoints = [
  endpoint({
    right: "read",
    method: "GET",
    path: "/rooms/:roomId/documents",
    operation: "listDocuments",
    sdk: "documents.list(roomId): documents",
    summary: "List a room's documents",
    details:
      "By name. The same address with `Upgrade: websocket` speaks the protocol of Hocuspocus' clients.",
    errors: ["NOT_FOUND"],
    done: "Documents retrieved",
    data: z.object({ documents: z.array(DocumentSummary) }),
    handle: async (ctx, { params }) => ({
      documents: (await listDocuments(ctx, params.roomId)).map(presentDocument),
    }),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: `${DOCUMENT_PATH}/summary`,
    operation: "getDocumentSummary",
    sdk: "documents.summary(roomId, document): document",
    summary: "Get a document's size, versions and latest change",
    details: "The document as in the list, and the size of its history, without its content.",
    errors: ["NOT_FOUND"],
    done: "Document summary retrieved",
    data: z.object({ document: DocumentDetails }),
    handle: async (ctx, { params }) => ({ document: presentDetails(await describeDocument(ctx, params)) }),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: DOCUMENT_PATH,
    operation: "getDocument",
    isForAgents: false,
    sdk: "documents.get(roomId, document): update",
    summary: "Get a document as one update",
    details: "With `Accept: application/octet-stream` the response is the update itself.",
    errors: ["NOT_FOUND"],
    query: z.object({ version }),
    done: "Document retrieved",
    data: z.object({ update: Update }),
    binary: { bytesOf: ({ update }) => base64ToBytes(update) },
    handle: async (ctx, { params, query }) => ({
      update: bytesToBase64(await readDocument(ctx, params, query.version ?? null)),
    }),
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: `${DOCUMENT_PATH}/content`,
    operation: "getDocumentContent",
    sdk: [
      "documents.content(roomId, document, options?: ContentOptions): content",
      "documents.preview(roomId, document, options: PreviewOptions): data",
    ],
    summary: "Get the content of one of a document's shared types",
    details: `As text or JSON, with the names of all shared types. With \`maxLength\` it is cut off there, and \`truncated\` says so: texts end, open tags of XML are closed, and entries of maps and arrays are left out.`,
    errors: ["NOT_FOUND"],
    conflict: [
      "The document is above 2 MiB or 200,000 items, or the content is above 4,194,304 characters or 200 levels of nesting.",
      "Send `maxLength`; for a large document, read its update and apply it to a `Y.Doc`.",
    ],
    query: z.object({
      root: z
        .string()
        .min(1)
        .max(255)
        .default("default")
        .meta({ description: "The name of the shared type." }),
      type: z
        .enum(SHARED_TYPES)
        .default("text")
        .meta({ description: "The kind of the shared type. Text and XML become a string." }),
      version,
      maxLength: wholeNumber
        .pipe(z.int().min(1).max(DOCUMENT_LIMITS.shownLength))
        .optional()
        .meta({
          description: "Of the content, in characters.",
          override: { type: "integer", minimum: 1, maximum: DOCUMENT_LIMITS.shownLength },
        }),
    }),
    done: "Content retrieved",
    data: DocumentContent,
    handle: async (ctx, { params, query: { version = null, maxLength = null, ...query } }) =>
      presentContent(await renderDocument(ctx, params, { ...query, version, maxLength })),
  }),
  endpoint({
    right: "documents:write",
    method: "PUT",
    path: DOCUMENT_PATH,
    operation: "updateDocument",
    isForAgents: false,
    sdk: "documents.apply(roomId, document, update: Uint8Array): applied",
    summary: "Apply an update to a document",
    details: `Creates the document. Everyone who has it open receives the update. With \`ifEmpty=true\` it is applied only if the document has no content: of any number of concurrent seeds, one holds.

The body is JSON or, with \`Content-Type: application/octet-stream\`, the update itself: up to 8 MiB.`,
    errors: ["NOT_FOUND"],
    conflict: [
      "The document, or all documents of the room together, would be larger than a room stores.",
      "Delete documents that are no longer needed, or begin another one.",
    ],
    query: z.object({
      ifEmpty: z
        .enum(["true", "false"])
        .default("false")
        .meta({ description: "Only if the document has no content." }),
    }),
    body: z.strictObject({ update: Update }).meta({ id: "DocumentUpdate", example: { update: EXAMPLE } }),
    binary: { maxBytes: DOCUMENT_LIMITS.updateBytes, bodyOf: (bytes) => ({ update: bytesToBase64(bytes) }) },
    done: "Document updated",
    data: z.object({
      applied: z.boolean().meta({
        description: "False if the document had all of it, or had content and should have been empty.",
      }),
    }),
    handle: async (ctx, { params, query, body }) => ({
      applied: await writeDocument(ctx, params, base64ToBytes(body.update), query.ifEmpty === "true"),
    }),
  }),
  endpoint({
    right: "documents:write",
    method: "DELETE",
    path: DOCUMENT_PATH,
    operation: "deleteDocument",
    isForAgents: false,
    sdk: "documents.delete(roomId, document)",
    summary: "Delete a document with its history",
    details: "Closes it for everyone who has it open, and deletes its suggestions.",
    errors: ["NOT_FOUND"],
    conflict: ["The document is the fork of a suggestion.", "Withdraw the suggestion."],
    done: "Document deleted",
    data: z.object({}),
    handle: async (ctx, { params }) => {
      await deleteDocument(ctx, params);
      return {};
    },
  }),
  endpoint({
    right: "read",
    method: "GET",
    path: `${DOCUMENT_PATH}/compare`,
    operation: "compareDocumentVersions",
    sdk: "documents.compare(roomId, document, options?: CompareOptions): changes",
    summary: "Compare two versions of a document",
    details:
      "The differences in one shared type, with their authors; none when both versions show the same. A text or XML is one change with segments; of maps and arrays, each entry is one. Applied in their order, the changes lead from one version to the other.",
    errors: ["NOT_FOUND"],
    conflict: [
      "The document is above 2 MiB, 200,000 items or 200 levels of nesting, or the versions differ by more than 4 MiB or 50,000 entries of the trail, or the response is above 8 MiB.",
      "Read the updates of both versions and compare them in a `Y.Doc`, or choose closer versions.",
    ],
    query: z.object({
      from: wholeNumber.default(0).meta({
        description: "The number of the earlier version; 0 for the document before anything was written.",
        override: { type: "integer", minimum: 0 },
      }),
      to: wholeNumber.optional().meta({
        description: "The number of the later version; the document as it is if it is left out.",
        override: { type: "integer", minimum: 1 },
      }),
      root: text(1, 255).default("default").meta({ description: "The name of the shared type." }),
      type: z.enum(SHARED_TYPES).default("text").meta({ description: "The kind of the shared type." }),
    }),
    done: "Versions compared",
    data: z.object({ changes: z.array(DocumentChange) }),
    handle: async (ctx, { params, query }) => {
      const changes = await compareVersions(ctx, params, { ...query, to: query.to ?? null });
      return { changes: changes.map(presentChange) };
    },
  }),
];
