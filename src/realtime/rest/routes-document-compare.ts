/** The endpoint that compares two versions of a document. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { compareVersions } from "../document-history-commands.ts";
import type { Change } from "../documents/compare/compare.ts";
import type { Segment } from "../documents/compare/segments.ts";
import { SHARED_TYPES } from "../documents/render.ts";
import { AuthorShape, presentAuthor } from "./document-author.ts";
import { wholeNumber } from "./whole-number.ts";

const { endpoint } = endpointsFor<RoomContext>();

const authors = z.array(AuthorShape).meta({
  description: "Whose change it is: several if that is only known of all of them, none if it is not known.",
});

const SegmentShape = z
  .object({
    op: z
      .enum(["keep", "insert", "delete", "format"])
      .meta({ description: "`format`: the same text with another formatting." }),
    kind: z.enum(["text", "tag", "embed"]).meta({
      description:
        "Characters, the opening or closing tag of an XML element, or JSON that is embedded in the text.",
    }),
    text: z.string().meta({ example: "Hello" }),
    authors,
  })
  .meta({ id: "DocumentSegment" });

const ChangeShape = z
  .object({
    path: z.array(z.union([z.string(), z.int()])).meta({
      description:
        "Keys of maps and positions in arrays, beginning in the shared type; empty for the type itself.",
      example: ["tasks", 0],
    }),
    op: z.enum(["insert", "delete", "replace", "edit"]).meta({
      description: "`edit`: of a text or XML. Entries of arrays are inserted and deleted at their position.",
    }),
    before: z.unknown().meta({ description: "The value in `from`; null if there was none." }),
    after: z
      .unknown()
      .meta({ description: "The value in `to`; null if there is none.", example: "Buy milk" }),
    segments: z.array(SegmentShape).nullable().meta({
      description:
        "Of `edit`, the whole text in its order: without `insert` it is that of `from`, without `delete` that of `to`.",
    }),
    authors,
  })
  .meta({ id: "DocumentChange" });

const presentSegment = ({ authors, ...segment }: Segment) => ({
  ...segment,
  authors: authors.map(presentAuthor),
});

const presentChange = ({ path, segments, authors, ...change }: Change) => ({
  ...{ path: [...path], ...change },
  segments: segments === null ? null : segments.map(presentSegment),
  authors: authors.map(presentAuthor),
});

export const documentCompareEndpoint = endpoint({
  module: "Rooms",
  access: "member",
  method: "GET",
  path: "/rooms/:roomId/documents/:document/compare",
  operation: "compareDocumentVersions",
  summary: "Compare two versions of a document",
  details:
    "What differs in one of its shared types, and whose change it is; nothing when both show the same. A text or XML is one change with segments; of maps and arrays, each entry is one. Applied in their order, the changes lead from one version to the other. `CONFLICT` for a document of more than 1 MiB, for more than 4 MiB or 50,000 entries of the trail between the versions, for more than 200 levels of nesting, and for a response of more than 8 MiB.",
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
  data: z.object({ changes: z.array(ChangeShape) }),
  handle: async (ctx, { params, query }) => {
    const changes = await compareVersions(ctx, params, { ...query, to: query.to ?? null });
    return { changes: changes.map(presentChange) };
  },
});
