/** The endpoint that reads what a document says. */
import * as z from "zod";
import { endpointsFor } from "../../../http/endpoint.ts";
import { SHARED_TYPES } from "../../../room/documents/updates/built-document.ts";
import { MAX_SHOWN_LENGTH } from "../../../room/documents/updates/limits.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { DocumentContent, presentContent } from "./content-schema.ts";
import { renderDocument } from "./document-commands.ts";
import { version } from "./version-query.ts";
import { wholeNumber } from "./whole-number.ts";

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
