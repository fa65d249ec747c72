/** The endpoints of a room's documents. */
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { base64ToBytes, bytesToBase64 } from "../../../platform/crypto/base64.ts";
import { MAX_UPDATE_BYTES } from "../../../room/documents/updates/limits.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { deleteDocument, describeDocument, listDocuments, readDocument, writeDocument } from "./commands.ts";
import { documentContentEndpoint } from "./routes-document-content.ts";
import { DocumentDetails, DocumentSummary, presentDetails, presentDocument, version } from "./schema.ts";

const { endpoint } = endpointsFor<RoomContext>();

/** It inserts the letter a into the text `t`. */
const EXAMPLE = "AQEBAAQBAXQBYQA=";
const Update = z.base64().meta({ description: "A Yjs update (version 1) in Base64.", example: EXAMPLE });

const common = { module: "Rooms", access: "member", status: 200 } as const;
const DOCUMENT_PATH = "/rooms/:roomId/documents/:document";

export const documentEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: "/rooms/:roomId/documents",
    operation: "listDocuments",
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
    ...common,
    method: "GET",
    path: `${DOCUMENT_PATH}/summary`,
    operation: "getDocumentSummary",
    summary: "Get a document's size, versions and latest change",
    details: "What the list says of it, and how much is kept of its history, without what is in it.",
    errors: ["NOT_FOUND"],
    done: "Document summary retrieved",
    data: z.object({ document: DocumentDetails }),
    handle: async (ctx, { params }) => ({ document: presentDetails(await describeDocument(ctx, params)) }),
  }),
  endpoint({
    ...common,
    method: "GET",
    path: DOCUMENT_PATH,
    operation: "getDocument",
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
  documentContentEndpoint,
  endpoint({
    ...common,
    method: "PUT",
    path: DOCUMENT_PATH,
    operation: "updateDocument",
    summary: "Apply an update to a document",
    details: `Creates the document. Everyone who has it open receives the update. With \`ifEmpty=true\` it is applied only if the document has no content: of any number of concurrent seeds, one holds.

The body is JSON or, with \`Content-Type: application/octet-stream\`, the update itself: up to 8 MiB.`,
    errors: ["NOT_FOUND", "CONFLICT"],
    query: z.object({
      ifEmpty: z
        .enum(["true", "false"])
        .default("false")
        .meta({ description: "Only if the document has no content." }),
    }),
    body: z.strictObject({ update: Update }).meta({ id: "DocumentUpdate", example: { update: EXAMPLE } }),
    binary: { maxBytes: MAX_UPDATE_BYTES, bodyOf: (bytes) => ({ update: bytesToBase64(bytes) }) },
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
    ...common,
    method: "DELETE",
    path: DOCUMENT_PATH,
    operation: "deleteDocument",
    summary: "Delete a document with its history",
    details: "Closes it for everyone who has it open.",
    errors: ["NOT_FOUND"],
    done: "Document deleted",
    data: z.object({}),
    handle: async (ctx, { params }) => {
      await deleteDocument(ctx, params);
      return {};
    },
  }),
];
