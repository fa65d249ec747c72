/** The endpoints that show the content of a document, and compare two of its versions. */
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { SHARED_TYPES } from "../../../room/documents/updates/built-document.ts";
import { MAX_SHOWN_LENGTH } from "../../../room/documents/updates/limits.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { renderDocument } from "./commands.ts";
import { compareVersions } from "./history-commands.ts";
import {
  DocumentChange,
  DocumentContent,
  presentChange,
  presentContent,
  version,
  wholeNumber,
} from "./schema.ts";

const { endpoint } = endpointsFor<RoomContext>();

export const documentContentEndpoint = endpoint({
  module: "Rooms",
  access: "member",
  status: 200,
  method: "GET",
  path: "/rooms/:roomId/documents/:document/content",
  operation: "getDocumentContent",
  summary: "Get the content of one of a document's shared types",
  details: `As text or JSON, with the names of all shared types. With \`maxLength\` it is cut off there, and \`truncated\` says so: texts end, open tags of XML are closed, and entries of maps and arrays are left out.

\`CONFLICT\` for a document above 2 MiB or 200,000 items: read its update instead, and apply it to a Y.Doc. Without \`maxLength\` also for a content above 4,194,304 characters or 200 levels of nesting.`,
  errors: ["NOT_FOUND", "CONFLICT"],
  query: z.object({
    root: z.string().min(1).max(255).default("default").meta({ description: "The name of the shared type." }),
    type: z
      .enum(SHARED_TYPES)
      .default("text")
      .meta({ description: "What it is. Text and XML become a string." }),
    version,
    maxLength: wholeNumber
      .pipe(z.int().min(1).max(MAX_SHOWN_LENGTH))
      .optional()
      .meta({
        description: "Of the content, in characters.",
        override: { type: "integer", minimum: 1, maximum: MAX_SHOWN_LENGTH },
      }),
  }),
  done: "Content retrieved",
  data: DocumentContent,
  handle: async (ctx, { params, query: { version = null, maxLength = null, ...query } }) =>
    presentContent(await renderDocument(ctx, params, { ...query, version, maxLength })),
});

export const documentCompareEndpoint = endpoint({
  module: "Rooms",
  access: "member",
  method: "GET",
  path: "/rooms/:roomId/documents/:document/compare",
  operation: "compareDocumentVersions",
  summary: "Compare two versions of a document",
  details:
    "What differs in one of its shared types, and whose change it is; nothing when both show the same. A text or XML is one change with segments; of maps and arrays, each entry is one. Applied in their order, the changes lead from one version to the other. `CONFLICT` for a document above 2 MiB or 200,000 items (read the updates of both versions instead), for more than 4 MiB or 50,000 entries of the trail between the versions, for more than 200 levels of nesting, and for a response of more than 8 MiB.",
  errors: ["NOT_FOUND", "CONFLICT"],
  query: z.object({
    from: wholeNumber.default(0).meta({
      description: "The number of the earlier version; 0 for the document before anything was written.",
      override: { type: "integer", minimum: 0 },
    }),
    to: wholeNumber.optional().meta({
      description: "The number of the later version; the document as it is if it is left out.",
      override: { type: "integer", minimum: 1 },
    }),
    root: z.string().min(1).max(255).default("default").meta({ description: "The name of the shared type." }),
    type: z.enum(SHARED_TYPES).default("text").meta({ description: "What it is." }),
  }),
  status: 200,
  done: "Versions compared",
  data: z.object({ changes: z.array(DocumentChange) }),
  handle: async (ctx, { params, query }) => {
    const changes = await compareVersions(ctx, params, { ...query, to: query.to ?? null });
    return { changes: changes.map(presentChange) };
  },
});
