/** The endpoints of the history of a room's documents. */
import * as z from "zod";
import { endpointsFor } from "../../http/endpoint.ts";
import { paging } from "../../http/paginate.ts";
import { presentTime } from "../../platform/time.ts";
import type { RoomContext } from "../../rooms/context.ts";
import { readTrail } from "../document-commands.ts";
import type { Author, TrailEntry } from "../port/room-documents.ts";

const { endpoint } = endpointsFor<RoomContext>();

const AuthorShape = z
  .object({
    type: z.enum(["user", "key", "person", "organization"]).meta({
      description:
        "`user`: a user of the room. `key`, `person`: an API key or a member of the organization. `organization`: one of these, before the service kept which.",
    }),
    id: z.string().nullable().meta({ description: "Null for `organization`.", example: "ada" }),
  })
  .meta({ id: "Author" });

const TrailEntryShape = z
  .object({
    author: AuthorShape,
    first_at: z.iso.datetime().meta({ description: "When the first of its updates arrived." }),
    last_at: z.iso.datetime().meta({ description: "When the last of its updates arrived." }),
    seq: z.int().meta({ description: "The number of the last of its updates.", minimum: 1, example: 17 }),
    updates: z.int().meta({ description: "How many updates it has.", minimum: 1, example: 12 }),
    bytes: z.int().meta({ description: "Encoded.", minimum: 0, example: 96 }),
  })
  .meta({ id: "TrailEntry" });

const presentAuthor = (author: Author): z.infer<typeof AuthorShape> => ({
  type: author.type,
  id: author.type === "organization" ? null : author.id,
});

const presentEntry = ({ author, firstAt, at, seq, updates, bytes }: TrailEntry) => ({
  author: presentAuthor(author),
  first_at: presentTime(firstAt),
  last_at: presentTime(at),
  seq,
  updates,
  bytes,
});

const Before = z
  .string()
  .refine((value) => /^[0-9]{1,15}$/.test(value), "must be a whole number")
  .transform(Number)
  .default(Number.MAX_SAFE_INTEGER)
  .meta({
    description: "The `next` of an earlier page: only what is older.",
    override: { type: "integer", minimum: 0 },
  });

/** The fields of each list of a document's history. */
const historyQuery = z.object({ limit: paging.limit, before: Before });
const nextShape = {
  next: z.int().nullable().meta({
    description: "Goes into `before` to read the page that follows; null on the last one.",
    example: null,
  }),
};

const common = { module: "Rooms", access: "member" } as const;
const DOCUMENT_PATH = "/rooms/:roomId/documents/:document";

export const documentHistoryEndpoints = [
  endpoint({
    ...common,
    method: "GET",
    path: `${DOCUMENT_PATH}/trail`,
    operation: "getDocumentTrail",
    summary: "List who wrote what in a document",
    details: "Newest first: what one author wrote in a row, within a minute, is one entry.",
    errors: ["NOT_FOUND"],
    query: historyQuery,
    status: 200,
    done: "Trail retrieved",
    data: z.object({ trail: z.array(TrailEntryShape), ...nextShape }),
    handle: async (ctx, { params, query }) => {
      const trail = await readTrail(ctx, params, { before: query.before, limit: query.limit });
      const last = trail.at(-1);
      const first = last === undefined ? 1 : last.seq - last.updates + 1;
      const next = trail.length < query.limit || first === 1 ? null : first;
      return { trail: trail.map(presentEntry), next };
    },
  }),
];
